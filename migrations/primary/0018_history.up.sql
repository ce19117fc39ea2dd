-- Each number of the access clock has a random mark, so that two histories that grew from one copy
-- of this store are told apart though they count alike. A node that starts draws a number too.
ALTER TABLE access_clock ADD COLUMN mark bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN access_clock.mark IS 'random, of the present number; 0: of a number from before there were marks';
ALTER TABLE access_log ADD COLUMN mark bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN access_log.mark IS 'of the number n; see access_clock';
ALTER TABLE access_log DROP CONSTRAINT access_log_kind;
ALTER TABLE access_log ADD CONSTRAINT access_log_kind CHECK (kind IN ('session', 'viewer', 'level', 'account', 'members', 'start'));
COMMENT ON COLUMN access_log.kind IS 'what a node drops from its cache: session (token_hash), viewer (what account_id may read, whom it follows), level (timeline_id), account (name and title of account_id), members (how many follow account_id), start (nothing: a node has started)';
