-- A private group admits readers who are no members.
ALTER TABLE readers ADD COLUMN admitted boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN readers.admitted IS 'of a group: let in by an administrator; false for its members and administrators, who read because they are, and in all other timelines';
CREATE INDEX readers_admitted_idx ON readers (timeline_id, account_id) WHERE admitted;
