-- Which folds were written since somebody last looked, to the transaction: times
-- cannot tell, as one that is taken is not yet committed.
ALTER TABLE folds ADD COLUMN written xid8 NOT NULL DEFAULT pg_current_xact_id();
COMMENT ON COLUMN folds.written IS 'the transaction that wrote this version';
CREATE INDEX folds_written_idx ON folds (written);

ALTER TABLE rivers ADD COLUMN seen pg_snapshot NOT NULL DEFAULT pg_current_snapshot();
COMMENT ON COLUMN rivers.seen IS 'of a search: it lacks nothing of folds whose writers this snapshot sees';
