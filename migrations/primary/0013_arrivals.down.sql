DROP INDEX subscriptions_recent_idx;
