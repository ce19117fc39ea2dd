package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// List is a further home feed of one account (source: 000, "additional friend feeds"): a
// page with the activity of some of the accounts it follows. Nobody else knows of it, and
// it grants no rights. Its members leave it when the subscription ends.
type List struct {
	ID      int64   `json:"id"`
	Slug    string  `json:"slug"` // of its address, [a-z0-9-], 1 to 35; never changes
	Title   string  `json:"title"`
	Members []int64 `json:"members"` // accounts, sorted
}

// Includes reports whether the account is in the list.
func (l List) Includes(account int64) bool {
	_, in := slices.BinarySearch(l.Members, account)
	return in
}

// MaxLists is how many lists an account may have.
const MaxLists = 50

// listRivers are the rivers of some of the viewer's lists, in both modes and
// orders.
func listRivers(viewer int64, lists ...int64) Replace {
	return Replace{ViewerID: viewer, Kinds: []string{RiverList}, TheirIDs: lists}
}

// NewList is a list about to be made.
type NewList struct {
	Actor int64
	Title string
	Slug  string // empty: made from the title
}

// Create makes an empty list. It returns an InvalidError if the title or the
// slug is malformed or another of the actor's lists has it, or if there are
// MaxLists already.
func (s Lists) Create(ctx context.Context, n NewList) (List, Change, error) {
	title, err := cleanTitle(n.Title)
	if err != nil {
		return List{}, Change{}, err
	}
	if n.Slug != "" && !slugForm.MatchString(n.Slug) {
		return List{}, Change{}, &InvalidError{Field: "slug", Code: "slug_format"}
	}
	var made List
	c, err := s.change(ctx, func(tx pgx.Tx) (Change, error) {
		lists, err := lockListsTx(ctx, tx, n.Actor)
		if err != nil {
			return Change{}, err
		}
		made = List{Slug: n.Slug, Title: title, Members: []int64{}}
		switch {
		case len(lists) >= MaxLists:
			return Change{}, &InvalidError{Field: "title", Code: "lists_many"}
		case slices.ContainsFunc(lists, func(l List) bool { return l.Title == title }):
			return Change{}, &InvalidError{Field: "title", Code: "list_taken", Value: title}
		case n.Slug == "":
			made.Slug = freeSlug(title, lists)
		case slices.ContainsFunc(lists, func(l List) bool { return l.Slug == n.Slug }):
			return Change{}, &InvalidError{Field: "slug", Code: "slug_taken", Value: n.Slug}
		}
		const query = `
			INSERT INTO lists (account_id, slug, title) VALUES (@actor, @slug, @title) RETURNING id`
		err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"actor": n.Actor, "slug": made.Slug, "title": title}).Scan(&made.ID)
		if err != nil {
			return Change{}, fmt.Errorf("make list: %w", err)
		}
		return s.replaceTx(ctx, tx, n.Actor)
	})
	if err != nil {
		return List{}, Change{}, err
	}
	return made, c, nil
}

// Edit gives a list a title and exactly these members, by name. ErrNotFound if the
// actor has no such list; an InvalidError if the title is malformed or that of another
// list, or if the actor does not follow one of the members.
func (s Lists) Edit(ctx context.Context, actor int64, slug, title string, members []string) (Change, error) {
	title, err := cleanTitle(title)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		lists, err := lockListsTx(ctx, tx, actor)
		if err != nil {
			return Change{}, err
		}
		list, ok := listOf(lists, slug)
		if !ok {
			return Change{}, ErrNotFound
		}
		if slices.ContainsFunc(lists, func(l List) bool { return l.Title == title && l.ID != list.ID }) {
			return Change{}, &InvalidError{Field: "title", Code: "list_taken", Value: title}
		}
		accounts, err := lockFollowedTx(ctx, tx, actor, members)
		if err != nil {
			return Change{}, err
		}
		changed, err := setMembersTx(ctx, tx, list.ID, actor, accounts)
		if err != nil {
			return Change{}, err
		}
		if title != list.Title {
			_, err := tx.Exec(ctx, `UPDATE lists SET title = @title WHERE id = @list`,
				pgx.StrictNamedArgs{"list": list.ID, "title": title})
			if err != nil {
				return Change{}, fmt.Errorf("rename list: %w", err)
			}
		}
		switch {
		case changed:
			return s.replaceTx(ctx, tx, actor, listRivers(actor, list.ID))
		case title != list.Title:
			return s.replaceTx(ctx, tx, actor)
		}
		return s.acknowledgeTx(ctx, tx, Change{Actor: actor, Replace: []Replace{listRivers(actor, list.ID)}})
	})
}

// Delete deletes a list; subscriptions to its members stay. ErrNotFound if the
// actor has no list of that slug.
func (s Lists) Delete(ctx context.Context, actor int64, slug string) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		lists, err := lockListsTx(ctx, tx, actor)
		if err != nil {
			return Change{}, err
		}
		list, ok := listOf(lists, slug)
		if !ok {
			return Change{}, ErrNotFound
		}
		if _, err := tx.Exec(ctx, `DELETE FROM lists WHERE id = @list`, pgx.StrictNamedArgs{"list": list.ID}); err != nil {
			return Change{}, fmt.Errorf("delete list: %w", err)
		}
		return s.replaceTx(ctx, tx, actor, listRivers(actor, list.ID))
	})
}

// Place sets where the actor reads an account that they follow: in the home feed or not,
// and in exactly these lists, by slug. Posts of an account that is kept out of the home
// feed still come there through other accounts, as a stranger's do. ErrNotFound if there
// is no such account or the actor does not follow it; an InvalidError if there is no such
// list.
func (s Lists) Place(ctx context.Context, actor int64, name string, inHome bool, slugs []string) (Change, error) {
	if !nameForm.MatchString(name) {
		return Change{}, ErrNotFound
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		lists, err := lockListsTx(ctx, tx, actor)
		if err != nil {
			return Change{}, err
		}
		wanted := make([]int64, len(slugs))
		for i, slug := range slugs {
			list, ok := listOf(lists, slug)
			if !ok {
				return Change{}, &InvalidError{Field: "lists", Code: "list_unknown"}
			}
			wanted[i] = list.ID
		}
		const lock = `
			SELECT s.account_id, s.in_home
			FROM subscriptions s JOIN accounts a ON a.id = s.account_id
			WHERE s.subscriber_id = @actor AND a.name = @name
			FOR NO KEY UPDATE OF s`
		var account int64
		var was bool
		err = tx.QueryRow(ctx, lock, pgx.StrictNamedArgs{"actor": actor, "name": name}).Scan(&account, &was)
		if errors.Is(err, pgx.ErrNoRows) {
			return Change{}, ErrNotFound
		}
		if err != nil {
			return Change{}, fmt.Errorf("lock subscription: %w", err)
		}
		changed, err := setListsTx(ctx, tx, actor, account, wanted)
		if err != nil {
			return Change{}, err
		}
		var replaced []Replace
		if was != inHome {
			const query = `
				UPDATE subscriptions SET in_home = @in_home WHERE subscriber_id = @actor AND account_id = @account`
			_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"actor": actor, "account": account, "in_home": inHome})
			if err != nil {
				return Change{}, fmt.Errorf("set home: %w", err)
			}
			replaced = append(replaced, myHome(actor)...)
		}
		if len(changed) > 0 {
			replaced = append(replaced, listRivers(actor, changed...))
		}
		if len(replaced) == 0 {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor, Replace: myFeeds(actor)})
		}
		return s.replaceTx(ctx, tx, actor, replaced...)
	})
}

// lockListsTx returns the actor's lists, without their members, and keeps other
// transactions from changing them: titles, slugs and their number are checked against
// these.
func lockListsTx(ctx context.Context, tx pgx.Tx, actor int64) ([]List, error) {
	_, err := tx.Exec(ctx, `SELECT FROM accounts WHERE id = @actor FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"actor": actor})
	if err != nil {
		return nil, fmt.Errorf("lock lists: %w", err)
	}
	rows, err := tx.Query(ctx, `SELECT id, slug, title FROM lists WHERE account_id = @actor`, pgx.StrictNamedArgs{"actor": actor})
	if err != nil {
		return nil, fmt.Errorf("read lists: %w", err)
	}
	lists, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[List])
	if err != nil {
		return nil, fmt.Errorf("read lists: %w", err)
	}
	return lists, nil
}

func listOf(lists []List, slug string) (List, bool) {
	i := slices.IndexFunc(lists, func(l List) bool { return l.Slug == slug })
	if i < 0 {
		return List{}, false
	}
	return lists[i], true
}

// lockFollowedTx returns the accounts of these names. The actor follows all of them
// until the end of the transaction.
func lockFollowedTx(ctx context.Context, tx pgx.Tx, actor int64, names []string) ([]int64, error) {
	const query = `
		SELECT a.name, s.account_id
		FROM subscriptions s JOIN accounts a ON a.id = s.account_id
		WHERE s.subscriber_id = @actor AND a.name = ANY(@names)
		ORDER BY s.account_id FOR KEY SHARE OF s`
	for _, name := range names {
		if !nameForm.MatchString(name) {
			return nil, &InvalidError{Field: "members", Code: "member_unknown"}
		}
	}
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"actor": actor, "names": names})
	if err != nil {
		return nil, fmt.Errorf("lock subscriptions: %w", err)
	}
	found := make(map[string]int64, len(names))
	var name string
	var id int64
	if _, err = pgx.ForEachRow(rows, []any{&name, &id}, func() error { found[name] = id; return nil }); err != nil {
		return nil, fmt.Errorf("lock subscriptions: %w", err)
	}
	accounts := make([]int64, 0, len(found))
	for _, name := range names {
		id, ok := found[name]
		if !ok {
			return nil, &InvalidError{Field: "members", Code: "member_unknown", Value: name}
		}
		accounts = append(accounts, id)
	}
	return accounts, nil
}

// setMembersTx makes these accounts, whose subscriptions are locked, the list's members,
// and reports whether that changed anything.
func setMembersTx(ctx context.Context, tx pgx.Tx, list, actor int64, accounts []int64) (changed bool, err error) {
	const query = `
		WITH gone AS (
			DELETE FROM list_members WHERE list_id = @list AND account_id <> ALL(@accounts::bigint[])
			RETURNING account_id
		), come AS (
			INSERT INTO list_members (list_id, subscriber_id, account_id)
			SELECT @list, @actor, a FROM (SELECT DISTINCT unnest(@accounts::bigint[]) AS a) w ORDER BY a
			ON CONFLICT DO NOTHING
			RETURNING account_id
		)
		SELECT EXISTS (SELECT FROM gone) OR EXISTS (SELECT FROM come)`
	args := pgx.StrictNamedArgs{"list": list, "actor": actor, "accounts": accounts}
	if err := tx.QueryRow(ctx, query, args).Scan(&changed); err != nil {
		return false, fmt.Errorf("set members: %w", err)
	}
	return changed, nil
}

// setListsTx puts an account, whose subscription is locked, into exactly these
// lists, and returns those it entered or left.
func setListsTx(ctx context.Context, tx pgx.Tx, actor, account int64, lists []int64) ([]int64, error) {
	const query = `
		WITH gone AS (
			DELETE FROM list_members
			WHERE subscriber_id = @actor AND account_id = @account AND list_id <> ALL(@lists::bigint[])
			RETURNING list_id
		), come AS (
			INSERT INTO list_members (list_id, subscriber_id, account_id)
			SELECT l, @actor, @account FROM (SELECT DISTINCT unnest(@lists::bigint[]) AS l) w ORDER BY l
			ON CONFLICT DO NOTHING
			RETURNING list_id
		)
		SELECT list_id FROM gone UNION SELECT list_id FROM come ORDER BY 1`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"actor": actor, "account": account, "lists": lists})
	return collectIDs(rows, err, "changed lists")
}

// maxSlug is slugForm's longest.
const maxSlug = 35

// freeSlug makes a slug from a title; it is none of these lists'.
func freeSlug(title string, lists []List) string {
	base := slugOf(title)
	slug := base
	for n := 2; ; n++ {
		if _, taken := listOf(lists, slug); !taken {
			return slug
		}
		suffix := "-" + strconv.Itoa(n)
		slug = strings.TrimRight(base[:min(len(base), maxSlug-len(suffix))], "-") + suffix
	}
}

// slugOf returns a title in the form of a slug: Latin and Russian letters and digits stay,
// anything else becomes a hyphen; "list" if nothing is left.
func slugOf(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		latin, russian := cyrillic[r]
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case russian:
			b.WriteString(latin)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := b.String()
	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	if slug == "" {
		return "list"
	}
	return slug
}

// cyrillic has the Latin letters for each Russian one.
var cyrillic = map[rune]string{
	'а': "a", 'б': "b", 'в': "v", 'г': "g", 'д': "d", 'е': "e", 'ё': "e", 'ж': "zh", 'з': "z", 'и': "i", 'й': "i",
	'к': "k", 'л': "l", 'м': "m", 'н': "n", 'о': "o", 'п': "p", 'р': "r", 'с': "s", 'т': "t", 'у': "u", 'ф': "f",
	'х': "kh", 'ц': "ts", 'ч': "ch", 'ш': "sh", 'щ': "sch", 'ъ': "", 'ы': "y", 'ь': "", 'э': "e", 'ю': "yu", 'я': "ya",
}
