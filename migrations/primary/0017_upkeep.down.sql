UPDATE posts p SET is_public = f.is_public, is_protected = f.is_protected, is_private = f.is_private
FROM (
    SELECT p.id, bool_or(t.access = 0) AS is_public, bool_or(t.access = 1) AS is_protected, bool_or(t.access = 2) AS is_private
    FROM unflagged_timelines u
    JOIN timeline_entries e ON e.timeline_id = u.timeline_id
    JOIN posts p ON p.id = e.post_id
    JOIN timelines t ON t.id = ANY(p.decisive)
    GROUP BY p.id
) f
WHERE p.id = f.id AND p.deleted_at IS NULL;
DROP TABLE unflagged_timelines;
COMMENT ON COLUMN posts.is_public IS 'some decisive timeline is public; kept, as its two neighbours, by the transaction that changes destinations or levels';

INSERT INTO gated_entries (timeline_id, gate_id, post_id)
SELECT e.timeline_id, d.gate_id, e.post_id
FROM ungated_posts u
JOIN posts p ON p.id = u.post_id
JOIN timeline_entries e ON e.post_id = p.id
JOIN timelines t ON t.id = e.timeline_id AND t.kind NOT IN ('feed', 'subfeed', 'eyes', 'directs', 'group', 'post')
CROSS JOIN unnest(p.decisive) d(gate_id)
ORDER BY 1, 2, 3
ON CONFLICT DO NOTHING;

CREATE OR REPLACE FUNCTION gate_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gated_entries (timeline_id, gate_id, post_id)
    SELECT e.timeline_id, d.gate_id, e.post_id
    FROM timeline_entries e
    JOIN timelines t ON t.id = e.timeline_id AND t.kind NOT IN ('feed', 'subfeed', 'eyes', 'directs', 'group', 'post')
    CROSS JOIN unnest(NEW.decisive) d(gate_id)
    WHERE e.post_id = NEW.id
    ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
DROP TABLE ungated_posts;
COMMENT ON TABLE gated_entries IS 'an index of timeline_entries in all but form, kept by triggers so that no way of writing forgets it: for each row of a filter timeline or aggregate, the decisive timelines its post has or had. Nothing is ever taken out and no level is kept: who reads it asks the row and the post';
