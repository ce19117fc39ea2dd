DROP TABLE text_marks;
-- Timelines take their rows with them.
DELETE FROM timelines WHERE kind = 'hashtag';
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'subfeed', 'eyes', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'post', 'everything'));
