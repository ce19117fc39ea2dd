COMMENT ON COLUMN clock.primary_id IS 'system identifier, timeline and database of the primary store that the rivers were built from';
ALTER TABLE clock DROP COLUMN wal;
ALTER TABLE clock DROP COLUMN mark;
