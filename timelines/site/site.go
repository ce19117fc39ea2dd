// Package site has what a host says of the whole site: its name, its rules, its doors. It is one
// row of the primary store, which each node keeps in memory (access.Cache.Site) and follows by the
// access clock: a site that closes is closed on every node when the change is acknowledged.
package site

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
)

// SignUp says who may sign up.
type SignUp string

// The values of SignUp.
const (
	OpenToAll    SignUp = "open"
	ByInvitation SignUp = "invitation"
	ByApproval   SignUp = "approval" // everybody asks, and the staff answer
	Closed       SignUp = "closed"
)

// SignUps are all of them, the widest first.
var SignUps = []SignUp{OpenToAll, ByApproval, ByInvitation, Closed}

// DefaultName is how a site is called that has no name.
const DefaultName = "riverrun"

// Longest texts, in characters; the table's constraints have the same.
const (
	maxName    = 60
	maxMark    = 2 // as they look; see signs
	maxLine    = 200
	maxText    = 20_000
	maxVersion = 1 << 30
)

// Site is what the host says of the site.
type Site struct {
	Name         string // empty: DefaultName
	Mark         string // a sign or two that stand for the site; empty: riverrun's picture
	Purpose      string // one line
	About, Rules string // in the small Markdown of posts
	// RulesVersion is raised when people have to agree to the rules again; 0: never set.
	RulesVersion int
	Contact      string // an address of mail or of a page, or empty
	Language     string // of pages whose reader has chosen none: "en", "ru"; empty: the browser's
	Indexed      bool   // search engines may list public pages
	// SignUp and Private are nil where the configuration decides.
	SignUp  *SignUp `db:"signup"`
	Private *bool
	// Shut: nothing is shown without signing in, as Private or the configuration says. access.Cache.Site
	// sets it.
	Shut bool `db:"-"`
}

// Title is how the site is called.
func (s Site) Title() string {
	if s.Name == "" {
		return DefaultName
	}
	return s.Name
}

// Asks returns the version of the rules that people have to agree to, 0 if there are none.
func (s Site) Asks() int {
	if s.Rules == "" {
		return 0
	}
	return s.RulesVersion
}

// Unlisted reports whether search engines may list no page.
func (s Site) Unlisted() bool { return !s.Indexed || s.Shut }

// SetRules changes the rules. Everybody has to agree to them if they are the first, or again says so.
func (s *Site) SetRules(rules string, again bool) {
	rules = strings.TrimSpace(rules)
	if rules != "" && (s.Rules == "" || again) {
		s.RulesVersion++
	}
	s.Rules = rules
}

// Read returns the settings.
func Read(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
},
) (Site, error) {
	const query = `SELECT name, mark, purpose, about, rules, rules_version, contact, language, indexed, signup, private FROM site`
	rows, err := db.Query(ctx, query)
	if err != nil {
		return Site{}, fmt.Errorf("read site: %w", err)
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Site])
	if err != nil {
		return Site{}, fmt.Errorf("read site: %w", err)
	}
	return s, nil
}

// Store changes the settings. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the settings in that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Set changes the settings as change says. by must be an administrator, else ErrForbidden. The
// audit log gets the fields that changed. It may show less to somebody, so the change has a clock.
func (s *Store) Set(ctx context.Context, by admin.By, change func(*Site)) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		if by, err = admin.RequireTx(ctx, tx, by, admin.Administrator); err != nil {
			return c, nil, err
		}
		// Two changes at once: the second sees what the first made.
		if _, err := tx.Exec(ctx, `SELECT FROM site FOR UPDATE`); err != nil {
			return c, nil, fmt.Errorf("lock site: %w", err)
		}
		was, err := Read(ctx, tx)
		if err != nil {
			return c, nil, err
		}
		now := was
		change(&now)
		if err := now.clean(); err != nil {
			return c, nil, err
		}
		changed := now.differences(was)
		if len(changed) == 0 {
			return c, nil, nil
		}
		const query = `
			UPDATE site SET name = @name, mark = @mark, purpose = @purpose, about = @about, rules = @rules, rules_version = @version,
				contact = @contact, language = @language, indexed = @indexed, signup = @signup, private = @private, updated_at = now()`
		_, err = tx.Exec(ctx, query, pgx.StrictNamedArgs{
			"name": now.Name, "mark": now.Mark, "purpose": now.Purpose, "about": now.About, "rules": now.Rules, "version": now.RulesVersion,
			"contact": now.Contact, "language": now.Language, "indexed": now.Indexed, "signup": now.SignUp, "private": now.Private,
		})
		if err != nil {
			return c, nil, fmt.Errorf("change site: %w", err)
		}
		drop = []timelines.Invalidation{{Kind: timelines.InvalidSite}}
		if now.RulesVersion > was.RulesVersion && !by.CommandLine() {
			// Nobody has to agree to what they have just written.
			if _, err := agreeTx(ctx, tx, by.AccountID, now.RulesVersion); err != nil {
				return c, nil, err
			}
			drop = append(drop, timelines.Invalidation{Kind: timelines.InvalidSets, AccountID: by.AccountID})
		}
		if err := admin.RecordTx(ctx, tx, by, admin.Act{Kind: admin.SetSite, Detail: strings.Join(changed, ", ")}); err != nil {
			return c, nil, err
		}
		return c, drop, nil
	})
}

// Agree notes that a person has agreed to that version of the rules. To agree again, or to an older
// version, changes nothing.
func (s *Store) Agree(ctx context.Context, account int64, version int) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (timelines.Change, []timelines.Invalidation, error) {
		c := timelines.Change{Actor: account}
		changed, err := agreeTx(ctx, tx, account, version)
		if err != nil || !changed {
			return c, nil, err
		}
		return c, []timelines.Invalidation{{Kind: timelines.InvalidSets, AccountID: account}}, nil
	})
}

func agreeTx(ctx context.Context, tx pgx.Tx, account int64, version int) (changed bool, err error) {
	tag, err := tx.Exec(ctx, `UPDATE accounts SET rules_agreed = @version WHERE id = @account AND rules_agreed < @version`,
		pgx.StrictNamedArgs{"account": account, "version": version})
	if err != nil {
		return false, fmt.Errorf("agree to the rules: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// clean trims the texts and checks them all; the errors are InvalidErrors, whose fields are those of
// the form.
func (s *Site) clean() error {
	for _, f := range []struct {
		field string
		text  *string
		most  int
		lines bool
	}{
		{"name", &s.Name, maxName, false},
		{"purpose", &s.Purpose, maxLine, false},
		{"contact", &s.Contact, maxLine, false},
		{"about", &s.About, maxText, true},
		{"rules", &s.Rules, maxText, true},
	} {
		*f.text = strings.TrimSpace(strings.ReplaceAll(*f.text, "\r\n", "\n"))
		switch {
		case !utf8.ValidString(*f.text), strings.ContainsRune(*f.text, 0), !f.lines && strings.ContainsAny(*f.text, "\n\r"):
			return &timelines.InvalidError{Field: f.field, Code: "text_invalid"}
		case utf8.RuneCountInString(*f.text) > f.most:
			return &timelines.InvalidError{Field: f.field, Code: "site_long", Most: f.most}
		}
	}
	if s.Mark = strings.TrimSpace(s.Mark); !isMark(s.Mark) {
		return &timelines.InvalidError{Field: "mark", Code: "mark_long"}
	}
	if s.Contact != "" && !isContact(s.Contact) {
		return &timelines.InvalidError{Field: "contact", Code: "contact_format"}
	}
	if s.Language != "" && s.Language != "en" && s.Language != "ru" {
		return &timelines.InvalidError{Field: "language", Code: "language_unknown"}
	}
	if s.SignUp != nil && !s.SignUp.known() {
		return &timelines.InvalidError{Field: "signup", Code: "signup_unknown"}
	}
	if s.RulesVersion < 0 || s.RulesVersion > maxVersion {
		return &timelines.InvalidError{Field: "rules", Code: "text_invalid"}
	}
	return nil
}

func (d SignUp) known() bool { return slices.Contains(SignUps, d) }

// ParseSignUp returns the value of a setting, or false.
func ParseSignUp(text string) (SignUp, bool) { return SignUp(text), SignUp(text).known() }

// isMark reports whether a text is a sign or two. An emoji is one sign, however many characters it is
// made of.
func isMark(text string) bool {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 16 {
		return false
	}
	n, ok := signs(text)
	return ok && n <= maxMark
}

// WideMark reports whether the mark is two signs.
func (s Site) WideMark() bool {
	n, _ := signs(s.Mark)
	return n > 1
}

// signs counts the signs of a text as they look. It returns false if something in it cannot be seen.
func signs(text string) (n int, ok bool) {
	flags, joined := 0, false
	for _, r := range text {
		const joiner = '\u200d'
		switch {
		case r == joiner:
			joined = true
			continue
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), r >= 0x1F3FB && r <= 0x1F3FF, r >= 0xE0020 && r <= 0xE007F:
			// It changes the sign before it: an accent, the colour of a skin, the letters of a flag.
		case r >= 0x1F1E6 && r <= 0x1F1FF:
			flags++ // two make one
		case !unicode.IsGraphic(r), unicode.IsSpace(r):
			return 0, false
		case !joined:
			n++
		}
		joined = false
	}
	return n + (flags+1)/2, true
}

// isContact reports whether a text is the address of a page or of mail.
func isContact(text string) bool {
	if name, host, ok := strings.Cut(text, "@"); ok && name != "" && strings.Contains(host, ".") {
		return !strings.ContainsAny(text, " /:<>\"?&#%")
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

// differences are the fields that changed, short ones with their new values.
func (s Site) differences(was Site) (changed []string) {
	add := func(differ bool, text string) {
		if differ {
			changed = append(changed, text)
		}
	}
	add(s.Name != was.Name, "name "+s.Name)
	add(s.Mark != was.Mark, "mark "+s.Mark)
	add(s.Purpose != was.Purpose, "purpose")
	add(s.About != was.About, "about")
	add(s.Rules != was.Rules, "rules")
	add(s.RulesVersion != was.RulesVersion, fmt.Sprint("rules_version ", s.RulesVersion))
	add(s.Contact != was.Contact, "contact "+s.Contact)
	add(s.Language != was.Language, "language "+s.Language)
	add(s.Indexed != was.Indexed, fmt.Sprint("indexed ", s.Indexed))
	add(set(s.SignUp) != set(was.SignUp), "signup "+set(s.SignUp))
	add(set(s.Private) != set(was.Private), "private "+set(s.Private))
	return changed
}

// set says what is set, "as configured" if nothing is.
func set[T any](value *T) string {
	if value == nil {
		return "as configured"
	}
	return fmt.Sprint(*value)
}
