DROP INDEX IF EXISTS acts_rebuilt_idx;
COMMENT ON TABLE acts IS 'the audit log: each act of an administrator or a moderator, also those by the command line; rows are never changed';
COMMENT ON COLUMN origins.external_id IS NULL;
DROP INDEX origins_account_idx;
-- Those who can still keep their accounts keep them. Of the others nothing is to be seen again.
DELETE FROM unseen_accounts u USING leaving l WHERE l.account_id = u.account_id AND u.cause = 'leaving' AND NOT l.begun;
DROP TABLE left_names;
DROP TABLE leaving;
ALTER TABLE removals DROP COLUMN whole;
DELETE FROM account_links WHERE purpose = 'keep';
ALTER TABLE account_links DROP CONSTRAINT account_links_purpose;
ALTER TABLE account_links ADD CONSTRAINT account_links_purpose CHECK (purpose IN ('password', 'appeal', 'administrator'));
UPDATE accounts SET kind = 'user' WHERE kind = 'gone';
ALTER TABLE accounts DROP CONSTRAINT accounts_kind;
ALTER TABLE accounts ADD CONSTRAINT accounts_kind CHECK (kind IN ('user', 'group'));
COMMENT ON COLUMN accounts.kind IS NULL;
