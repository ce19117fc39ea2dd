-- Accounts that are being deleted, and the names that nobody may take again.

-- First, as it reads millions of rows, and accounts are locked from the next statement on.
-- An import forgets whom it brought.
CREATE INDEX origins_account_idx ON origins (their_id) WHERE kind = 'account';

ALTER TABLE accounts DROP CONSTRAINT accounts_kind;
ALTER TABLE accounts ADD CONSTRAINT accounts_kind CHECK (kind IN ('user', 'group', 'gone'));
COMMENT ON COLUMN accounts.kind IS 'gone: what is left of a person who deleted their account, with nothing of theirs; rows that others rely on refer to it';

ALTER TABLE account_links DROP CONSTRAINT account_links_purpose;
ALTER TABLE account_links ADD CONSTRAINT account_links_purpose CHECK (purpose IN ('password', 'appeal', 'administrator', 'keep'));

ALTER TABLE removals ADD COLUMN whole boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN removals.whole IS 'likes and saves are removed too, and the posts that stand in timelines of the account';

CREATE TABLE leaving (
    account_id bigint      NOT NULL CONSTRAINT leaving_pkey PRIMARY KEY
                           CONSTRAINT leaving_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at    timestamptz NOT NULL,
    by_staff   boolean     NOT NULL,
    begun      boolean     NOT NULL DEFAULT false,
    reason     text        NOT NULL DEFAULT '' CONSTRAINT leaving_reason CHECK (length(reason) <= 1000)
);
COMMENT ON TABLE leaving IS 'people whose accounts are deleted after some days';
COMMENT ON COLUMN leaving.begun IS 'a job deletes it, and it cannot be kept any more';
-- A job finds those that are due.
CREATE INDEX leaving_ends_idx ON leaving (ends_at) WHERE NOT begun;

CREATE TABLE left_names (
    sum bytea NOT NULL CONSTRAINT left_names_pkey PRIMARY KEY CONSTRAINT left_names_sum CHECK (octet_length(sum) = 32)
);
COMMENT ON TABLE left_names IS 'SHA-256 of names whose accounts were deleted: texts of others mention them, so nobody else gets them';

COMMENT ON COLUMN origins.external_id IS 'its number at the source; of an account that was deleted here: sha256: and the SHA-256 of that';
COMMENT ON TABLE acts IS 'the audit log: each act of an administrator or a moderator, also those by the command line; rows are changed only when an account is deleted, which takes its name out';
-- These name people by the address of a page.
CREATE INDEX acts_rebuilt_idx ON acts (id) WHERE kind = 'rebuild_river';
