-- What changes who is a member of a group says so by itself: what else a viewer may read
-- or follows leaves the counts of members alone.
ALTER TABLE access_log DROP CONSTRAINT access_log_kind;
ALTER TABLE access_log ADD CONSTRAINT access_log_kind CHECK (kind IN ('session', 'viewer', 'level', 'account', 'members'));
COMMENT ON COLUMN access_log.kind IS 'what a node forgets: session (token_hash), viewer (what account_id may read, whom it follows), level (timeline_id), account (name and title of account_id), members (how many follow account_id)';
