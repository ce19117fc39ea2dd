-- Archives of what somebody has on the site, which a job makes for them.

CREATE TABLE exports (
    id          bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT exports_pkey PRIMARY KEY,
    account_id  bigint      NOT NULL CONSTRAINT exports_account_key UNIQUE
                            CONSTRAINT exports_account_fkey REFERENCES accounts ON DELETE CASCADE,
    asked_at    timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    expires_at  timestamptz,
    total       bigint      NOT NULL DEFAULT 0,
    done        bigint      NOT NULL DEFAULT 0,
    bytes       bigint      NOT NULL DEFAULT 0,
    state       text        NOT NULL DEFAULT 'waiting' CONSTRAINT exports_state CHECK (state IN ('waiting', 'making', 'ready', 'failed')),
    language    text        NOT NULL CONSTRAINT exports_language CHECK (language IN ('en', 'ru')),
    file        bytea       CONSTRAINT exports_file CHECK (octet_length(file) = 32),
    CONSTRAINT exports_ready CHECK ((state = 'ready') = (file IS NOT NULL)),
    CONSTRAINT exports_ends CHECK ((state IN ('ready', 'failed')) = (finished_at IS NOT NULL AND expires_at IS NOT NULL))
);
COMMENT ON TABLE exports IS 'one archive of each account: a new wish takes the place of the last one';
COMMENT ON COLUMN exports.total IS 'steps of the making: posts, twice, and files';
COMMENT ON COLUMN exports.file IS 'the blob of the archive, which nothing but its owner''s page serves';
CREATE INDEX exports_file_idx ON exports (file) WHERE file IS NOT NULL;
CREATE INDEX exports_expires_idx ON exports (expires_at) WHERE expires_at IS NOT NULL;
