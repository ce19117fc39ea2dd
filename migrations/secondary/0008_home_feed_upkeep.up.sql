-- What keeps home feeds up, in blocks: the end of builds that nobody goes on
-- with, the retirement of all feeds of a strategy, and which changes a feed was filled with.

ALTER TABLE home_feeds ADD knows pg_snapshot NOT NULL DEFAULT '1:1:';
COMMENT ON COLUMN home_feeds.knows IS 'as rivers.knows: changes of the primary store that the feed was filled with, at least; by default none';
COMMENT ON COLUMN home_feeds.visited_at IS 'the last page that was read from it, to the minute. While building: its last progress';
CREATE INDEX home_feeds_unfinished_idx ON home_feeds (strategy, visited_at) WHERE state = 'building';
CREATE INDEX home_feeds_strategy_idx ON home_feeds (strategy, id) WHERE state <> 'retired';

-- Feeds may hold the texts of their posts, as the embedded content of source 001.
ALTER TABLE home_feed_buckets
    ADD COLUMN texts text[],
    ADD CONSTRAINT home_feed_buckets_texts CHECK (cardinality(texts) = cardinality(posts));
COMMENT ON COLUMN home_feed_buckets.texts IS 'what each post says; NULL if the feed links its posts';
