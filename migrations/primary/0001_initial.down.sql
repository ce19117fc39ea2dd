DROP TABLE access_log, access_clock, origins, keys, attachments, likes, comments, timeline_entries, posts,
    group_admins, subscription_requests, subscriptions, excluded, readers, timelines, sessions, credentials, accounts;
