-- A gap in the numbers has nodes drop all they remember.
DELETE FROM access_log WHERE kind = 'start';
ALTER TABLE access_log DROP CONSTRAINT access_log_kind;
ALTER TABLE access_log ADD CONSTRAINT access_log_kind CHECK (kind IN ('session', 'viewer', 'level', 'account', 'members'));
COMMENT ON COLUMN access_log.kind IS 'what a node drops from its cache: session (token_hash), viewer (what account_id may read, whom it follows), level (timeline_id), account (name and title of account_id), members (how many follow account_id)';
ALTER TABLE access_log DROP COLUMN mark;
ALTER TABLE access_clock DROP COLUMN mark;
