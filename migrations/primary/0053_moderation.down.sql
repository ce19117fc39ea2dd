-- Posts that were held stay for their author's eyes, with the status that they have by themselves.
WITH let_out AS (
    UPDATE posts p
    SET status = CASE (SELECT l.state FROM listings l WHERE l.post_id = p.id) WHEN 'expired' THEN 3 WHEN 'closed' THEN 4 ELSE 0 END
    WHERE p.status IN (1, 2) RETURNING p.author_id, p.status, p.imported
)
INSERT INTO author_counters AS a (author_id, status, imported, posts)
SELECT author_id, status, imported, count(*) FROM let_out GROUP BY 1, 2, 3
ON CONFLICT (author_id, status, imported) DO UPDATE SET posts = a.posts + EXCLUDED.posts;
DELETE FROM author_counters WHERE status IN (1, 2);
DROP TABLE approvals;
DROP TABLE held_posts;
DROP TABLE opinions;
ALTER TABLE timelines DROP COLUMN approves;
