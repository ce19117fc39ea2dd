ALTER TABLE scheduled_posts ADD COLUMN key text NOT NULL DEFAULT '' CONSTRAINT scheduled_posts_key CHECK (length(key) <= 100);
ALTER TABLE scheduled_posts ALTER COLUMN key DROP DEFAULT;
COMMENT ON COLUMN scheduled_posts.key IS 'of the form that was saved last, or empty';
CREATE UNIQUE INDEX scheduled_posts_key_idx ON scheduled_posts (account_id, key) WHERE key <> '';
DELETE FROM keys WHERE post_id IS NULL;
ALTER TABLE keys ALTER COLUMN post_id SET NOT NULL;
COMMENT ON COLUMN keys.post_id IS NULL;
COMMENT ON COLUMN keys.created_at IS NULL;
