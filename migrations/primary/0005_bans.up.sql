-- Bans of persons: both sides are spared each other. They act where something is
-- shown or done, never in what is stored of posts and timelines.
CREATE TABLE bans (
    account_id bigint      NOT NULL CONSTRAINT bans_account_fkey REFERENCES accounts ON DELETE CASCADE,
    banned_id  bigint      NOT NULL CONSTRAINT bans_banned_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT bans_pkey PRIMARY KEY (account_id, banned_id),
    CONSTRAINT bans_not_self CHECK (account_id <> banned_id)
);
CREATE INDEX bans_banned_idx ON bans (banned_id, account_id);

CREATE TABLE show_banned (
    account_id bigint NOT NULL CONSTRAINT show_banned_account_fkey REFERENCES accounts ON DELETE CASCADE,
    group_id   bigint NOT NULL CONSTRAINT show_banned_group_fkey REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT show_banned_pkey PRIMARY KEY (account_id, group_id)
);
COMMENT ON TABLE show_banned IS 'groups in which the account wants to see whom it has banned';
CREATE INDEX show_banned_group_idx ON show_banned (group_id);
