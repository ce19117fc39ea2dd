-- The strategy by which the servers make home feeds. Feeds of a strategy follow changes only while
-- it is selected, so all feeds are retired when another one is.

CREATE UNLOGGED TABLE home_strategy (
    strategy text    NOT NULL,
    one      boolean NOT NULL DEFAULT true CONSTRAINT home_strategy_pkey PRIMARY KEY CONSTRAINT home_strategy_one CHECK (one)
);
COMMENT ON COLUMN home_strategy.one IS 'always true: the table has one row at most';
