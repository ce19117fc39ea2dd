-- Faves: what people keep for themselves. Who keeps a post is known to nobody
-- else; how many do, to everybody who may read it.
CREATE TABLE faves (
    post_id    bigint      NOT NULL CONSTRAINT faves_post_fkey REFERENCES posts ON DELETE CASCADE,
    account_id bigint      NOT NULL CONSTRAINT faves_account_fkey REFERENCES accounts,
    created_at timestamptz NOT NULL,
    CONSTRAINT faves_pkey PRIMARY KEY (post_id, account_id)
);
CREATE INDEX faves_account_idx ON faves (account_id);

ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'post', 'everything'));

-- Everybody's timeline of faves, its own gate, as new accounts get it.
WITH numbered AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('timelines', 'id')) AS id, id AS account_id
    FROM accounts WHERE kind = 'user'
), made AS (
    INSERT INTO timelines (id, kind, their_id, access, gate_id)
    OVERRIDING SYSTEM VALUE
    SELECT id, 'faves', account_id, 2, id FROM numbered
    RETURNING id, their_id
)
INSERT INTO readers (timeline_id, account_id) SELECT id, their_id FROM made;
