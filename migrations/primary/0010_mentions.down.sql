-- Timelines take their rows, marks and readers with them.
DELETE FROM timelines WHERE kind = 'mentions';
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'subfeed', 'eyes', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'post', 'everything', 'hashtag'));
