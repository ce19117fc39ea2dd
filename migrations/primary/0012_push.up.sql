-- Web Push: browsers that are told when something is new for their account.

CREATE TABLE push_keys (
    id      boolean NOT NULL DEFAULT true CONSTRAINT push_keys_pkey PRIMARY KEY CONSTRAINT push_keys_one CHECK (id),
    public  text    NOT NULL,
    private text    NOT NULL
);
COMMENT ON TABLE push_keys IS 'the site''s key pair (VAPID), made at its first use: browsers take pushes of nobody else';

CREATE TABLE push_subscriptions (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT push_subscriptions_pkey PRIMARY KEY,
    account_id bigint      NOT NULL CONSTRAINT push_subscriptions_account_fkey REFERENCES accounts ON DELETE CASCADE,
    renewed_at timestamptz NOT NULL DEFAULT now(),
    failed_at  timestamptz,
    endpoint   text        NOT NULL CONSTRAINT push_subscriptions_endpoint_key UNIQUE
                           CONSTRAINT push_subscriptions_endpoint CHECK (octet_length(endpoint) <= 2048),
    p256dh     text        NOT NULL,
    auth       text        NOT NULL,
    session    bytea       NOT NULL CONSTRAINT push_subscriptions_session_fkey REFERENCES sessions ON DELETE CASCADE
);
COMMENT ON COLUMN push_subscriptions.session IS 'the sign-in that subscribed: signing out ends the pushes too';
COMMENT ON COLUMN push_subscriptions.renewed_at IS 'when the browser subscribed last';
COMMENT ON COLUMN push_subscriptions.failed_at IS 'the first of the pushes that failed since one was taken';
CREATE INDEX push_subscriptions_account_idx ON push_subscriptions (account_id, id);
CREATE INDEX push_subscriptions_session_idx ON push_subscriptions (session);

CREATE TABLE push_due (
    account_id  bigint      NOT NULL CONSTRAINT push_due_pkey PRIMARY KEY CONSTRAINT push_due_account_fkey REFERENCES accounts ON DELETE CASCADE,
    told        bigint      NOT NULL DEFAULT 0,
    waits_since timestamptz
);
COMMENT ON COLUMN push_due.told IS 'microseconds; the latest event that browsers of the account were told of';
COMMENT ON COLUMN push_due.waits_since IS 'since when a job to push waits: all that happens until it is worked is one push';
