-- Rows of posts that were deleted before their rows were: scans met them for ever.
DELETE FROM timeline_entries e USING posts p WHERE p.id = e.post_id AND p.deleted_at IS NOT NULL;
