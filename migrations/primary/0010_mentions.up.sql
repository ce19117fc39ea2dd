-- Mentions: what names a person as @name, for that person alone.
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'subfeed', 'eyes', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'mentions', 'post', 'everything', 'hashtag'));
COMMENT ON TABLE text_marks IS 'into which timelines the tags and @names of a post''s texts bring it, by text: the post leaves one when the last text that named it goes. Kept beside the bodies so that nobody reads thousands of comments to learn that';

-- Everybody's timeline of mentions, its own gate, as new accounts get it.
WITH numbered AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('timelines', 'id')) AS id, id AS account_id
    FROM accounts WHERE kind = 'user'
), made AS (
    INSERT INTO timelines (id, kind, their_id, access, gate_id)
    OVERRIDING SYSTEM VALUE
    SELECT id, 'mentions', account_id, 2, id FROM numbered
    RETURNING id, their_id
)
INSERT INTO readers (timeline_id, account_id) SELECT id, their_id FROM made;
