package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// Account kinds.
const (
	User  = "user"
	Group = "group"
)

// Account is a user or a group.
type Account struct {
	ID        int64
	CreatedAt time.Time
	Kind      string // User or Group
	Name      string // unique, [a-z0-9-], 3 to 35
	Title     string // shown name
	About     string
	Language  string // chosen in the settings, or empty
	Picture   string // the code of its picture (files.Find), or empty
	// FeedID is the timeline of its own posts: feed of a user, group of a group.
	FeedID int64
	// Access is that timeline's level.
	Access Level
	// Writers says who may post to the group, or send messages to the user.
	Writers Writers
	// Approves: posts to the group wait until one of its administrators lets them in.
	Approves bool
	// ListingsIn is the currency that a group's form for listings proposes; empty: the group takes none.
	ListingsIn string
}

// accountColumns and accountTables make an Account: the account a with the timeline t of
// its own posts. The rule for writers stands in the timeline that their posts go to.
const (
	accountColumns = `a.id, a.created_at, a.kind, a.name, a.title, a.about, a.language, a.picture, a.listings_in, t.id AS feed_id, t.access, t.approves,
		(SELECT w.writers FROM timelines w WHERE w.their_id = a.id AND w.term = ''
			AND w.kind = CASE a.kind WHEN 'group' THEN 'group' ELSE 'directs' END) AS writers`
	accountTables = `accounts a JOIN timelines t ON t.their_id = a.id AND t.term = ''
		AND t.kind = CASE a.kind WHEN 'group' THEN 'group' ELSE 'feed' END`
)

// seen is true for an account a that is not unseen (package admin).
const seen = `NOT EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = a.id)`

// SignUp is a person who signs up.
type SignUp struct {
	Name     string
	Title    string // empty: the name
	Password string
	Language string // "en", "ru" or empty
	// RulesAgreed is the version of the site's rules that the person agreed to.
	RulesAgreed int
	Stranger    bool // signs up on the page: the limits of the first day hold (strangers.go)
}

// SignUp makes a user's account with its timelines. It returns an InvalidError or
// ErrNameTaken, or several of them joined, one for each fault.
func (s Accounts) SignUp(ctx context.Context, n SignUp) (Account, error) {
	a, _, err := s.SignUpBy(ctx, n, nil)
	return a, err
}

// Door decides in the transaction that makes an account whether it may be made, and does what goes
// with that. It returns what nodes must drop. Package doors has the one of the site.
type Door func(ctx context.Context, tx pgx.Tx, account Account) ([]Invalidation, error)

// SignUpBy is SignUp through a door, which is open if it is nil. An error of the door is returned as
// it is, and no account is made.
func (s Accounts) SignUpBy(ctx context.Context, n SignUp, door Door) (Account, Change, error) {
	if n.Title == "" {
		n.Title = n.Name
	}
	nameErr := checkName(n.Name)
	title, titleErr := cleanTitle(n.Title)
	if titleErr != nil && n.Title == n.Name && nameErr != nil {
		titleErr = nil // nobody typed it
	}
	if invalid := errors.Join(nameErr, checkPassword(n.Password, n.Name, title), titleErr, checkLanguage(n.Language)); invalid != nil {
		if nameErr != nil {
			return Account{}, Change{}, invalid
		}
		_, err := s.ByName(ctx, n.Name)
		switch {
		case err == nil:
			invalid = errors.Join(ErrNameTaken, invalid)
		case !errors.Is(err, ErrNotFound):
			return Account{}, Change{}, err
		}
		return Account{}, Change{}, invalid
	}
	hash, err := s.hashPassword(ctx, n.Password)
	if err != nil {
		return Account{}, Change{}, err
	}
	var made Account
	c, err := s.change(ctx, func(tx pgx.Tx) (Change, error) {
		id, err := insertAccountTx(ctx, tx, User, n.Name, title, "", n.Language)
		if err != nil {
			return Change{}, err
		}
		_, err = tx.Exec(ctx, `INSERT INTO credentials (account_id, password_hash) VALUES (@account, @hash)`,
			pgx.StrictNamedArgs{"account": id, "hash": hash})
		if err != nil {
			return Change{}, fmt.Errorf("store password: %w", err)
		}
		if n.Stranger {
			if err := s.beginFirstDayTx(ctx, tx, id); err != nil {
				return Change{}, err
			}
		}
		if n.RulesAgreed > 0 {
			_, err := tx.Exec(ctx, `UPDATE accounts SET rules_agreed = @version WHERE id = @account`,
				pgx.StrictNamedArgs{"account": id, "version": n.RulesAgreed})
			if err != nil {
				return Change{}, fmt.Errorf("note the agreement: %w", err)
			}
		}
		c := Change{Actor: id}
		if made, err = accountTx(ctx, tx, id); err != nil || door == nil {
			return c, err
		}
		drop, err := door(ctx, tx, made)
		if err == nil && len(drop) > 0 {
			c.Clock, err = tickTx(ctx, tx, drop...)
		}
		return c, err
	})
	if err != nil {
		return Account{}, Change{}, err
	}
	return made, c, nil
}

// insertAccountTx makes an account with its fixed timelines.
func insertAccountTx(ctx context.Context, tx pgx.Tx, kind, name, title, about, language string) (id int64, err error) {
	const query = `
		INSERT INTO accounts (kind, name, title, about, language)
		SELECT n.* FROM (VALUES (@kind::text, @name::text, @title::text, @about::text, @language::text)) AS n (kind, name, title, about, language)
		WHERE NOT ` + isLeft + `
		ON CONFLICT (name) DO NOTHING
		RETURNING id`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"kind": kind, "name": name, "title": title, "about": about, "language": language,
	}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNameTaken
	}
	if err != nil {
		return 0, fmt.Errorf("insert account: %w", err)
	}
	return id, insertTimelinesTx(ctx, tx, []int64{id})
}

// insertTimelinesTx creates the timelines that every account has (kinds.All), and lets each
// user read their own. The feed is the gate of all timelines that open with it.
func insertTimelinesTx(ctx context.Context, tx pgx.Tx, accounts []int64) error {
	// The ids are drawn first, because a timeline may be its own gate; the others have
	// the feed for a gate. A join would be quadratic where the planner takes an import of
	// thousands of accounts for one account.
	query := `
		WITH fixed (account_kind, kind, term, gate, private, writers, base) AS (VALUES ` + kinds.OfAccounts() + `
		), numbered AS MATERIALIZED (
			SELECT nextval((SELECT pg_get_serial_sequence('timelines', 'id'))) AS id,
				a.id AS account_id, f.*
			FROM accounts a JOIN fixed f ON f.account_kind = a.kind
			WHERE a.id = ANY(@accounts)
		), made AS (
			INSERT INTO timelines (id, kind, their_id, term, access, gate_id, writers, base)
			OVERRIDING SYSTEM VALUE
			SELECT id, kind, account_id, term, CASE WHEN private THEN 2 ELSE 0 END,
				CASE gate WHEN kind THEN id ELSE max(id) FILTER (WHERE kind = 'feed') OVER (PARTITION BY account_id) END,
				writers, base
			FROM numbered
		)
		INSERT INTO readers (timeline_id, account_id)
		SELECT id, account_id FROM numbered WHERE account_kind = 'user' AND gate = kind`
	if _, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"accounts": accounts}); err != nil {
		return fmt.Errorf("insert timelines: %w", err)
	}
	return nil
}

// ChangePassword sets a user's password, the first or a new one, and ends all sessions of
// the user: once the secondary store has Change.Clock, they are shown no page. The pages of later
// sessions tell of a new one. ErrNotFound if no user has the name.
func (s Accounts) ChangePassword(ctx context.Context, name, password string) (Change, error) {
	a, err := s.ByName(ctx, name)
	if err != nil {
		return Change{}, err
	}
	if err := checkPassword(password, a.Name, a.Title); err != nil {
		return Change{}, err
	}
	hash, err := s.hashPassword(ctx, password)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) { return s.storePasswordTx(ctx, tx, name, hash) })
}

// storePasswordTx ends the transaction of a new password.
func (s Accounts) storePasswordTx(ctx context.Context, tx pgx.Tx, name, hash string) (Change, error) {
	// The password comes first, which locks the row, and then the sessions in a statement
	// of their own. So a session begun just before with the old password is seen and ended.
	const query = `
		INSERT INTO credentials (account_id, password_hash)
		SELECT id, @hash FROM accounts WHERE name = @name AND kind = 'user'
		ON CONFLICT (account_id) DO UPDATE SET password_hash = EXCLUDED.password_hash, updated_at = now()
		RETURNING account_id, xmax = 0`
	var c Change
	var first bool // a row that is inserted has no xmax
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"name": name, "hash": hash}).Scan(&c.Actor, &first)
	if errors.Is(err, pgx.ErrNoRows) {
		return Change{}, ErrNotFound
	}
	if err != nil {
		return Change{}, fmt.Errorf("store password: %w", err)
	}
	ended, err := endSessionsTx(ctx, tx, c.Actor)
	if err != nil {
		return c, err
	}
	// The first password changed none: nobody has signed in before, who should look at it.
	if !first {
		const tell = `
			INSERT INTO account_events (account_id, at, kind)
			VALUES (@account, ` + clockMicros + `, 'password') ON CONFLICT DO NOTHING`
		if _, err := tx.Exec(ctx, tell, pgx.StrictNamedArgs{"account": c.Actor}); err != nil {
			return c, fmt.Errorf("tell of a new password: %w", err)
		}
	}
	c.Clock, err = tickTx(ctx, tx, append(ended, Invalidation{Kind: InvalidSets, AccountID: c.Actor})...)
	return c, err
}

// ByName returns the account of that name, or ErrNotFound.
func (s Accounts) ByName(ctx context.Context, name string) (Account, error) {
	if !nameForm.MatchString(name) {
		return Account{}, ErrNotFound
	}
	const query = `SELECT ` + accountColumns + ` FROM ` + accountTables + ` WHERE a.name = @name AND a.kind <> 'gone'`
	return oneAccount(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"name": name}))
}

// IDs returns the ids of the accounts with these names, in one statement. Names of nobody are left out.
func (s Accounts) IDs(ctx context.Context, names []string) (map[string]int64, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !nameForm.MatchString(name) })
	return byKey[string, int64](ctx, s.core, "ids of accounts", `SELECT name, id FROM accounts WHERE name = ANY(@keys) AND kind <> 'gone'`, names)
}

func accountTx(ctx context.Context, tx pgx.Tx, id int64) (Account, error) {
	const query = `SELECT ` + accountColumns + ` FROM ` + accountTables + ` WHERE a.id = @id`
	return oneAccount(tx.Query(ctx, query, pgx.StrictNamedArgs{"id": id}))
}

func oneAccount(rows pgx.Rows, err error) (Account, error) {
	if err != nil {
		return Account{}, fmt.Errorf("read account: %w", err)
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Account])
	if errors.Is(err, pgx.ErrNoRows) {
		return Account{}, ErrNotFound
	}
	if err != nil {
		return Account{}, fmt.Errorf("read account: %w", err)
	}
	return a, nil
}

func someAccounts(rows pgx.Rows, err error) ([]Account, error) {
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Account])
	if err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	return list, nil
}

// Named returns the accounts that have one of these names, by name.
func (s Accounts) Named(ctx context.Context, names []string) ([]Account, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !nameForm.MatchString(name) })
	const query = `SELECT ` + accountColumns + ` FROM ` + accountTables + ` WHERE a.name = ANY(@names) ORDER BY a.name`
	return someAccounts(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"names": names}))
}

// ByID returns the accounts of these ids that exist, by id.
func (s Accounts) ByID(ctx context.Context, ids []int64) ([]Account, error) {
	const query = `SELECT ` + accountColumns + ` FROM ` + accountTables + ` WHERE a.id = ANY(@ids) ORDER BY a.id`
	return someAccounts(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"ids": ids}))
}

// List returns at most limit accounts of a kind (User, Group, or empty
// for both), by name, those after the name given; an empty name is the
// beginning.
func (s Accounts) List(ctx context.Context, kind, after string, limit int) ([]Account, error) {
	const query = `
		SELECT ` + accountColumns + ` FROM ` + accountTables + `
		WHERE a.id = ANY(ARRAY(
			SELECT id FROM accounts
			WHERE (@kind = '' AND kind <> 'gone' OR kind = @kind) AND name > @after
			ORDER BY name LIMIT @limit))
		ORDER BY a.name`
	return someAccounts(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"kind": kind, "after": after, "limit": limit}))
}

// People returns the ids of at most limit people, in order, from the one after another on.
func (s Accounts) People(ctx context.Context, after int64, limit int) ([]int64, error) {
	const query = `SELECT id FROM accounts WHERE kind = @kind AND id > @after ORDER BY id LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"kind": User, "after": after, "limit": limit})
	return collectIDs(rows, err, "people")
}

// MostFollowed returns the ids of at most limit accounts of a kind, those that most people
// follow first.
func (s Accounts) MostFollowed(ctx context.Context, kind string, limit int) ([]int64, error) {
	const query = `
		SELECT a.id FROM (SELECT account_id, count(*) AS followers FROM subscriptions GROUP BY account_id) f
		JOIN accounts a ON a.id = f.account_id
		WHERE a.kind = @kind AND ` + seen + `
		ORDER BY f.followers DESC, a.id LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"kind": kind, "limit": limit})
	return collectIDs(rows, err, "accounts that many follow")
}

// How many of the people whom somebody follows, those followed last, are asked whom they follow,
// and how many answers of each count.
const (
	friendsAsked  = 50
	friendsFollow = 200
)

// FollowedByFriends returns the ids of at most limit accounts that the viewer does not follow,
// those first whom most of the people follow whom the viewer follows. It says nothing about who
// may know of that.
func (s Accounts) FollowedByFriends(ctx context.Context, viewer int64, limit int) ([]int64, error) {
	const query = `
		WITH friends AS (
			SELECT s.account_id FROM subscriptions s
			WHERE s.subscriber_id = @viewer AND NOT EXISTS (SELECT FROM bans b
				WHERE (b.account_id, b.banned_id) IN ((@viewer, s.account_id), (s.account_id, @viewer)))
			ORDER BY s.created_at DESC LIMIT @asked
		)
		SELECT a.id
		FROM ( -- counted first: the conditions are asked of the first accounts alone
			SELECT f.account_id AS id, count(*) AS friends
			FROM friends CROSS JOIN LATERAL (
				SELECT s.account_id FROM subscriptions s WHERE s.subscriber_id = friends.account_id LIMIT @answers) f
			GROUP BY f.account_id
			ORDER BY count(*) DESC, f.account_id OFFSET 0) a
		WHERE a.id <> @viewer AND ` + seen + ` AND NOT EXISTS (
			SELECT FROM subscriptions s WHERE s.subscriber_id = @viewer AND s.account_id = a.id)
		ORDER BY a.friends DESC, a.id LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{
		"viewer": viewer, "asked": friendsAsked, "answers": friendsFollow, "limit": limit,
	})
	return collectIDs(rows, err, "accounts that friends follow")
}

// Directory returns at most limit accounts of a kind by title, those after the account of the
// name given; an empty name is the beginning.
func (s Accounts) Directory(ctx context.Context, kind, after string, limit int) ([]Account, error) {
	const query = `
		SELECT ` + accountColumns + ` FROM ` + accountTables + `
		WHERE a.id = ANY(ARRAY(
			SELECT id FROM accounts a
			WHERE kind = @kind AND ` + seen + ` AND (lower(title), name) > (coalesce((SELECT lower(title) FROM accounts WHERE name = @after), ''), @after)
			ORDER BY lower(title), name LIMIT @limit))
		ORDER BY lower(a.title), a.name`
	return someAccounts(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"kind": kind, "after": after, "limit": limit}))
}

// accountsOf returns at most limit of the accounts whose ids a SELECT yields; @of is its
// only parameter. They come by name, after the name given; an empty name is the beginning.
func (s *core) accountsOf(ctx context.Context, ids string, of int64, after string, limit int) ([]Account, error) {
	query := `
		SELECT ` + accountColumns + ` FROM ` + accountTables + `
		WHERE a.id = ANY(ARRAY(
			SELECT a.id FROM (` + ids + `) AS i (id) JOIN accounts a ON a.id = i.id
			WHERE a.name > @after AND ` + seen + `
			ORDER BY a.name LIMIT @limit))
		ORDER BY a.name`
	return someAccounts(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"of": of, "after": after, "limit": limit}))
}

// SetFriendsOnly sets the mode of the actor's home feed and lists for addresses that name
// none: only posts of accounts followed, or also posts that these like and comment on. It
// changes no river: each mode has its own.
func (s Accounts) SetFriendsOnly(ctx context.Context, actor int64, only bool) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		const query = `UPDATE accounts SET friends_only = @only WHERE id = @actor AND friends_only <> @only`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"actor": actor, "only": only})
		if err != nil {
			return Change{}, fmt.Errorf("change account: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		return s.replaceTx(ctx, tx, actor)
	})
}

// SetProfile changes the actor's title and description, and the language of the actor's
// pages; an empty language leaves it to the browser. Nodes keep accounts in memory. The
// access clock makes them drop this one, so that my own next page has the change.
func (s Accounts) SetProfile(ctx context.Context, actor int64, title, about, language string) (Change, error) {
	title, titleErr := cleanTitle(title)
	about, aboutErr := cleanAbout(about)
	if err := errors.Join(titleErr, aboutErr, checkLanguage(language)); err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		const query = `UPDATE accounts SET title = @title, about = @about, language = @language WHERE id = @actor`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"actor": actor, "title": title, "about": about, "language": language})
		if err != nil {
			return Change{}, fmt.Errorf("change account: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return Change{}, ErrNotFound
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: actor})
		return Change{Actor: actor, Clock: clock}, err
	})
}
