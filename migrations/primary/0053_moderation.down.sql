-- Posts that were held stay for their author's eyes.
INSERT INTO author_counters AS a (author_id, status, imported, posts)
SELECT author_id, 0, imported, count(*) FROM posts WHERE status IN (1, 2) GROUP BY 1, 3
ON CONFLICT (author_id, status, imported) DO UPDATE SET posts = a.posts + EXCLUDED.posts;
DELETE FROM author_counters WHERE status IN (1, 2);
UPDATE posts SET status = 0 WHERE status IN (1, 2);
DROP TABLE approvals;
DROP TABLE held_posts;
DROP TABLE opinions;
ALTER TABLE timelines DROP COLUMN approves;
