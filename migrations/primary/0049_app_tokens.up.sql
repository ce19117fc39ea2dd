-- Tokens by which programs act for people: sessions with a name and limits.

CREATE TABLE app_tokens (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT app_tokens_pkey PRIMARY KEY,
    account_id bigint      NOT NULL CONSTRAINT app_tokens_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz,
    whole_site boolean     NOT NULL DEFAULT false,
    token_hash bytea       NOT NULL CONSTRAINT app_tokens_session_fkey REFERENCES sessions ON DELETE CASCADE
                           CONSTRAINT app_tokens_session_key UNIQUE,
    name       text        NOT NULL CONSTRAINT app_tokens_name CHECK (length(name) BETWEEN 1 AND 60),
    scopes     text[]      NOT NULL CONSTRAINT app_tokens_scopes CHECK (
                               cardinality(scopes) > 0 AND scopes <@ '{read,write,changes,moderation,stages}'),
    CONSTRAINT app_tokens_whole_site CHECK (NOT whole_site OR 'changes' = ANY(scopes))
);
COMMENT ON TABLE app_tokens IS 'a session with a row here is that of a program and opens no page; it ends as sessions do';
COMMENT ON COLUMN app_tokens.used_at IS 'the last use, to within an hour; null: none yet';
COMMENT ON COLUMN app_tokens.whole_site IS 'the token reads everything on the site, while its owner is an administrator';
COMMENT ON COLUMN app_tokens.token_hash IS 'SHA-256 of the token: nobody can use what stands here';
CREATE INDEX app_tokens_account_idx ON app_tokens (account_id);
COMMENT ON COLUMN sessions.token_hash IS 'SHA-256 of the cookie, or of an app token: nobody can sign in with what stands here';

ALTER TABLE account_events DROP CONSTRAINT account_events_kind,
    ADD CONSTRAINT account_events_kind CHECK (kind IN ('signin', 'password', 'token', 'token_revoked'));
COMMENT ON TABLE account_events IS 'what a person is told about their account until they have seen it: a sign-in, a new password, an app token that was made or revoked';
COMMENT ON COLUMN account_events.device IS 'of a sign-in its browser and system; of an app token its name';
COMMENT ON COLUMN account_events.token_hash IS 'of the session that began, or that did it, which need not be told';
