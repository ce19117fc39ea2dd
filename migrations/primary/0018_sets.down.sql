DROP INDEX hidden_posts_created_idx;

-- Who reads a group without being a member cannot be told from its members any
-- more, and goes.
DELETE FROM readers WHERE admitted;
DROP INDEX readers_admitted_idx;
ALTER TABLE readers DROP COLUMN admitted;
