-- What programs keep beside posts, a value for each stage of their work (source: 002, G21).

CREATE TABLE post_states (
    post_id    bigint      NOT NULL CONSTRAINT post_states_post_fkey REFERENCES posts ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT post_states_account_fkey REFERENCES accounts ON DELETE CASCADE,
    version    bigint      GENERATED ALWAYS AS IDENTITY,
    changed_at timestamptz NOT NULL DEFAULT now(),
    stage      text        NOT NULL CONSTRAINT post_states_stage CHECK (stage ~ '^[a-z0-9-]{1,40}$'),
    payload    text        NOT NULL CONSTRAINT post_states_payload CHECK (octet_length(payload) BETWEEN 1 AND 65536),
    CONSTRAINT post_states_pkey PRIMARY KEY (post_id, account_id, stage)
);
COMMENT ON TABLE post_states IS 'what the programs of an account keep beside a post; nobody else sees it';
COMMENT ON COLUMN post_states.version IS 'drawn anew with each write, so that one that is deleted and made again has none that it had before';
COMMENT ON COLUMN post_states.payload IS 'JSON as the program sent it, without spaces; the site does not read it';
CREATE INDEX post_states_account_idx ON post_states (account_id, post_id, version);
