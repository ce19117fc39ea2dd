-- When a tombstone was written, for it to be found when it has lain long enough. In the
-- index of before stood a time that each write of an entry changes, and so each wrote
-- all indexes of the entry: what a like changes must be in none (HOT). The table keeps
-- this one itself, whoever writes.
DROP INDEX entries_tombstone_idx;
ALTER TABLE entries ADD COLUMN buried_at timestamptz GENERATED ALWAYS AS (CASE WHEN deleted THEN updated_at END) STORED;
COMMENT ON COLUMN entries.buried_at IS 'of a tombstone: when it was written';
CREATE INDEX entries_tombstone_idx ON entries (buried_at) WHERE deleted;
