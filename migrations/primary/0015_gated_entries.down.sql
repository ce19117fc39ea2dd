DROP TRIGGER posts_gate ON posts;
DROP TRIGGER timeline_entries_gate ON timeline_entries;
DROP FUNCTION gate_moved();
DROP FUNCTION gate_entered();
DROP TABLE gated_entries;
