-- Webhooks: addresses to which the site sends the log of changes.

CREATE TABLE webhooks (
    id           bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT webhooks_pkey PRIMARY KEY,
    account_id   bigint      NOT NULL CONSTRAINT webhooks_account_fkey REFERENCES accounts ON DELETE CASCADE,
    seq          bigint      NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    password_at  timestamptz NOT NULL,
    next_at      timestamptz NOT NULL DEFAULT now(),
    claim        bigint      NOT NULL DEFAULT 0,
    failed       integer     NOT NULL DEFAULT 0,
    last_status  integer     NOT NULL DEFAULT 0,
    whole_site   boolean     NOT NULL DEFAULT false,
    state        text        NOT NULL DEFAULT 'active' CONSTRAINT webhooks_state CHECK (state IN ('active', 'stopped')),
    url          text        NOT NULL CONSTRAINT webhooks_url CHECK (length(url) BETWEEN 1 AND 2048),
    secret       text        NOT NULL,
    last_error   text        NOT NULL DEFAULT ''
);
COMMENT ON TABLE webhooks IS 'addresses to which the site sends what changes, as far as the account may read it';
COMMENT ON COLUMN webhooks.seq IS 'of the last change of the log that was sent, or that the account may know nothing of';
COMMENT ON COLUMN webhooks.password_at IS 'credentials.updated_at when the owner made it or had it sent again; another password stops it';
COMMENT ON COLUMN webhooks.next_at IS 'not sent before; while a node sends, it is when another may take over';
COMMENT ON COLUMN webhooks.claim IS 'grows with each turn, so that a node that was too slow settles nothing';
COMMENT ON COLUMN webhooks.failed IS 'how many deliveries failed one after the other';
COMMENT ON COLUMN webhooks.last_status IS 'what the address answered at the last failure; 0: nothing';
COMMENT ON COLUMN webhooks.last_error IS 'a code of package hooks; empty: the last delivery arrived';
COMMENT ON COLUMN webhooks.secret IS 'deliveries are signed with it, so it stands here as it is';
CREATE INDEX webhooks_account_idx ON webhooks (account_id);
CREATE INDEX webhooks_due_idx ON webhooks (next_at) WHERE state = 'active';
