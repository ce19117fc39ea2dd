DROP INDEX posts_removed_idx;
