DROP TABLE home_feed_posts, home_feed_buckets, home_feeds;
