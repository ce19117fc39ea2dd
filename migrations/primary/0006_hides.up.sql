-- Hides: what people want to be spared. They act where something is shown, like
-- bans, and concern nobody but who set them.
CREATE TABLE hidden_posts (
    account_id bigint      NOT NULL CONSTRAINT hidden_posts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint      NOT NULL CONSTRAINT hidden_posts_post_fkey REFERENCES posts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT hidden_posts_pkey PRIMARY KEY (account_id, post_id)
);
CREATE INDEX hidden_posts_post_idx ON hidden_posts (post_id);

CREATE TABLE hidden_accounts (
    account_id bigint      NOT NULL CONSTRAINT hidden_accounts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    hidden_id  bigint      NOT NULL CONSTRAINT hidden_accounts_hidden_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT hidden_accounts_pkey PRIMARY KEY (account_id, hidden_id),
    CONSTRAINT hidden_accounts_not_self CHECK (account_id <> hidden_id)
);
COMMENT ON TABLE hidden_accounts IS 'people and groups';
CREATE INDEX hidden_accounts_hidden_idx ON hidden_accounts (hidden_id);

CREATE TABLE hidden_terms (
    account_id bigint      NOT NULL CONSTRAINT hidden_terms_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    term       text        NOT NULL CONSTRAINT hidden_terms_term CHECK (length(term) BETWEEN 1 AND 100),
    CONSTRAINT hidden_terms_pkey PRIMARY KEY (account_id, term)
);
COMMENT ON COLUMN hidden_terms.term IS 'lower case; a tag with its #, or a word or several';
