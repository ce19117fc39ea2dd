// Package rights holds the rules of who may read a post, as conditions of SQL. Each rule
// stands here once, for all statements. Package access has the same rules in memory.
//
// The conditions are about a post p, a base timeline g and the parameter @viewer, 0 for
// anonymous.
package rights

import "strings"

// OpenGate is true for a base timeline g that @viewer may read. It is the only place of
// the rule of levels and sets (source: 000) in SQL; access.Sets.Reads is the same in
// memory.
const OpenGate = `(g.access = 0
	OR g.access = 1 AND @viewer::bigint <> 0
		AND NOT EXISTS (SELECT FROM excluded x WHERE x.timeline_id = g.id AND x.account_id = @viewer::bigint)
	OR g.access = 2
		AND EXISTS (SELECT FROM readers r WHERE r.timeline_id = g.id AND r.account_id = @viewer::bigint))`

// OpenTo is OpenGate with other names for the timeline and the viewer.
func OpenTo(timeline, viewer string) string {
	return strings.NewReplacer("g.", timeline+".", "@viewer::bigint", viewer).Replace(OpenGate)
}

// ReadablePost is true for a post p that @viewer may read: the third of 004's
// checks. Any readable decisive timeline is enough (source: 000).
//
// For most rows the flag is enough, and their gates are not read.
const ReadablePost = `(p.is_public AND ` + Flagged + ` OR EXISTS (
	SELECT FROM timelines g WHERE g.id = ANY(p.decisive) AND ` + OpenGate + `))`

// Flagged is true for a post p whose flags are up to date with the levels of its feeds
// (timelines.Maintenance.UpkeepBlock). If all are, which is nearly always, it costs one
// look-up for the whole statement.
const Flagged = `(NOT EXISTS (SELECT FROM unflagged_timelines)
	OR NOT EXISTS (SELECT FROM unflagged_timelines u WHERE u.timeline_id = ANY(p.decisive)))`

// Seen is true for a post p whose author is not unseen (package admin), or if @viewer is one of the
// staff. Nearly always it costs one look-up.
const Seen = `(NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = p.author_id)
	OR EXISTS (SELECT FROM staff s WHERE s.account_id = @viewer::bigint))`

// SeenAs is Seen for another account than the author of the post p.
func SeenAs(account string) string { return strings.ReplaceAll(Seen, "p.author_id", account) }

// Unbanned is true for a post p whose author is not hidden from @viewer:
// access.Levels.Hidden in SQL.
const Unbanned = `(` + Seen + ` AND (
	NOT EXISTS (SELECT FROM bans b
		WHERE (b.account_id, b.banned_id) IN ((@viewer::bigint, p.author_id), (p.author_id, @viewer::bigint)))
	OR EXISTS (
		SELECT FROM timelines g JOIN show_banned s ON s.group_id = g.their_id AND s.account_id = @viewer::bigint
		WHERE g.id = ANY(p.decisive) AND g.kind = 'group' AND ` + OpenGate + `
			AND (NOT EXISTS (SELECT FROM bans b WHERE b.account_id = p.author_id AND b.banned_id = @viewer::bigint)
				OR EXISTS (SELECT FROM group_admins a WHERE a.group_id = g.their_id AND a.account_id = @viewer::bigint)))))`

// SeenPost is true for a post p that @viewer may read and whose author is not hidden from
// @viewer, so that @viewer may answer it.
const SeenPost = `(` + ReadablePost + ` AND ` + Unbanned + `)`

// UnbannedAs is Unbanned for another author than that of the post p: of one of its comments.
func UnbannedAs(author string) string {
	return strings.ReplaceAll(Unbanned, "p.author_id", author)
}
