-- Home feeds as other strategies than rivers keep them (source: 001). A feed is one viewer's
-- home feed as one strategy stores it. It is as transient as a river.

CREATE UNLOGGED TABLE home_feeds (
    id          bigint      NOT NULL CONSTRAINT home_feeds_pkey PRIMARY KEY,
    viewer_id   bigint      NOT NULL,
    epoch       bigint      NOT NULL,
    setting     bigint      NOT NULL,
    floor_place bigint      NOT NULL DEFAULT 9223372036854775807,
    floor_post  bigint      NOT NULL DEFAULT -9223372036854775808,
    visited_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    retired_at  timestamptz,
    strategy    text        NOT NULL,
    state       text        NOT NULL DEFAULT 'building' CONSTRAINT home_feeds_state CHECK (state IN ('building', 'live', 'retired')),
    CONSTRAINT home_feeds_retired CHECK ((state = 'retired') = (retired_at IS NOT NULL))
);
COMMENT ON COLUMN home_feeds.id IS 'random, 63 bits, as rivers.id';
COMMENT ON COLUMN home_feeds.epoch IS 'as rivers.epoch: a feed of another epoch is cold';
COMMENT ON COLUMN home_feeds.setting IS 'the period or the size that its buckets were made by; a feed of another setting is filled anew';
COMMENT ON COLUMN home_feeds.floor_place IS 'with floor_post: at and above this place the feed is complete, and readers look no deeper. While building: how far it is filled';
CREATE UNIQUE INDEX home_feeds_live_key ON home_feeds (viewer_id, strategy) WHERE state = 'live';
CREATE UNIQUE INDEX home_feeds_building_key ON home_feeds (viewer_id, strategy) WHERE state = 'building';
-- One viewer's feeds: each change looks up those of the viewers whom it concerns.
CREATE INDEX home_feeds_viewer_idx ON home_feeds (viewer_id, strategy);
CREATE INDEX home_feeds_retired_idx ON home_feeds (retired_at) WHERE state = 'retired';
-- Feeds that nobody reads are retired, and a change of a level retires all of a strategy.
CREATE INDEX home_feeds_visited_idx ON home_feeds (strategy, visited_at) WHERE state <> 'retired';

CREATE UNLOGGED TABLE home_feed_buckets (
    feed_id   bigint   NOT NULL,
    low_place bigint   NOT NULL,
    low_post  bigint   NOT NULL,
    most      integer  NOT NULL DEFAULT 0,
    posts     bigint[] NOT NULL CONSTRAINT home_feed_buckets_filled CHECK (cardinality(posts) > 0),
    places    bigint[] NOT NULL CONSTRAINT home_feed_buckets_placed CHECK (cardinality(places) = cardinality(posts)),
    CONSTRAINT home_feed_buckets_pkey PRIMARY KEY (feed_id, low_place, low_post),
    CONSTRAINT home_feed_buckets_size CHECK (most = 0 OR cardinality(posts) <= most)
);
COMMENT ON TABLE home_feed_buckets IS 'the posts of a feed from one place on up to the next bucket; a bucket without posts has no row';
COMMENT ON COLUMN home_feed_buckets.low_place IS 'with low_post: all posts of the bucket stand at or above this place';
COMMENT ON COLUMN home_feed_buckets.most IS 'how many posts it may hold; 0: any number';
COMMENT ON COLUMN home_feed_buckets.posts IS 'newest first; places has the place of each';

CREATE UNLOGGED TABLE home_feed_posts (
    feed_id    bigint      NOT NULL,
    post_id    bigint      NOT NULL,
    version    bigint      NOT NULL,
    place      bigint      NOT NULL,
    removed_at timestamptz,
    CONSTRAINT home_feed_posts_pkey PRIMARY KEY (feed_id, post_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE home_feed_posts IS 'where each post of a feed stands, so that a bump finds the bucket it stood in';
COMMENT ON COLUMN home_feed_posts.version IS 'the post''s version that this was computed at; a write applies only if its own is greater';
COMMENT ON COLUMN home_feed_posts.removed_at IS 'the feed does not hold the post at this version; such rows are removed some time later';
CREATE INDEX home_feed_posts_removed_idx ON home_feed_posts (removed_at) WHERE removed_at IS NOT NULL;

CREATE TRIGGER home_feeds_truncated AFTER TRUNCATE ON home_feeds EXECUTE FUNCTION forget_epoch();
CREATE TRIGGER home_feed_buckets_truncated AFTER TRUNCATE ON home_feed_buckets EXECUTE FUNCTION forget_epoch();
CREATE TRIGGER home_feed_posts_truncated AFTER TRUNCATE ON home_feed_posts EXECUTE FUNCTION forget_epoch();
