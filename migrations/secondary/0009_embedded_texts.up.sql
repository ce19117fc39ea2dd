-- Feeds that hold the texts of their posts, as the embedded content of source 001.
ALTER TABLE home_feed_buckets
    ADD COLUMN texts text[],
    ADD CONSTRAINT home_feed_buckets_texts CHECK (cardinality(texts) = cardinality(posts));
COMMENT ON COLUMN home_feed_buckets.texts IS 'what each post says; NULL if the feed links its posts';
