-- Who followed an account last.
CREATE INDEX subscriptions_recent_idx ON subscriptions (account_id, created_at DESC);
