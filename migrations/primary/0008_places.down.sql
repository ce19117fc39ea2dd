-- A post that would stand nowhere goes to its author's directs, which nobody
-- else reads, so that nothing is lost and nothing shown.
WITH moving AS MATERIALIZED (
    SELECT p.id, ARRAY(SELECT t.id FROM timelines t
        WHERE t.id = ANY(p.decisive) AND t.kind NOT IN ('eyes', 'subfeed') ORDER BY t.id) AS places, d.id AS directs
    FROM posts p JOIN timelines d ON d.kind = 'directs' AND d.their_id = p.author_id
    WHERE EXISTS (SELECT FROM timelines t WHERE t.id = ANY(p.decisive) AND t.kind IN ('eyes', 'subfeed'))
), moved AS (
    UPDATE posts p
    SET version = version + 1, decisive = CASE WHEN m.places = '{}' THEN ARRAY[m.directs] ELSE m.places END
    FROM moving m WHERE p.id = m.id
    RETURNING p.id, p.fresh_at, p.created_at, m.places, m.directs
)
INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
SELECT directs, id, fresh_at, fresh_at, (extract(epoch FROM created_at) * 1000000)::bigint
FROM moved WHERE places = '{}'
ON CONFLICT (timeline_id, post_id) DO UPDATE SET withdrawn = false;

UPDATE posts p SET is_public = f.is_public, is_protected = f.is_protected, is_private = f.is_private
FROM (
    SELECT p.id, bool_or(t.access = 0) AS is_public, bool_or(t.access = 1) AS is_protected, bool_or(t.access = 2) AS is_private
    FROM posts p JOIN timelines t ON t.id = ANY(p.decisive)
    WHERE p.deleted_at IS NULL GROUP BY p.id) f
WHERE p.id = f.id AND (p.is_public, p.is_protected, p.is_private) <> (f.is_public, f.is_protected, f.is_private);

UPDATE timeline_entries e SET withdrawn = true
FROM timelines t
WHERE t.kind = 'everything' AND e.timeline_id = t.id AND NOT e.withdrawn AND NOT EXISTS (
    SELECT FROM posts p JOIN timelines d ON d.id = ANY(p.decisive) WHERE p.id = e.post_id AND d.kind <> 'directs');

-- Timelines take their rows, readers and titles with them.
DELETE FROM timelines WHERE kind IN ('eyes', 'subfeed');
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'post', 'everything'));
DROP TABLE subfeeds;
