DROP TABLE listings;
ALTER TABLE accounts DROP COLUMN listings_in;
