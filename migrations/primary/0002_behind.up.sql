-- What Tier 1 has brought to the open rivers and Tier 2 has still to bring to
-- all the others. Appended to by each finished distribute job, emptied in
-- batches by follow jobs; package jobs owns it, and nobody else writes here.
-- No foreign key: a lock on the post for a note about it would make Tier 1 wait
-- for the post's own traffic, and a note about a post that is gone is harmless.
CREATE TABLE behind (
    id         bigint   GENERATED ALWAYS AS IDENTITY CONSTRAINT behind_pkey PRIMARY KEY,
    post_id    bigint   NOT NULL,
    changed_at bigint   NOT NULL,
    timelines  bigint[] NOT NULL
);
COMMENT ON TABLE behind IS 'changes which rivers nobody looks at have still to follow; owned by package jobs';
COMMENT ON COLUMN behind.changed_at IS 'microseconds; when the change was announced, for measuring the lag';
COMMENT ON COLUMN behind.timelines IS 'the timelines the post entered, left or was bumped in; empty: only its fold changed';
