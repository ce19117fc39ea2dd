DROP TABLE home_feed_operations;
ALTER TABLE home_feeds DROP sources;
