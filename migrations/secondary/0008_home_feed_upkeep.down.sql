ALTER TABLE home_feed_buckets DROP COLUMN texts;
DROP INDEX home_feeds_strategy_idx, home_feeds_unfinished_idx;
ALTER TABLE home_feeds DROP knows;
COMMENT ON COLUMN home_feeds.visited_at IS NULL;
