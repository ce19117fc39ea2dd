DROP INDEX listings_price_idx;
