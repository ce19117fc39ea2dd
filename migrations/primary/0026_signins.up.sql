-- People see where they are signed in, and are told of a new sign-in and of a new password.

ALTER TABLE sessions
    ADD COLUMN used_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN device text NOT NULL DEFAULT '' CONSTRAINT sessions_device CHECK (length(device) <= 200);
COMMENT ON COLUMN sessions.used_at IS 'the last use, to within an hour';
COMMENT ON COLUMN sessions.device IS 'browser and system, as in "Firefox, Linux"; empty: not known';

CREATE TABLE account_events (
    account_id bigint NOT NULL CONSTRAINT account_events_account_fkey REFERENCES accounts ON DELETE CASCADE,
    at         bigint NOT NULL,
    kind       text   NOT NULL CONSTRAINT account_events_kind CHECK (kind IN ('signin', 'password')),
    device     text   NOT NULL DEFAULT '' CONSTRAINT account_events_device CHECK (length(device) <= 200),
    token_hash bytea,
    CONSTRAINT account_events_pkey PRIMARY KEY (account_id, at)
);
COMMENT ON TABLE account_events IS 'what a person is told about their account: a sign-in, a new password; until they have seen it';
COMMENT ON COLUMN account_events.at IS 'microseconds';
COMMENT ON COLUMN account_events.token_hash IS 'of the session that began, which need not be told';
