DELETE FROM sessions s USING app_tokens t WHERE t.token_hash = s.token_hash; -- they would be those of browsers
DROP TABLE app_tokens;
DELETE FROM account_events WHERE kind IN ('token', 'token_revoked');
ALTER TABLE account_events DROP CONSTRAINT account_events_kind,
    ADD CONSTRAINT account_events_kind CHECK (kind IN ('signin', 'password'));
COMMENT ON COLUMN account_events.token_hash IS 'of the session that began, which need not be told';
COMMENT ON COLUMN account_events.device IS NULL;
COMMENT ON TABLE account_events IS 'what a person is told about their account: a sign-in, a new password; until they have seen it';
COMMENT ON COLUMN sessions.token_hash IS 'SHA-256 of the cookie: nobody can sign in with what stands here';
