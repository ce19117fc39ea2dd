-- A generation is replaced for the changes it does not know. Those of before know of
-- none.
ALTER TABLE rivers ADD COLUMN knows pg_snapshot NOT NULL DEFAULT '1:1:';
COMMENT ON COLUMN rivers.knows IS 'what it was built from sees at least what this snapshot of the primary store sees';
