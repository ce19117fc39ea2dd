DROP TABLE push_due, push_subscriptions, push_keys;
