-- How far people have read the comments of posts that they opened.
CREATE TABLE reads (
    account_id bigint      NOT NULL CONSTRAINT reads_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint      NOT NULL,
    seen       bigint      NOT NULL,
    read_at    timestamptz NOT NULL,
    CONSTRAINT reads_pkey PRIMARY KEY (account_id, post_id)
);
COMMENT ON TABLE reads IS 'one row for each post that a person has opened on its own page; only that person learns of it. It has no foreign key to posts: their rows are never removed, and an index for that would be as large as the table';
COMMENT ON COLUMN reads.seen IS 'microseconds: when the last comment was made that the person was shown, or the post if it had none';
COMMENT ON COLUMN reads.read_at IS 'when that was; a node remembers the latest';
CREATE INDEX reads_latest_idx ON reads (account_id, read_at DESC);
