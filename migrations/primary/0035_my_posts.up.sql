-- My posts: a post's status, and how many posts each author has of each.

ALTER TABLE posts
    ADD COLUMN status   smallint NOT NULL DEFAULT 0 CONSTRAINT posts_status CHECK (status BETWEEN 0 AND 5),
    ADD COLUMN imported boolean  NOT NULL DEFAULT false;
COMMENT ON COLUMN posts.status IS '0 published, 1 waiting, 2 blocked, 3 expired, 4 closed (publishing.Status), 5 deleted';
COMMENT ON COLUMN posts.imported IS 'a source or an import brought it';
UPDATE posts p SET imported = true
WHERE EXISTS (SELECT FROM source_items i WHERE i.post_id = p.id)
    OR p.id IN (SELECT their_id FROM origins WHERE kind = 'post');
UPDATE posts SET status = 5 WHERE deleted_at IS NOT NULL;

-- One author's posts of each status, by the date of their creation. Every like updates a row of posts: what it
-- changes is in no column of this index. It has the deleted posts too: with a condition it would be a short way to all others,
-- which the planner would take where a scan knows its posts.
CREATE INDEX posts_status_idx ON posts (author_id, status, imported, created_at, id);

CREATE TABLE author_counters (
    author_id bigint   NOT NULL CONSTRAINT author_counters_author_fkey REFERENCES accounts ON DELETE CASCADE,
    posts     bigint   NOT NULL,
    status    smallint NOT NULL CONSTRAINT author_counters_status CHECK (status BETWEEN 0 AND 4),
    imported  boolean  NOT NULL,
    CONSTRAINT author_counters_pkey PRIMARY KEY (author_id, status, imported)
) WITH (fillfactor = 50);
COMMENT ON TABLE author_counters IS 'how many posts an author has of each status; the transaction that changes a post changes these too. publishing.Store.Repair mends what differs';
INSERT INTO author_counters (author_id, status, imported, posts)
SELECT author_id, status, imported, count(*) FROM posts WHERE status < 5 GROUP BY 1, 2, 3;

CREATE TABLE author_totals (
    author_id bigint   NOT NULL CONSTRAINT author_totals_author_fkey REFERENCES accounts ON DELETE CASCADE,
    value     bigint   NOT NULL,
    slot      smallint NOT NULL CONSTRAINT author_totals_slot CHECK (slot BETWEEN 0 AND 9),
    total     text     NOT NULL CONSTRAINT author_totals_total CHECK (total IN ('published', 'closed', 'earned')),
    currency  text     NOT NULL DEFAULT '' CONSTRAINT author_totals_currency CHECK (currency ~ '^([A-Z]{3})?$'),
    CONSTRAINT author_totals_pkey PRIMARY KEY (author_id, total, currency, slot)
) WITH (fillfactor = 50);
COMMENT ON TABLE author_totals IS 'what only grows; the sum of the slots counts, one of which is chosen at random for each change, so that changes at once seldom wait for each other';
COMMENT ON COLUMN author_totals.value IS 'posts; of earned, the smallest unit of the currency (cents)';
INSERT INTO author_totals (author_id, total, slot, value)
SELECT author_id, 'published', 0, count(*) FROM posts GROUP BY 1;
