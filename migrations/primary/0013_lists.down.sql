DROP TABLE list_members, lists;
ALTER TABLE subscriptions DROP COLUMN in_home;
