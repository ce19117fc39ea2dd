DROP INDEX posts_fresh_idx;
