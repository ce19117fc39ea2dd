-- What only helps to find posts follows large changes in blocks, in the background,
-- and not under the locks of a request (timelines/upkeep.go).
CREATE TABLE ungated_posts (
    post_id bigint NOT NULL CONSTRAINT ungated_posts_pkey PRIMARY KEY
                   CONSTRAINT ungated_posts_post_fkey REFERENCES posts ON DELETE CASCADE,
    after   bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE ungated_posts IS 'posts in many timelines that moved: of those timelines beyond after, gated_entries may lack where the post stands now. Who looks by gates takes these posts along; see scanfew.go';

CREATE OR REPLACE FUNCTION gate_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM timeline_entries WHERE post_id = NEW.id LIMIT 201) few) > 200 THEN
        INSERT INTO ungated_posts (post_id) VALUES (NEW.id) ON CONFLICT (post_id) DO UPDATE SET after = 0;
        RETURN NULL;
    END IF;
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
COMMENT ON TABLE gated_entries IS 'an index of timeline_entries in all but form, kept by triggers so that no way of writing forgets it: for each row of a filter timeline or aggregate, the decisive timelines its post has or had, but for those of ungated_posts. Nothing is ever taken out and no level is kept: who reads it asks the row and the post. What a row can have is bounded by the places its author ever put the post in';

CREATE TABLE unflagged_timelines (
    timeline_id bigint NOT NULL CONSTRAINT unflagged_timelines_pkey PRIMARY KEY
                       CONSTRAINT unflagged_timelines_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    after       bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE unflagged_timelines IS 'base timelines of many posts whose level changed: the flags of their posts beyond after may be of before: is_public is not believed of posts that stand in one of them';
COMMENT ON COLUMN posts.is_public IS 'some decisive timeline is public; kept, as its two neighbours, by the transaction that changes destinations or levels, or after it: see unflagged_timelines';
