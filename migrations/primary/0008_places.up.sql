-- More places to put posts in: for one's eyes only, and extra feeds, each with
-- a level and readers of its own.
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'subfeed', 'eyes', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'post', 'everything'));

CREATE TABLE subfeeds (
    timeline_id bigint NOT NULL CONSTRAINT subfeeds_pkey PRIMARY KEY
                       CONSTRAINT subfeeds_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    title       text   NOT NULL CONSTRAINT subfeeds_title CHECK (length(title) BETWEEN 1 AND 100)
);
COMMENT ON TABLE subfeeds IS 'what people call their extra feeds; the fixed private one has no row here and is called that in each language';

-- Everybody's two, each its own gate, as new accounts get them.
WITH numbered AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('timelines', 'id')) AS id, a.id AS account_id, f.kind, f.term
    FROM accounts a, (VALUES ('eyes', ''), ('subfeed', 'private')) AS f (kind, term)
    WHERE a.kind = 'user'
), made AS (
    INSERT INTO timelines (id, kind, their_id, term, access, gate_id)
    OVERRIDING SYSTEM VALUE
    SELECT id, kind, account_id, term, 2, id FROM numbered
    RETURNING id, their_id
)
INSERT INTO readers (timeline_id, account_id) SELECT id, their_id FROM made;
