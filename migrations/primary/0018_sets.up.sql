-- What its account hides, by when.
CREATE INDEX hidden_posts_created_idx ON hidden_posts (account_id, created_at DESC, post_id DESC);

-- A private group admits readers who are no members.
ALTER TABLE readers ADD COLUMN admitted boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN readers.admitted IS 'of a group: let in by an administrator; false for its members and administrators, who read because they are, and in all other timelines';
CREATE INDEX readers_admitted_idx ON readers (timeline_id, account_id) WHERE admitted;
