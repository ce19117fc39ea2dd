ALTER TABLE home_feed_buckets DROP COLUMN texts;
