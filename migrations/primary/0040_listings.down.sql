UPDATE posts SET status = 0 WHERE status IN (3, 4) AND id IN (SELECT post_id FROM listings);
DELETE FROM author_counters WHERE status IN (3, 4);
INSERT INTO author_counters AS a (author_id, status, imported, posts)
SELECT author_id, status, imported, count(*) FROM posts WHERE status = 0 GROUP BY 1, 2, 3
ON CONFLICT (author_id, status, imported) DO UPDATE SET posts = EXCLUDED.posts;
DROP TABLE listings;
ALTER TABLE accounts DROP COLUMN listings_in;
