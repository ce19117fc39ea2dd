ALTER TABLE entries DROP COLUMN buried_at;
CREATE INDEX entries_tombstone_idx ON entries (updated_at) WHERE deleted;
