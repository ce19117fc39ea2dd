-- Searches for listings by price.

CREATE INDEX listings_price_idx ON listings (price, post_id);
