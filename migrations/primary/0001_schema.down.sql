DROP TABLE unflagged_timelines, behind, access_log, access_clock,
    hidden_terms, hidden_accounts, hidden_posts, show_banned, bans,
    text_marks, timeline_entries, origins, keys, attachments, faves, comment_likes, likes, comments, posts,
    group_blocks, group_admins, list_members, lists, subscription_requests, subscriptions,
    excluded, readers, subfeeds, timelines, sessions, credentials, accounts;
