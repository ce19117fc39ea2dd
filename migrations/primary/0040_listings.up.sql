-- Listings: posts that offer something, in groups that take them.

ALTER TABLE accounts ADD COLUMN listings_in text NOT NULL DEFAULT ''
    CONSTRAINT accounts_listings_in CHECK (listings_in = '' OR kind = 'group' AND listings_in ~ '^[A-Z]{3}$');
COMMENT ON COLUMN accounts.listings_in IS 'of a group that takes listings: the currency that its form proposes; otherwise empty';

CREATE TABLE listings (
    post_id    bigint      CONSTRAINT listings_pkey PRIMARY KEY
                           CONSTRAINT listings_post_fkey REFERENCES posts ON DELETE CASCADE,
    price      bigint      CONSTRAINT listings_price CHECK (price BETWEEN 0 AND 99999999999),
    sold_price bigint      CONSTRAINT listings_sold_price CHECK (sold_price BETWEEN 0 AND 99999999999),
    until_at   timestamptz NOT NULL,
    closed_at  timestamptz,
    state      text        NOT NULL DEFAULT 'active' CONSTRAINT listings_state CHECK (state IN ('active', 'expired', 'closed')),
    how        text        CONSTRAINT listings_how CHECK (how IN ('sold', 'given')),
    currency   text        NOT NULL CONSTRAINT listings_currency CHECK (currency ~ '^[A-Z]{3}$'),
    condition  text        NOT NULL CONSTRAINT listings_condition CHECK (condition IN ('new', 'good', 'used', 'broken')),
    place      text        NOT NULL CONSTRAINT listings_place CHECK (length(place) <= 100),
    CONSTRAINT listings_closed CHECK ((state = 'closed') = (closed_at IS NOT NULL AND how IS NOT NULL)),
    CONSTRAINT listings_sold CHECK (sold_price IS NULL OR how = 'sold')
);
COMMENT ON COLUMN listings.price IS 'hundredths of the currency; null: its author waits for offers, 0: it is free';
COMMENT ON COLUMN listings.sold_price IS 'what it went for, if its author told';
COMMENT ON COLUMN listings.until_at IS 'the end of its last day, in UTC';
CREATE INDEX listings_until_idx ON listings (until_at) WHERE state = 'active';
CREATE INDEX listings_state_idx ON listings (state, post_id);
