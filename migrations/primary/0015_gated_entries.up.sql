-- What of a filter timeline or an aggregate somebody may read is found by its
-- rows, newest first, as long as it is much. Few readable rows among very many are
-- found by the base timelines that decide on them (source: 000, PrivateForUser and
-- ProtectedFromUser; see Scan).
CREATE TABLE gated_entries (
    timeline_id bigint NOT NULL,
    gate_id     bigint NOT NULL,
    post_id     bigint NOT NULL,
    CONSTRAINT gated_entries_pkey PRIMARY KEY (timeline_id, gate_id, post_id)
);
COMMENT ON TABLE gated_entries IS 'an index of timeline_entries in all but form, kept by triggers so that no way of writing forgets it: for each row of a filter timeline or aggregate, the decisive timelines its post has or had. Nothing is ever taken out and no level is kept: who reads it asks the row and the post';

CREATE FUNCTION gate_entered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gated_entries (timeline_id, gate_id, post_id)
    SELECT e.timeline_id, d.gate_id, e.post_id
    FROM entered e
    JOIN timelines t ON t.id = e.timeline_id AND t.kind NOT IN ('feed', 'subfeed', 'eyes', 'directs', 'group', 'post')
    JOIN posts p ON p.id = e.post_id
    CROSS JOIN unnest(p.decisive) d(gate_id)
    ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER timeline_entries_gate AFTER INSERT ON timeline_entries
    REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION gate_entered();

CREATE FUNCTION gate_moved() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER posts_gate AFTER UPDATE OF decisive ON posts
    FOR EACH ROW WHEN (NEW.decisive <> OLD.decisive) EXECUTE FUNCTION gate_moved();

INSERT INTO gated_entries (timeline_id, gate_id, post_id)
SELECT e.timeline_id, d.gate_id, e.post_id
FROM timeline_entries e
JOIN timelines t ON t.id = e.timeline_id AND t.kind NOT IN ('feed', 'subfeed', 'eyes', 'directs', 'group', 'post')
JOIN posts p ON p.id = e.post_id
CROSS JOIN unnest(p.decisive) d(gate_id)
ORDER BY 1, 2, 3;
