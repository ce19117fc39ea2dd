-- What keeps home feeds up, in blocks: the end of builds that nobody goes on
-- with, and the retirement of all feeds of a strategy.

COMMENT ON COLUMN home_feeds.visited_at IS 'the last page that was read from it, to the minute. While building: its last progress';
CREATE INDEX home_feeds_unfinished_idx ON home_feeds (strategy, visited_at) WHERE state = 'building';
CREATE INDEX home_feeds_strategy_idx ON home_feeds (strategy, id) WHERE state <> 'retired';
