package rivers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/markup"
	"riverrun/timelines/snapshot"
)

// These bound how much a fold shows. A body of up to bodyKeep characters in up to
// bodyKeepLines lines is shown whole. A longer one is cut at a word near bodyCut, or at the
// end of line bodyCutLines if that comes first, so that "more" always opens something worth
// opening. On a phone's narrow lines that many characters fill about that many lines.
const (
	bodyCut       = 1200
	bodyCutLines  = 30
	bodyKeep      = 1600
	bodyKeepLines = 40

	commentCut       = 700
	commentCutLines  = 18
	commentKeep      = 900
	commentKeepLines = 24
)

// foldDepth is how much of a post a fold carries; fullDepth, how much a full fold does.
func (s *Store) foldDepth() snapshot.Depth {
	return snapshot.Depth{
		BodyRunes: bodyKeep, BodyLines: bodyKeepLines, CommentRunes: commentKeep, CommentLines: commentKeepLines,
		First: 1, Last: 2, Recent: MaxRecent, People: s.people,
	}
}

func (s *Store) fullDepth() snapshot.Depth {
	const all = 1 << 30
	return snapshot.Depth{BodyRunes: all, BodyLines: all, CommentRunes: all, CommentLines: all, First: all, Marks: true, People: s.people}
}

// foldOf makes the fold of a post.
func foldOf(c *snapshot.Content) *Fold {
	f := &Fold{PostID: c.PostID, Version: c.Version, Deleted: c.Deleted, Decisive: c.Decisive}
	f.Text.Code = c.Code
	f.Likes.IDs, f.Comments.IDs, f.Comments.Shown, f.Attached = []int64{}, []int64{}, []Comment{}, []Attachment{}
	if c.Marked != nil {
		f.Comments.Marks = []Mark{}
	}
	if f.Decisive == nil {
		f.Decisive = []int64{}
	}
	if c.Deleted {
		return f
	}
	f.Text = Text{
		Code: c.Code, Author: c.AuthorID, Body: c.Body, Cut: c.BodyCut, Markup: c.Markup,
		CreatedAt: c.CreatedAt, EditedAt: c.EditedAt, Via: c.Via, ViaURL: c.ViaURL, Place: c.Place, Card: (*Card)(c.Card),
		Listing: (*Listing)(c.Listing), Held: Held(c.Held),
	}
	if c.BodyCut {
		f.Text.Body = cutText(c.Body, bodyCut, bodyCutLines, c.Markup)
	}
	f.Likes.Total = c.Likes
	f.Likes.IDs = append(f.Likes.IDs, c.LikerIDs...)
	f.Faves = c.Faves
	f.Comments.Total = c.Comments
	f.Comments.IDs = append(f.Comments.IDs, c.CommenterIDs...)
	f.Comments.EditedAt, f.Comments.FoldedLikes, f.Comments.Likers = c.CommentsEditedAt, c.FoldedLikes, c.FoldedLikerIDs
	if len(c.FoldedAuthorIDs) > 0 {
		f.Comments.Folded = c.FoldedAuthorIDs
	}
	for _, s := range c.Shown {
		body := s.Body
		if s.BodyCut {
			body = cutText(body, commentCut, commentCutLines, s.Markup)
		}
		f.Comments.Shown = append(f.Comments.Shown, Comment{
			ID: s.ID, Author: s.AuthorID, Body: body, Cut: s.BodyCut, Markup: s.Markup,
			CreatedAt: s.CreatedAt, EditedAt: s.EditedAt, Via: s.Via,
			Likes: LikesFold{Total: s.Likes, IDs: s.LikerIDs}, Marks: s.Marks, Attached: attachments(s.Attached),
		})
	}
	for _, r := range c.Recent {
		f.Comments.Recent = append(f.Comments.Recent, RecentComment(r))
	}
	for _, m := range c.Marked {
		f.Comments.Marks = append(f.Comments.Marks, Mark(m))
	}
	f.Attached = append(f.Attached, attachments(c.Attached)...)
	return f
}

func attachments(list []snapshot.Attached) []Attachment {
	var made []Attachment
	for _, a := range list {
		made = append(made, Attachment(a))
	}
	return made
}

// cutText cuts a text after this many lines, and then, if it is still too long, at the last
// space before n characters. For a text with markup, s is longer than the text that
// remains.
func cutText(s string, n, lines int, withMarkup bool) string {
	s = firstPart(s, n, lines)
	if withMarkup {
		return markup.CloseSpoiler(s)
	}
	return s
}

func firstPart(s string, n, lines int) string {
	s = snapshot.FirstLines(s, lines)
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	end := n
	for i := n; i > n*3/4; i-- {
		if unicode.IsSpace(runes[i]) {
			end = i
			break
		}
	}
	return strings.TrimRightFunc(string(runes[:end]), unicode.IsSpace)
}

// foldColumns are the columns of Fold's fields, besides the key: by their db tags, and by
// their names in JSON.
const foldColumns = `version, deleted, decisive, text_folded, likes_folded, faves, comments_folded, attachments_folded`

var setFolds = `(` + foldColumns + `) = ROW (excluded.` + strings.ReplaceAll(foldColumns, ", ", ", excluded.") + `)`

// writeFolds writes the folds of foldArgs, in key order. A fold
// is written only if its version is greater, so that nothing true only of an older version
// replaces what is shown.
var writeFolds = `
		INSERT INTO folds (post_id, ` + foldColumns + `)
		SELECT post_id, ` + foldColumns + ` FROM jsonb_populate_recordset(NULL::folds, @folds::jsonb)
		WHERE clock_timestamp() < @deadline AND ` + inEpoch + `
		ORDER BY post_id
		ON CONFLICT (post_id) DO UPDATE SET
			` + setFolds + `, updated_at = clock_timestamp(), written = excluded.written
		WHERE excluded.version > folds.version AND clock_timestamp() < @deadline
		RETURNING 1`

// foldArgs adds the argument of writeFolds.
func foldArgs(args pgx.StrictNamedArgs, folds []*Fold) error {
	folds = append(make([]*Fold, 0, len(folds)), folds...) // never null
	slices.SortFunc(folds, func(a, b *Fold) int { return cmp.Compare(a.PostID, b.PostID) })
	doc, err := json.Marshal(folds)
	if err != nil {
		return fmt.Errorf("encode folds: %w", err)
	}
	args["folds"] = string(doc)
	return nil
}

// loadFolds returns the folds of these posts, at least at these versions. It takes them
// from memory, or else with one statement from the store, or else it folds again from the
// primary store: a missing or outdated fold is never a reason to leave a row out.
// math.MaxInt64 asks for folding again, whatever there is. read reports whether it asked a store,
// which may be of another epoch by then.
func (s *Store) loadFolds(ctx context.Context, epoch int64, want map[int64]int64) (found map[int64]*Fold, read bool, err error) {
	found = make(map[int64]*Fold, len(want))
	var missing []int64
	for id, version := range want {
		if f := s.folds.get(epoch, id, version, false); f != nil {
			found[id] = f
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return found, false, nil
	}
	stored, err := s.readFolds(ctx, missing)
	if err != nil {
		return nil, false, err
	}
	var lost []int64
	for _, id := range missing {
		f := stored[id]
		if f == nil || f.Version < want[id] {
			lost = append(lost, id)
			continue
		}
		f.Epoch = epoch
		s.folds.put(f, false)
		found[id] = f
	}
	if len(lost) == 0 {
		return found, true, nil
	}
	again, err := s.foldAgain(ctx, lost)
	if err != nil {
		return nil, false, err
	}
	for id, f := range again {
		found[id] = f
	}
	return found, true, nil
}

// stamps returns the versions of the folds that the store has of these posts.
func (s *Store) stamps(ctx context.Context, posts []int64) (map[int64]int64, error) {
	b := &pgx.Batch{}
	stamps := queueStamps(b, posts)
	if err := s.db.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read stamps of folds: %w", err)
	}
	return stamps, nil
}

// queueStamps adds the statement of stamps to a batch, which fills the map.
func queueStamps(b *pgx.Batch, posts []int64) map[int64]int64 {
	stamps := make(map[int64]int64, len(posts))
	b.Queue(`SELECT post_id, version FROM folds WHERE post_id = ANY(@posts)`, pgx.StrictNamedArgs{"posts": posts}).
		Query(func(rows pgx.Rows) error {
			var id, version int64
			_, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error {
				stamps[id] = version
				return nil
			})
			return err
		})
	return stamps
}

func (s *Store) readFolds(ctx context.Context, posts []int64) (map[int64]*Fold, error) {
	const query = `SELECT post_id, ` + foldColumns + ` FROM folds WHERE post_id = ANY(@posts)`
	stored, err := collect(ctx, s, "read folds", query, pgx.StrictNamedArgs{"posts": posts}, pgx.RowToAddrOfStructByName[Fold])
	found := make(map[int64]*Fold, len(stored))
	for _, f := range stored {
		found[f.PostID] = f
	}
	return found, err
}

// foldAgain folds posts from the primary store and stores the result.
func (s *Store) foldAgain(ctx context.Context, posts []int64) (map[int64]*Fold, error) {
	for {
		asof, err := s.now(ctx)
		if err != nil {
			return nil, err
		}
		var contents map[int64]*snapshot.Content
		err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
			contents, err = sn.Contents(ctx, posts, s.foldDepth())
			return err
		})
		if err != nil {
			return nil, err
		}
		found := make(map[int64]*Fold, len(contents))
		folds := make([]*Fold, 0, len(contents))
		for id, c := range contents {
			f := foldOf(c)
			f.Epoch = asof.epoch
			found[id] = f
			folds = append(folds, f)
		}
		inTime, err := s.write(ctx, nil, folds, asof)
		if err != nil {
			return nil, err
		}
		if inTime {
			for _, f := range folds {
				s.folds.put(f, false)
			}
			return found, nil
		}
	}
}

// fullFolds returns posts unfolded, each at least at a version, without those gone from the
// primary store. They are kept in memory only: after each change of a post its next visitor
// costs one statement to the primary store, and open pages of many posts cost one together. read
// reports whether it took that statement.
func (s *Store) fullFolds(ctx context.Context, epoch int64, want map[int64]int64) (found map[int64]*Fold, read bool, err error) {
	found = make(map[int64]*Fold, len(want))
	var missing []int64
	for id, version := range want {
		if f := s.folds.get(epoch, id, version, true); f != nil {
			found[id] = f
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return found, false, nil
	}
	var contents map[int64]*snapshot.Content
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		contents, err = sn.Contents(ctx, missing, s.fullDepth())
		return err
	})
	if err != nil {
		return nil, false, err
	}
	for id, c := range contents {
		f := foldOf(c)
		f.Epoch = epoch
		s.folds.put(f, true)
		found[id] = f
	}
	return found, true, nil
}
