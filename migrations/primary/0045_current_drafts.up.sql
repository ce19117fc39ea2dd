-- Drafts from before there were current ones: the newest of a post, in its place, is what its writer goes on with.
INSERT INTO current_drafts (account_id, draft_id)
SELECT DISTINCT ON (account_id) account_id, id FROM drafts
WHERE NOT parked AND place ~ '^/([a-z0-9-]{3,35}(/[a-z0-9-]{1,35})?)?$' AND place NOT LIKE '/filter/%'
ORDER BY account_id, saved_at DESC, id DESC
ON CONFLICT (account_id) DO NOTHING;
