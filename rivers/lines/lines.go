package lines

import (
	"context"
	"errors"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/changes"
	"riverrun/timelines/kinds"
)

type (
	// Line is a line of the log, as its reader may see it when it is read.
	Line struct {
		Seq  string `json:"seq" doc:"where to go on: after of the next call"`
		ID   string `json:"id,omitempty" doc:"names the change, also if it comes twice"`
		Kind string `json:"kind" enum:"post,gone,access,gap,end" doc:"post: it was made or changed, and this is how it is now; gone: it was deleted, or the owner may not read it any more; access: the owner may read less or other things than before, so ask again for what you keep, of the account that is named, or of all; no line says that the owner may read more; gap: to webhooks alone, changes before seq are not kept any more, so ask again for all that you keep; end: nothing more up to seq"`
		Code string `json:"code,omitempty" doc:"the post's, of post and gone"`
		Of   string `json:"of,omitempty" doc:"the account, of access"`
		Post *Post  `json:"post,omitempty"`
		// At is when the change was made.
		At *time.Time `json:"at,omitempty"`
	}
	// Reader is somebody for whom a program reads.
	Reader struct {
		// Viewer's session, if there is one, must hold.
		Viewer timelines.Viewer
		// WholeSite reads everything on the site, while the viewer is an administrator.
		WholeSite bool
		// Operator reads everything on the site, for whoever runs it. Viewer is not set.
		Operator bool
	}
	// Log makes the lines. It is safe for concurrent use.
	Log struct {
		rivers  *rivers.Store
		changes *changes.Store
		base    string
	}
)

// Open returns the log of a site at that address, without a slash at its end.
func Open(r *rivers.Store, c *changes.Store, base string) *Log { return &Log{r, c, base} }

// End is the line that says that there is nothing more up to a number.
func End(seq int64) Line { return Line{Seq: number(seq), Kind: "end"} }

// Read looks through at most limit changes after a number. It returns the lines of those that the reader may know of, and the
// number of the last change, or after if there is none. Errors: *changes.GoneError, timelines.ErrSignedOut.
func (l *Log) Read(ctx context.Context, by Reader, after int64, limit int) (found []Line, upTo int64, err error) {
	rows, err := l.changes.Read(ctx, after, limit)
	if err != nil || len(rows) == 0 {
		return nil, after, err
	}
	err = l.rivers.AtOneMoment(ctx, func() (at rivers.Moment, err error) {
		found, at, err = l.decide(ctx, by, rows)
		return at, err
	})
	return found, rows[len(rows)-1].Seq, err
}

// ReadOn is Read for a reader who cannot ask again for what it keeps: if changes are missing, a line of the kind gap says so,
// and those that are kept follow.
func (l *Log) ReadOn(ctx context.Context, by Reader, after int64, limit int) (found []Line, upTo int64, err error) {
	found, upTo, err = l.Read(ctx, by, after, limit)
	gone, ok := errors.AsType[*changes.GoneError](err)
	if !ok {
		return found, upTo, err
	}
	found, upTo, err = l.Read(ctx, by, gone.First, limit-1)
	return append([]Line{{Seq: number(gone.First), Kind: "gap"}}, found...), upTo, err
}

// decide makes lines of rows. It is the same as with pages: what the owner may not know has no line.
func (l *Log) decide(ctx context.Context, by Reader, rows []changes.Change) ([]Line, rivers.Moment, error) {
	var asked []rivers.AskedPost
	var levels []int64
	last := map[int64]int64{} // the last row of each post
	for _, c := range rows {
		switch c.Kind {
		case changes.Post:
			asked = append(asked, rivers.AskedPost{PostID: c.PostID, Version: c.Version, Places: c.Places})
			last[c.PostID] = c.Seq
		case changes.Level:
			levels = append(levels, c.TimelineID)
		}
	}
	now, err := l.rivers.Posts(ctx, by.Viewer, by.WholeSite || by.Operator, asked)
	if err == nil && by.WholeSite && now.Sets.Role != admin.Administrator {
		now, err = l.rivers.Posts(ctx, by.Viewer, false, asked)
	}
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	items := make([]rivers.Item, 0, len(now.Items))
	for _, it := range now.Items {
		items = append(items, it)
	}
	rendered, err := l.Posts(ctx, items)
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	posts := make(map[int64]*Post, len(items))
	for i, it := range items {
		posts[it.PostID] = &rendered[i]
	}
	gates, err := l.rivers.Access().Levels(ctx, levels)
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	var owners []int64
	for t := range gates.Timelines() {
		owners = append(owners, t.TheirID)
	}
	named, err := l.rivers.Access().Accounts(ctx, owners)
	if err != nil {
		return nil, rivers.Moment{}, err
	}
	var lines []Line
	for _, c := range rows {
		line := Line{Seq: number(c.Seq), ID: number(int64(c.Shard)) + ":" + number(c.ID), At: &c.MadeAt}
		switch c.Kind {
		case changes.Post:
			if p := posts[c.PostID]; p != nil {
				line.Kind, line.Code, line.Post = "post", p.Code, p
			} else if code, gone := now.Gone[c.PostID]; gone {
				line.Kind, line.Code = "gone", code
			} else {
				continue
			}
			if last[c.PostID] != c.Seq {
				continue // a later line of this answer says the same
			}
		case changes.Level:
			t, ok := gates.Timeline(c.TimelineID)
			if !ok || gates.Opens(now.Sets, t.ID) {
				continue
			}
			line.Kind = "access"
			if t.Kind != kinds.Subfeed { // whose names not everybody knows
				line.Of = named[t.TheirID].Name
			}
		case changes.Viewer:
			if c.AccountID != by.Viewer.AccountID {
				continue
			}
			line.Kind = "access"
		case changes.Unseen:
			line.Kind = "access"
		}
		lines = append(lines, line)
	}
	return lines, now.At, nil
}
