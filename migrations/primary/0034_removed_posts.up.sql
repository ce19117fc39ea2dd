-- The page of what takes the room counts the posts that stand: all of an author less the removed ones.
CREATE INDEX posts_removed_idx ON posts (author_id) WHERE deleted_at IS NOT NULL;
