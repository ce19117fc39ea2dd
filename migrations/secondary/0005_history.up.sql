-- Where the primary store stood in its history, as far as the rivers may be of it. A primary store
-- that does not know this place was restored from a copy.
ALTER TABLE clock ADD COLUMN mark bigint NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN wal bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN clock.mark IS 'the primary store''s mark of n';
COMMENT ON COLUMN clock.wal IS 'how far the primary store''s write-ahead log was seen to reach';
COMMENT ON COLUMN clock.primary_id IS 'system identifier, timeline, database, and table and file of access_clock, of the primary store that the rivers were built from';
