-- Searches for listings by price name a currency.

DROP INDEX listings_price_idx;
CREATE INDEX listings_price_idx ON listings (currency, price, post_id);
