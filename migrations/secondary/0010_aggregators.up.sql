-- Aggregator feeds (source: 000) follow changes of subscription in blocks.
ALTER TABLE home_feeds ADD sources bigint[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN home_feeds.sources IS 'the timelines that an aggregator subscribes to, as of its operations; empty in feeds of other strategies';

CREATE UNLOGGED TABLE home_feed_operations (
    feed_id   bigint   NOT NULL,
    n         integer  NOT NULL,
    operation text     NOT NULL CONSTRAINT home_feed_operations_operation CHECK (operation IN ('add', 'remove')),
    sources   bigint[] NOT NULL,
    place     bigint   NOT NULL DEFAULT 9223372036854775807,
    post      bigint   NOT NULL DEFAULT 9223372036854775807,
    CONSTRAINT home_feed_operations_pkey PRIMARY KEY (feed_id, n)
);
COMMENT ON TABLE home_feed_operations IS 'what is still to be added to feeds, or removed from them; they are worked in the order of n, in blocks, the newest posts first';
COMMENT ON COLUMN home_feed_operations.sources IS 'the timelines that the feed subscribes to, or left';
COMMENT ON COLUMN home_feed_operations.place IS 'with post: at and above this place it is done';

CREATE TRIGGER home_feed_operations_truncated AFTER TRUNCATE ON home_feed_operations EXECUTE FUNCTION forget_epoch();
