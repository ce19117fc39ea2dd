ALTER TABLE accounts ADD COLUMN friends_only boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN accounts.friends_only IS 'the home feed and lists show, where an address does not say, only what those one follows post';
