-- Timelines take their rows with them.
DELETE FROM timelines WHERE kind IN ('best', 'mostfaved') OR kind = 'everything' AND term <> '';
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'subfeed', 'eyes', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'mentions', 'post', 'everything', 'hashtag'));
