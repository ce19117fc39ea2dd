DROP INDEX listings_price_idx;
CREATE INDEX listings_price_idx ON listings (price, post_id);
