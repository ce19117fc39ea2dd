-- Likes of comments. They lift nothing and bring no post to any timeline.
CREATE TABLE comment_likes (
    comment_id bigint      NOT NULL CONSTRAINT comment_likes_comment_fkey REFERENCES comments ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT comment_likes_account_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    CONSTRAINT comment_likes_pkey PRIMARY KEY (comment_id, account_id)
);
CREATE INDEX comment_likes_account_idx ON comment_likes (account_id);
