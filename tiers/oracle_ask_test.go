package tiers_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type pair struct{ a, b int64 }

type account struct {
	ID   int64
	Kind string
	Name string
}

type timeline struct {
	ID      int64
	TheirID int64
	GateID  *int64
	Access  int16
	Kind    string
	Term    string
}

type post struct {
	ID        int64
	Version   int64
	AuthorID  int64
	FreshAt   int64
	CreatedAt time.Time
	EditedAt  *time.Time
	DeletedAt *time.Time
	Public    bool
	Code      string
	Body      string
	Lang      string
	Decisive  []int64
	State     string // of a listing
	Price     *int64
	Currency  string
}

type entry struct {
	TimelineID, PostID, EnteredAt, FreshAt int64
	Withdrawn                              bool
}

type remark struct {
	ID, PostID, AuthorID int64
	CreatedAt            time.Time
	EditedAt, DeletedAt  *time.Time
	Body                 string
}

type like struct {
	PostID, AccountID int64
	CreatedAt         time.Time
}

// ask reads the primary store as it stands at one instant.
func ask(ctx context.Context, pool *pgxpool.Pool) (*oracle, error) {
	o := &oracle{
		accounts: map[int64]account{}, timelines: map[int64]timeline{},
		readers: map[pair]bool{}, excluded: map[pair]bool{}, follows: map[pair]bool{},
		outOfHome: map[pair]bool{}, owners: map[int64]int64{}, listed: map[pair]bool{},
		posts: map[int64]post{}, entries: map[pair]entry{}, comments: map[int64][]remark{}, remarks: map[int64][]remark{}, likes: map[int64][]like{},
		faves: map[pair]bool{}, approvals: map[int64][]int64{}, sight: newSight(),
	}
	opts := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, pool, opts, func(tx pgx.Tx) error {
		each := func(err error, query string, dest []any, fn func()) error {
			if err != nil {
				return err
			}
			rows, err := tx.Query(ctx, query)
			if err != nil {
				return err
			}
			_, err = pgx.ForEachRow(rows, dest, func() error { fn(); return nil })
			return err
		}
		var a account
		err := each(nil, `SELECT id, kind, name FROM accounts`, []any{&a.ID, &a.Kind, &a.Name}, func() { o.accounts[a.ID] = a })
		var t timeline
		err = each(err, `SELECT id, their_id, gate_id, access, kind, term FROM timelines`,
			[]any{&t.ID, &t.TheirID, &t.GateID, &t.Access, &t.Kind, &t.Term}, func() { o.timelines[t.ID] = t })
		var p pair
		err = each(err, `SELECT timeline_id, account_id FROM readers`, []any{&p.a, &p.b}, func() { o.readers[p] = true })
		err = each(err, `SELECT timeline_id, account_id FROM excluded`, []any{&p.a, &p.b}, func() { o.excluded[p] = true })
		err = each(err, `SELECT subscriber_id, account_id FROM subscriptions`, []any{&p.a, &p.b}, func() { o.follows[p] = true })
		err = each(err, `SELECT subscriber_id, account_id FROM subscriptions WHERE NOT in_home`, []any{&p.a, &p.b}, func() { o.outOfHome[p] = true })
		err = each(err, `SELECT id, account_id FROM lists`, []any{&p.a, &p.b}, func() { o.owners[p.a] = p.b })
		err = each(err, `SELECT list_id, account_id FROM list_members`, []any{&p.a, &p.b}, func() { o.listed[p] = true })
		var x post
		err = each(err, `SELECT id, version, author_id, fresh_at, created_at, edited_at, deleted_at,
				is_public, code, body, lang, decisive, coalesce(l.state, ''), l.price, coalesce(l.currency, '')
				FROM posts LEFT JOIN listings l ON l.post_id = id`,
			[]any{
				&x.ID, &x.Version, &x.AuthorID, &x.FreshAt, &x.CreatedAt, &x.EditedAt, &x.DeletedAt,
				&x.Public, &x.Code, &x.Body, &x.Lang, &x.Decisive, &x.State, &x.Price, &x.Currency,
			}, func() { o.posts[x.ID] = x })
		var e entry
		err = each(err, `SELECT timeline_id, post_id, entered_at, fresh_at, withdrawn FROM timeline_entries`,
			[]any{&e.TimelineID, &e.PostID, &e.EnteredAt, &e.FreshAt, &e.Withdrawn},
			func() { o.entries[pair{e.TimelineID, e.PostID}] = e })
		var c remark
		err = each(err, `SELECT id, post_id, author_id, created_at, edited_at, deleted_at, body FROM comments`,
			[]any{&c.ID, &c.PostID, &c.AuthorID, &c.CreatedAt, &c.EditedAt, &c.DeletedAt, &c.Body}, func() {
				o.remarks[c.PostID] = append(o.remarks[c.PostID], c)
				if c.DeletedAt == nil {
					o.comments[c.PostID] = append(o.comments[c.PostID], c)
				}
			})
		err = each(err, `SELECT post_id, account_id FROM faves`, []any{&p.a, &p.b}, func() { o.faves[p] = true })
		err = each(err, `SELECT comment_id, account_id FROM comment_likes ORDER BY created_at DESC, account_id DESC`,
			[]any{&p.a, &p.b}, func() { o.approvals[p.a] = append(o.approvals[p.a], p.b) })
		err = o.sight.read(err, each)
		var l like
		return each(err, `SELECT post_id, account_id, created_at FROM likes`,
			[]any{&l.PostID, &l.AccountID, &l.CreatedAt}, func() { o.likes[l.PostID] = append(o.likes[l.PostID], l) })
	})
	if err != nil {
		return nil, fmt.Errorf("ask the oracle: %w", err)
	}
	for _, list := range o.comments {
		slices.SortFunc(list, func(a, b remark) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	}
	for _, list := range o.likes {
		slices.SortFunc(list, func(a, b like) int {
			return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.AccountID, a.AccountID))
		})
	}
	return o, nil
}
