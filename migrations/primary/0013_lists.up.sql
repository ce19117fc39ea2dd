-- Lists: further home feeds, each of some of those an account follows.
ALTER TABLE subscriptions ADD COLUMN in_home boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN subscriptions.in_home IS 'false: kept out of the home feed, for its lists and its own page alone';

CREATE TABLE lists (
    id         bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT lists_pkey PRIMARY KEY,
    account_id bigint      NOT NULL CONSTRAINT lists_account_fkey REFERENCES accounts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    slug       text        NOT NULL CONSTRAINT lists_slug CHECK (slug ~ '^[a-z0-9-]{1,35}$'),
    title      text        NOT NULL CONSTRAINT lists_title CHECK (length(title) BETWEEN 1 AND 100),
    CONSTRAINT lists_slug_key UNIQUE (account_id, slug),
    CONSTRAINT lists_owner_key UNIQUE (id, account_id)
);
COMMENT ON COLUMN lists.slug IS 'the last segment of the list''s address, for good';
COMMENT ON CONSTRAINT lists_owner_key ON lists IS 'what list_members_list_fkey refers to';

-- A member is somebody the list's owner follows: a subscription that ends, by
-- whatever way, takes its rows here with it.
CREATE TABLE list_members (
    list_id       bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    account_id    bigint NOT NULL,
    CONSTRAINT list_members_pkey PRIMARY KEY (list_id, account_id),
    CONSTRAINT list_members_list_fkey FOREIGN KEY (list_id, subscriber_id)
        REFERENCES lists (id, account_id) ON DELETE CASCADE,
    CONSTRAINT list_members_subscription_fkey FOREIGN KEY (subscriber_id, account_id)
        REFERENCES subscriptions ON DELETE CASCADE
);
COMMENT ON COLUMN list_members.subscriber_id IS 'the list''s owner';
CREATE INDEX list_members_subscription_idx ON list_members (subscriber_id, account_id);
