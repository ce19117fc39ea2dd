-- Timelines take their rows and readers with them.
DELETE FROM timelines WHERE kind = 'faves';
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'directs', 'group', 'likes', 'comments', 'discussions', 'post', 'everything'));
DROP TABLE faves;
