package photos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/sources/formats"
)

// Outcome is the result of trying a picture.
type Outcome struct {
	Photo
	// Problem is why the picture cannot be had; empty: it is there. Passes says that the problem may
	// pass, but not before After.
	Problem formats.Code
	Passes  bool
	After   time.Duration
	// Copy is the file of the same picture. If it is 0, the other fields describe the picture.
	Copy  int64
	Sum   blobs.Sum
	Bytes int64
	Made  files.Made
	// ETag and Modified are sent when the address is asked for again.
	ETag, Modified string
}

// mostProblems is how many problems of a load are stored in full, as in package sources.
const mostProblems = 10_000

// firstNo is the number of the first problem with a picture among those of its item.
const firstNo = 1000

// row is a waiting picture that was tried.
type row struct {
	ID, Load, Post, Line int64
	No                   int16
	Tries                int
	Text, URL, Key       string
	Title                string
	AddedBy              int64
}

// Record records the outcomes for pictures of a source. It leaves out pictures that do not wait any
// more, because their items have other pictures now. The caller passes the Change on to the tiers.
func (s *Store) Record(ctx context.Context, source int64, list []Outcome) (timelines.Change, error) {
	c, err := s.items.Change(ctx, func(tx pgx.Tx) (timelines.Change, error) {
		r := &recording{tx: tx, items: s.items, outcomes: map[int64]Outcome{}}
		var ids []int64
		for _, o := range list {
			r.outcomes[o.ID] = o
			ids = append(ids, o.ID)
		}
		return r.run(ctx, source, ids)
	})
	if err != nil {
		return c, fmt.Errorf("record pictures of source %d: %w", source, err)
	}
	return c, nil
}

// recording is one transaction of Record.
type recording struct {
	tx       pgx.Tx
	items    timelines.Items
	outcomes map[int64]Outcome
	rows     []row
	states   []state
	asked    []int64 // the posts that were to be opened
}

// state is the new state of a row.
type state struct {
	state string
	file  *int64
	next  time.Duration
	made  *string
}

func (r *recording) run(ctx context.Context, source int64, ids []int64) (timelines.Change, error) {
	var none timelines.Change
	// The order of locks is that of a batch: loads, posts, pictures.
	const loads = `
		SELECT FROM loads WHERE id = ANY(ARRAY(SELECT load_id FROM item_pictures WHERE id = ANY(@ids) AND source_id = @source))
		ORDER BY id FOR NO KEY UPDATE`
	args := pgx.StrictNamedArgs{"ids": ids, "source": source}
	if _, err := r.tx.Exec(ctx, loads, args); err != nil {
		return none, fmt.Errorf("lock loads: %w", err)
	}
	if err := r.read(ctx, args, ""); err != nil || len(r.rows) == 0 {
		return none, err
	}
	for _, g := range r.rows {
		if g.Post != 0 && r.outcomes[g.ID].Problem == "" {
			r.asked = append(r.asked, g.Post)
		}
	}
	x := r.items.Resume(r.tx, r.rows[0].AddedBy)
	open, err := x.Open(ctx, r.asked)
	if err != nil {
		return none, err
	}
	// The pictures are read again: a process that held the posts may have changed them.
	if err := r.read(ctx, args, ` FOR NO KEY UPDATE OF g`); err != nil || len(r.rows) == 0 {
		return none, err
	}
	if err := r.attach(ctx, x, open); err != nil {
		return none, err
	}
	if err := r.write(ctx); err != nil {
		return none, err
	}
	// A load may wait for these pictures.
	if slices.ContainsFunc(r.rows, func(g row) bool { return g.Post == 0 }) {
		if err := r.items.Ready(ctx, r.tx, source); err != nil {
			return none, err
		}
	}
	return x.End(ctx)
}

// read reads the waiting pictures.
func (r *recording) read(ctx context.Context, args pgx.StrictNamedArgs, lock string) error {
	const query = `
		SELECT g.id, coalesce(g.load_id, 0), coalesce(i.post_id, 0), g.line, g.no, g.tries, g.text, g.url, i.external_id,
			coalesce((SELECT left(split_part(p.body, E'\n', 1), 200) FROM posts p WHERE p.id = i.post_id), ''), s.added_by
		FROM item_pictures g JOIN source_items i ON i.id = g.item_id JOIN sources s ON s.id = g.source_id
		WHERE g.id = ANY(@ids) AND g.source_id = @source AND g.state = 'waiting'
		ORDER BY g.id`
	rows, err := r.tx.Query(ctx, query+lock, args)
	if err != nil {
		return fmt.Errorf("read pictures: %w", err)
	}
	if r.rows, err = pgx.CollectRows(rows, pgx.RowToStructByPos[row]); err != nil {
		return fmt.Errorf("read pictures: %w", err)
	}
	// After a restore of the primary store an id may be that of another picture.
	r.rows = slices.DeleteFunc(r.rows, func(g row) bool { return g.URL != r.outcomes[g.ID].URL })
	return nil
}

// attach attaches the pictures that are there, and sets the new state of all.
func (r *recording) attach(ctx context.Context, x *timelines.ItemsTx, open []int64) error {
	r.states = make([]state, len(r.rows))
	var list []timelines.ItemFile
	var at []int // in rows
	for i, g := range r.rows {
		o := r.outcomes[g.ID]
		switch {
		case o.Problem != "" && o.Passes && g.Tries < tries:
			r.states[i] = state{state: "waiting", next: max(o.After, again(g.Tries, rand.Float64()))}
		case o.Problem != "":
			r.states[i] = state{state: "failed"}
		case g.Post == 0:
			made, err := json.Marshal(stored{Copy: o.Copy, Sum: o.Sum, Bytes: o.Bytes, Made: o.Made})
			if err != nil {
				return fmt.Errorf("record a picture: %w", err)
			}
			text := string(made)
			r.states[i] = state{state: "made", made: &text}
		case !slices.Contains(r.asked, g.Post):
			r.states[i] = state{state: "waiting"} // its post came in this moment
		case !slices.Contains(open, g.Post):
			r.states[i] = state{state: "left"}
		default:
			at = append(at, i)
			list = append(list, timelines.ItemFile{
				PostID: g.Post, Position: int(g.No), Name: nameOf(g.URL), Alt: g.Text,
				Copy: o.Copy, Sum: o.Sum, Bytes: o.Bytes, Made: o.Made,
			})
		}
	}
	made, err := x.Attach(ctx, list)
	if err != nil {
		return err
	}
	for n, i := range at {
		switch {
		case made[n] != 0:
			r.states[i] = state{state: "there", file: &made[n]}
		case list[n].Copy != 0:
			r.states[i] = state{state: "waiting"} // the picture to be copied is gone, so this one is fetched
		default:
			r.states[i] = state{state: "left"}
		}
	}
	return nil
}

// nameOf returns a file name for the picture of an address.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return path.Base(u.Path)
}

// write writes the new states, and counts them for the loads.
func (r *recording) write(ctx context.Context) error {
	var (
		ids, lines, of, ofThere                                   []int64
		loads                                                     []int64
		filed                                                     []*int64
		mades                                                     []*string
		nexts                                                     []time.Duration
		nos                                                       []int16
		states, etags, modified, problems, codes, urls, keys, top []string
	)
	for i, g := range r.rows {
		o, s := r.outcomes[g.ID], r.states[i]
		ids, states, filed, nexts = append(ids, g.ID), append(states, s.state), append(filed, s.file), append(nexts, s.next)
		mades = append(mades, s.made)
		etags, modified, problems = append(etags, o.ETag), append(modified, o.Modified), append(problems, string(o.Problem))
		switch {
		case g.Load == 0:
		case s.state == "there":
			ofThere = append(ofThere, g.Load)
		case s.state == "failed":
			of, lines, nos = append(of, g.Load), append(lines, g.Line), append(nos, firstNo+g.No)
			codes, urls, keys, top = append(codes, string(o.Problem)), append(urls, g.URL), append(keys, g.Key), append(top, g.Title)
		}
		loads = append(loads, g.Load)
	}
	slices.Sort(loads)
	var all pgx.Batch
	all.Queue(`
		UPDATE item_pictures g SET state = n.state, file_id = n.file, next_at = now() + n.next, etag = n.etag, modified = n.modified,
			problem = n.problem, made = n.made::jsonb, load_id = CASE n.state WHEN 'waiting' THEN g.load_id END
		FROM unnest(@ids::bigint[], @states::text[], @files::bigint[], @nexts::interval[], @etags::text[], @modified::text[], @problems::text[], @mades::text[])
			AS n (id, state, file, next, etag, modified, problem, made)
		WHERE g.id = n.id`, pgx.StrictNamedArgs{
		"ids": ids, "states": states, "files": filed, "nexts": nexts, "etags": etags, "modified": modified, "problems": problems, "mades": mades,
	})
	all.Queue(`
		INSERT INTO load_problems (load_id, line, no, error, code, field, value, external_id, title)
		SELECT n.load, n.line, n.no, false, n.code, 'picture', n.url, n.key, n.title
		FROM unnest(@loads::bigint[], @lines::bigint[], @nos::smallint[], @codes::text[], @urls::text[], @keys::text[], @titles::text[])
			AS n (load, line, no, code, url, key, title)
		JOIN loads l ON l.id = n.load AND l.errors + l.warnings + l.picture_errors < @most
		ON CONFLICT DO NOTHING`, pgx.StrictNamedArgs{
		"loads": of, "lines": lines, "nos": nos, "codes": codes, "urls": urls, "keys": keys, "titles": top, "most": mostProblems,
	})
	all.Queue(`
		WITH failed AS (
			SELECT load, code, count(*) AS n FROM unnest(@failed::bigint[], @codes::text[]) AS f (load, code) GROUP BY load, code
		), there AS (
			SELECT load, count(*) AS n FROM unnest(@there::bigint[]) AS t (load) GROUP BY load
		)
		UPDATE loads l SET
			pictures = pictures + coalesce((SELECT t.n FROM there t WHERE t.load = l.id), 0),
			picture_errors = picture_errors + coalesce((SELECT sum(f.n) FROM failed f WHERE f.load = l.id), 0),
			codes = codes || coalesce((SELECT jsonb_object_agg(f.code, f.n + coalesce((l.codes ->> f.code)::bigint, 0)) FROM failed f WHERE f.load = l.id), '{}')
		WHERE l.id = ANY(@loads)`, pgx.StrictNamedArgs{"failed": of, "codes": codes, "there": ofThere, "loads": slices.Compact(loads)})
	if err := r.tx.SendBatch(ctx, &all).Close(); err != nil {
		return fmt.Errorf("record pictures: %w", err)
	}
	return nil
}
