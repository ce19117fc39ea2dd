-- Aggregates: everything, best-of and most-faved, of all posts (term '') and of
-- those in each known language. Only the posts decide who reads what of them.
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'subfeed', 'eyes', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'mentions', 'post', 'everything', 'hashtag',
     'best', 'mostfaved'));
INSERT INTO timelines (kind, their_id, term)
SELECT kind, 0, term FROM unnest(ARRAY['everything', 'best', 'mostfaved']) kind, unnest(ARRAY['', 'en', 'ru']) term
ORDER BY kind, term
ON CONFLICT DO NOTHING;
