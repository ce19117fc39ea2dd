DELETE FROM access_log WHERE kind IN ('unseen', 'site');
ALTER TABLE access_log DROP CONSTRAINT access_log_kind;
ALTER TABLE access_log ADD CONSTRAINT access_log_kind CHECK (kind IN ('session', 'viewer', 'level', 'account', 'members', 'start'));
COMMENT ON COLUMN access_log.kind IS 'what a node drops from its cache: session (token_hash), viewer (what account_id may read, whom it follows), level (timeline_id), account (name and title of account_id), members (how many follow account_id), start (nothing: a node has started)';
DROP TABLE site, account_links, acts, unseen_accounts, suspensions, staff;
