-- Notifications: what others did that concerns a person, one row for each event and
-- recipient. A change writes and takes back its rows in its own transaction, under the lock
-- of the post.
CREATE TABLE notifications (
    account_id bigint   NOT NULL CONSTRAINT notifications_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint   NOT NULL CONSTRAINT notifications_post_fkey REFERENCES posts ON DELETE CASCADE,
    actor_id   bigint   NOT NULL,
    comment_id bigint   NOT NULL,
    at         bigint   NOT NULL,
    kind       smallint NOT NULL CONSTRAINT notifications_kind CHECK (kind BETWEEN 1 AND 6),
    read       boolean  NOT NULL DEFAULT false,
    CONSTRAINT notifications_pkey PRIMARY KEY (post_id, comment_id, account_id, kind, actor_id),
    CONSTRAINT notifications_not_self CHECK (account_id <> actor_id)
);
COMMENT ON COLUMN notifications.account_id IS 'who is told';
COMMENT ON COLUMN notifications.actor_id IS 'who did it. It has no foreign key: no statement asks for it, and a row goes with its like or comment';
COMMENT ON COLUMN notifications.comment_id IS 'the comment made, liked or naming somebody; 0: it is about the post itself';
COMMENT ON COLUMN notifications.at IS 'microseconds; never earlier than that of the post''s events before';
COMMENT ON COLUMN notifications.kind IS 'of the table in timelines/notices: 1 like of a post, 2 like of a comment, 3 comment on one''s post, 4 comment after one''s own, 5 mention, 6 message';
-- The latest events of each kind, of one post.
CREATE INDEX notifications_account_idx ON notifications (account_id, post_id, kind, at DESC);
-- What is unread, the latest first.
CREATE INDEX notifications_unread_idx ON notifications (account_id, at DESC) WHERE NOT read;

ALTER TABLE accounts ADD COLUMN notices_off smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN accounts.notices_off IS 'kinds of notifications that the account does not want: kind k is bit k - 1';

CREATE TABLE muted_posts (
    account_id bigint      NOT NULL CONSTRAINT muted_posts_account_fkey REFERENCES accounts ON DELETE CASCADE,
    post_id    bigint      NOT NULL CONSTRAINT muted_posts_post_fkey REFERENCES posts ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT muted_posts_pkey PRIMARY KEY (account_id, post_id)
);
COMMENT ON TABLE muted_posts IS 'posts of which the account gets no notifications';
CREATE INDEX muted_posts_post_idx ON muted_posts (post_id);
-- The page of hidden things shows the last one first.
CREATE INDEX muted_posts_created_idx ON muted_posts (account_id, created_at DESC, post_id DESC);

-- Everybody has a timeline of the posts that notify them.
WITH numbered AS MATERIALIZED (
    SELECT nextval((SELECT pg_get_serial_sequence('timelines', 'id'))) AS id, a.id AS account_id
    FROM accounts a WHERE a.kind = 'user'
), made AS (
    INSERT INTO timelines (id, kind, their_id, access, gate_id)
    OVERRIDING SYSTEM VALUE
    SELECT id, 'notifications', account_id, 2, id FROM numbered
)
INSERT INTO readers (timeline_id, account_id) SELECT id, account_id FROM numbered;
COMMENT ON COLUMN timeline_entries.fresh_at IS 'max(post''s fresh_at, entered_at), withdrawn or not; rows of a post in very many filter timelines follow a bump in blocks. In notifications it is entered_at, the time of the last event';
