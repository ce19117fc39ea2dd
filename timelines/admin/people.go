package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Person is an account as the staff see it.
type Person struct {
	ID        int64
	Name      string
	Title     string
	Picture   string
	CreatedAt time.Time
	Role      Role
	// SignsIn: the account has a password. Those that came by import have none.
	SignsIn bool
	// Suspended is when a suspension was made, nil if there is none.
	Suspended *time.Time
	Ends      *time.Time // of the suspension; nil: never
	Reason    string
	Hidden    bool // only the staff see the person
}

// Account is the person as pages name them.
func (p Person) Account() timelines.Account {
	return timelines.Account{ID: p.ID, Kind: timelines.User, Name: p.Name, Title: p.Title, Picture: p.Picture}
}

const personColumns = `
	a.id, a.name, a.title, a.picture, a.created_at, coalesce(s.role, '') AS role,
	EXISTS (SELECT FROM credentials c WHERE c.account_id = a.id) AS signs_in,
	p.created_at AS suspended, p.ends_at AS ends, coalesce(p.reason, '') AS reason,
	EXISTS (SELECT FROM unseen_accounts u WHERE u.account_id = a.id) AS hidden`

const personTables = `accounts a LEFT JOIN staff s ON s.account_id = a.id LEFT JOIN suspensions p ON p.account_id = a.id`

// Filter is which people a list has.
type Filter string

// The filters.
const (
	Everybody Filter = ""
	Suspended Filter = "suspended"
	OfStaff   Filter = "staff"
	Newest    Filter = "new"
)

// Filters are all of them, in the order of the page.
var Filters = []Filter{Everybody, Newest, Suspended, OfStaff}

// People returns at most limit people that a filter lets through: the newest first, the others by
// name. after is the name of the last one before; an empty one is the beginning. A filter that is not
// known lets everybody through.
func (s *Store) People(ctx context.Context, which Filter, after string, limit int) ([]Person, error) {
	if !timelines.IsName(after) {
		after = ""
	}
	query := `SELECT ` + personColumns + ` FROM ` + personTables + `
		WHERE a.kind = 'user' AND a.name > @after ORDER BY a.name LIMIT @limit`
	switch which {
	case Suspended:
		query = `SELECT ` + personColumns + ` FROM suspensions p JOIN accounts a ON a.id = p.account_id LEFT JOIN staff s ON s.account_id = a.id
			WHERE a.name > @after ORDER BY a.name LIMIT @limit`
	case OfStaff:
		query = `SELECT ` + personColumns + ` FROM staff s JOIN accounts a ON a.id = s.account_id LEFT JOIN suspensions p ON p.account_id = a.id
			WHERE a.name > @after ORDER BY a.name LIMIT @limit`
	case Newest: // ids are in the order in which accounts were made
		query = `SELECT ` + personColumns + ` FROM ` + personTables + `
			WHERE a.kind = 'user' AND (@after = '' OR a.id < (SELECT id FROM accounts WHERE name = @after)) ORDER BY a.id DESC LIMIT @limit`
	}
	return s.people(ctx, query, pgx.StrictNamedArgs{"after": after, "limit": limit})
}

// maxMet is how many of the people that a text finds are read to show the first.
const maxMet = 1000

// Find returns at most limit people, by name: each word of the text begins a word of their name or
// title.
func (s *Store) Find(ctx context.Context, text string, limit int) ([]Person, error) {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(text), "ё", "е"), func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M)
	})
	if len(words) == 0 || !utf8.ValidString(text) {
		return nil, nil
	}
	for i, word := range words {
		words[i] = "'" + word + "':*"
	}
	return s.people(ctx, `
		WITH met AS (
			SELECT id FROM accounts WHERE account_lexemes(name, title) @@ @prefixes::text::tsquery LIMIT @met
		)
		SELECT `+personColumns+` FROM met JOIN accounts a ON a.id = met.id LEFT JOIN staff s ON s.account_id = a.id LEFT JOIN suspensions p ON p.account_id = a.id
		WHERE a.kind = 'user' ORDER BY a.name LIMIT @limit`,
		pgx.StrictNamedArgs{"prefixes": strings.Join(words, "&"), "met": maxMet, "limit": limit})
}

// Person returns the person of that name, or timelines.ErrNotFound.
func (s *Store) Person(ctx context.Context, name string) (Person, error) {
	if !timelines.IsName(name) {
		return Person{}, timelines.ErrNotFound
	}
	rows, err := s.timelines.Pool().Query(ctx, `SELECT `+personColumns+` FROM `+personTables+` WHERE a.name = @name AND a.kind = 'user'`,
		pgx.StrictNamedArgs{"name": name})
	if err != nil {
		return Person{}, fmt.Errorf("read person: %w", err)
	}
	p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Person])
	if errors.Is(err, pgx.ErrNoRows) {
		return Person{}, timelines.ErrNotFound
	}
	if err != nil {
		return Person{}, fmt.Errorf("read person: %w", err)
	}
	return p, nil
}

func (s *Store) people(ctx context.Context, query string, args pgx.StrictNamedArgs) ([]Person, error) {
	rows, err := s.timelines.Pool().Query(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("read people: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Person])
	if err != nil {
		return nil, fmt.Errorf("read people: %w", err)
	}
	return list, nil
}
