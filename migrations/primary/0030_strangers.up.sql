-- People who signed up on the page less than a day ago, and what they wrote in the last hour.

CREATE TABLE strangers (
    account_id bigint        NOT NULL CONSTRAINT strangers_pkey PRIMARY KEY
                             CONSTRAINT strangers_account_fkey REFERENCES accounts ON DELETE CASCADE,
    ends_at    timestamptz   NOT NULL,
    posts      timestamptz[] NOT NULL DEFAULT '{}',
    comments   timestamptz[] NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE strangers IS 'new people, who may write little at first and reach only people who follow them or share a group with them; accounts made by an import or by a command have no row';
COMMENT ON COLUMN strangers.ends_at IS 'until then the limits hold';
COMMENT ON COLUMN strangers.posts IS 'when the posts of the last hour were made, also those deleted since; the row is the lock under which they are counted';
