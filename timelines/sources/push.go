package sources

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
)

// The results of items that were pushed (F24).
const (
	ResultAdded    = "added"
	ResultChanged  = "changed"
	ResultSame     = "same"
	ResultSkipped  = "skipped"  // its post was edited or deleted here, or shows nothing of the change
	ResultRejected = "rejected" // the item is wrong: see its codes
)

// Result says what happened to one item of a batch.
type Result struct {
	ID     string         `json:"id"`
	Result string         `json:"result" enum:"added,changed,same,skipped,rejected"`
	Codes  []formats.Code `json:"codes,omitempty" doc:"what is wrong with the item"`
	// Post is the address of the item's post, if somebody asked for it (PushItems: its code); empty:
	// no post.
	Post string `json:"post,omitempty" doc:"the address of the item's post, in the answer to items of no load"`
}

// Batch is a batch of items that a program pushed.
type Batch struct {
	// No counts the batches of a load from 1, in any order.
	No int64
	// Asked is a hash of the batch as it came: the same number with other items is another request.
	Asked [32]byte
	// Lines are at most MostItems. If an id came in an earlier batch of the load, this is a newer form
	// of that item.
	Lines []*formats.Line
}

// pushed gathers what happens to the items of a batch. It is nil if nobody asks.
type pushed struct {
	batch   Batch
	results []Result
	// single says that the items are no list: each of them is news.
	single bool
}

func (p *pushed) became(i int, id, result string, it *formats.Item) {
	if p == nil {
		return
	}
	r := Result{ID: id, Result: result}
	if it != nil {
		for _, problem := range it.Problems {
			r.Codes = append(r.Codes, problem.Code)
		}
	}
	p.results[i] = r
}

func (p *pushed) warned(i int, code formats.Code) {
	if p != nil {
		p.results[i].Codes = append(p.results[i].Codes, code)
	}
}

func (p *pushed) changed(id string) {
	if p == nil {
		return
	}
	for i, r := range p.results {
		if r.ID == id && r.Result == ResultSkipped {
			p.results[i].Result = ResultChanged
		}
	}
}

func (p *pushed) queue(all *pgx.Batch, load int64) error {
	if p == nil {
		return nil
	}
	results, err := json.Marshal(p.results)
	if err != nil {
		return fmt.Errorf("results of a batch: %w", err)
	}
	all.Queue(`INSERT INTO load_batches (load_id, no, items, asked, results) VALUES (@load, @no, @items, @asked, @results)`,
		pgx.StrictNamedArgs{"load": load, "no": p.batch.No, "items": len(p.results), "asked": p.batch.Asked[:], "results": string(results)})
	return nil
}

// Receive begins a load whose batches are pushed, and returns it. If the source was still receiving
// another load, that one is cancelled: its program began anew.
func (s *Store) Receive(ctx context.Context, source int64) (Load, error) {
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Load, error) {
		const query = `
			WITH numbered AS (
				UPDATE sources SET loads = loads + 1 WHERE id = @source AND status = 'active' RETURNING id, loads, version, settings
			), cancelled AS (
				UPDATE loads l SET state = 'cancelled', finished_at = now(), updated_at = now()
				FROM numbered n WHERE l.source_id = n.id AND l.state IN ('receiving', 'held')
			)
			INSERT INTO loads (source_id, no, version, way, state, settings, items)
			SELECT id, loads, version, 'push', 'receiving', settings, (SELECT count(*) FROM source_items i WHERE i.source_id = n.id) FROM numbered n
			RETURNING ` + loadColumns
		return scanLoad(tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"source": source}))
	})
}

// Push applies a batch, and returns what happened to its items. A batch that came before gets the
// same answer again (F25). Push returns ErrStale if the load is not being received any more, and
// these InvalidErrors: "batch_number", "batch_large", "source_paused", "batch_used" for a number that
// had other items, "items_many" if the source would have more items than it may.
func (w *Work) Push(ctx context.Context, no int64, b Batch) ([]Result, timelines.Change, error) {
	switch {
	case b.No < 1:
		return nil, timelines.Change{}, &timelines.InvalidError{Field: "batch", Code: "batch_number"}
	case len(b.Lines) > MostItems:
		return nil, timelines.Change{}, &timelines.InvalidError{Field: "batch", Code: "batch_large", Most: MostItems}
	}
	l, err := loadOf(ctx, w.conn, w.source, no)
	if err != nil {
		return nil, timelines.Change{}, err
	}
	var asked, results []byte
	err = w.conn.QueryRow(ctx, `SELECT asked, results FROM load_batches WHERE load_id = @load AND no = @no`,
		pgx.StrictNamedArgs{"load": l.ID, "no": b.No}).Scan(&asked, &results)
	switch {
	case err == nil && !bytes.Equal(asked, b.Asked[:]):
		return nil, timelines.Change{}, &timelines.InvalidError{Field: "batch", Code: "batch_used"}
	case err == nil:
		var before []Result
		if err := json.Unmarshal(results, &before); err != nil {
			return nil, timelines.Change{}, fmt.Errorf("results of a batch: %w", err)
		}
		return before, timelines.Change{}, nil
	case !errors.Is(err, pgx.ErrNoRows):
		return nil, timelines.Change{}, fmt.Errorf("find a batch: %w", err)
	case l.State != Receiving:
		return nil, timelines.Change{}, ErrStale
	}
	p := &pushed{batch: b, results: make([]Result, len(b.Lines))}
	c, err := w.apply(ctx, &l, b.Lines, p)
	if errors.Is(err, errItemsMany) {
		err = &timelines.InvalidError{Field: "batch", Code: string(formats.ItemsMany), Most: w.store.limits.Items}
	}
	return p.results, c, err
}

// EndPush ends a load with this number of batches (F22). Absent items are looked for next. A load
// that has ended this way stays as it is. EndPush returns ErrStale if the load was cancelled, and
// these InvalidErrors: "batches_missing", whose Value lists the first batches that did not come, as
// JSON, and "batches_more" if others came.
func (s *Store) EndPush(ctx context.Context, source, no, batches int64) error {
	_, err := inTx(ctx, s.pool, func(tx pgx.Tx) (struct{}, error) {
		var none struct{}
		l, err := scanLoad(tx.QueryRow(ctx, `SELECT `+loadColumns+` FROM loads WHERE source_id = @source AND no = @no FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"source": source, "no": no}))
		if err != nil {
			return none, err
		}
		if l.File != nil || l.State == Cancelled || l.State == Failed {
			return none, ErrStale
		}
		rows, err := tx.Query(ctx, `
			SELECT n FROM generate_series(1::bigint, least(@batches, 20 + (SELECT count(*) FROM load_batches WHERE load_id = @load))) n
			WHERE NOT EXISTS (SELECT FROM load_batches b WHERE b.load_id = @load AND b.no = n) ORDER BY n LIMIT 20`,
			pgx.StrictNamedArgs{"load": l.ID, "batches": batches})
		if err != nil {
			return none, fmt.Errorf("find missing batches: %w", err)
		}
		missing, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return none, fmt.Errorf("find missing batches: %w", err)
		}
		if len(missing) > 0 {
			list, err := json.Marshal(missing)
			if err != nil {
				return none, fmt.Errorf("find missing batches: %w", err)
			}
			return none, &timelines.InvalidError{Field: "batches", Code: "batches_missing", Value: string(list)}
		}
		var more bool
		err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM load_batches WHERE load_id = @load AND no > @batches)`,
			pgx.StrictNamedArgs{"load": l.ID, "batches": batches}).Scan(&more)
		if err != nil {
			return none, fmt.Errorf("find missing batches: %w", err)
		}
		if more {
			return none, &timelines.InvalidError{Field: "batches", Code: "batches_more"}
		}
		if l.State != Receiving {
			return none, nil
		}
		_, err = tx.Exec(ctx, `UPDATE loads SET state = 'finishing', lines = cursor, updated_at = now() WHERE id = @load`,
			pgx.StrictNamedArgs{"load": l.ID})
		if err != nil {
			return none, fmt.Errorf("end a push: %w", err)
		}
		return none, s.posts.Items.Ready(ctx, tx, source)
	})
	return err
}

// Results calls each with the results of a load's batches, in the order of their numbers, beginning
// behind the batch after.
func (s *Store) Results(ctx context.Context, load, after int64, each func(batch int64, results []Result) error) error {
	for more := true; more; {
		rows, err := s.pool.Query(ctx, `SELECT no, results FROM load_batches WHERE load_id = @load AND no > @after ORDER BY no LIMIT 20`,
			pgx.StrictNamedArgs{"load": load, "after": after})
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
		type row struct {
			No      int64
			Results []byte
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
		for _, r := range slices.Clip(list) {
			var results []Result
			if err := json.Unmarshal(r.Results, &results); err != nil {
				return fmt.Errorf("read results: %w", err)
			}
			if err := each(r.No, results); err != nil {
				return err
			}
			after = r.No
		}
		more = len(list) == 20
	}
	return nil
}
