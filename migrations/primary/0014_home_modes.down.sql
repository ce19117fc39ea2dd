ALTER TABLE accounts DROP COLUMN friends_only;
