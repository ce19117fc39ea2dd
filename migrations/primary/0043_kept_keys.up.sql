ALTER TABLE keys ALTER COLUMN post_id DROP NOT NULL;
COMMENT ON COLUMN keys.post_id IS 'the post that the form made, or that of its comment; null: a scheduled post';
COMMENT ON COLUMN keys.created_at IS 'when the form was sent; of a scheduled post the time at which it is to be published';
-- Drops scheduled_posts_key_idx too.
ALTER TABLE scheduled_posts DROP COLUMN key;
