package sources

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/rules"
	"riverrun/timelines/sources/formats"
)

// Bounds of sources.
const (
	maxTitleRunes = 100
	maxURLBytes   = 2048
)

// Way is how the bytes of a source arrive.
type Way string

const (
	Link Way = "link" // fetched again and again
	File Way = "file" // uploaded
	Push Way = "push" // sent by a program, with the source's token
)

// New is a source about to be added.
type New struct {
	// Owner is the name of the actor, or of a group that the actor administers.
	Owner string
	// Slug names one of the person's sub-feeds; empty: the person's feed.
	Slug string
	Way  Way
	// URL is the address of a Link, in any form that people write (formats.Address).
	URL string
	// Title is shown with each post; empty: the feed's own, once it is known.
	Title  string
	Format formats.Format
	Mode   Mode // empty: as usual for the format
	// Settings are those it begins with; its titles are links in any case (Rules.LinkedTitle).
	Settings Settings
	// Origin is the partner that adds the source, if any, and shows the errors of items itself (F26).
	Origin string
}

// Add adds a source. It returns timelines.ErrNotFound if the actor may not know of the owner,
// timelines.ErrForbidden if the actor does not administer the owner, and these InvalidErrors:
// "url_invalid", "source_twice" for an address that the owner has, "source_many", "title_long",
// "settings_invalid", "rules_invalid", "to_unknown" for the slug or for a group of the rules.
func (s *Store) Add(ctx context.Context, actor int64, n New) (Source, error) {
	if err := n.check(); err != nil {
		return Source{}, err
	}
	for {
		source, err := s.add(ctx, actor, n)
		if !errors.Is(err, errCodeTaken) {
			return source, err
		}
	}
}

// errCodeTaken says that a random code is taken already.
var errCodeTaken = errors.New("the code is taken")

func (s *Store) add(ctx context.Context, actor int64, n New) (Source, error) {
	n.Settings.Rules.LinkedTitle = true
	settings, err := json.Marshal(n.Settings)
	if err != nil {
		return Source{}, fmt.Errorf("add a source: %w", err)
	}
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Source, error) {
		// The owner's row is locked, so that two sources of one owner are not added at once past the
		// limit.
		owner, err := ownerTx(ctx, tx, actor, n.Owner)
		if err != nil {
			return Source{}, err
		}
		if n.Slug != "" {
			if err := hasSlugTx(ctx, tx, owner, n.Slug); err != nil {
				return Source{}, err
			}
		}
		if err := n.Settings.Rules.checkGroupsTx(ctx, tx, owner); err != nil {
			return Source{}, err
		}
		if err := s.roomTx(ctx, tx, owner, n.URL, "url"); err != nil {
			return Source{}, err
		}
		const insert = `
			INSERT INTO sources (owner_id, added_by, code, way, mode, format, slug, title, url, settings, origin, errors_visible, titled, next_at)
			VALUES (@owner, @actor, @code, @way, @mode, @format, @slug, @title, @url, @settings, @origin, @origin = '', @titled,
				CASE @way WHEN 'link' THEN now() END)
			ON CONFLICT (code) DO NOTHING
			RETURNING ` + sourceColumns
		source, err := scanSource(tx.QueryRow(ctx, insert, pgx.StrictNamedArgs{
			"owner": owner, "actor": actor, "code": timelines.NewCode(), "way": n.Way, "mode": n.mode(), "format": n.Format,
			"slug": n.Slug, "title": n.title(), "url": n.URL, "settings": settings, "origin": n.Origin, "titled": n.Title != "",
		}))
		if errors.Is(err, ErrNotFound) {
			return Source{}, errCodeTaken
		}
		if err != nil || n.Way != Link {
			return source, err
		}
		return source, s.posts.Items.Due(ctx, tx, source.ID, false)
	})
}

// roomTx checks that the owner, whose row is locked, has room for one more source, and has no source
// with that address. field is the field of the error.
func (s *Store) roomTx(ctx context.Context, tx pgx.Tx, owner int64, url, field string) error {
	var have int
	var twice bool
	const count = `SELECT count(*), coalesce(bool_or(url = @url), false) AND @url <> '' FROM sources WHERE owner_id = @owner`
	if err := tx.QueryRow(ctx, count, pgx.StrictNamedArgs{"owner": owner, "url": url}).Scan(&have, &twice); err != nil {
		return fmt.Errorf("count sources: %w", err)
	}
	switch {
	case twice:
		return &timelines.InvalidError{Field: field, Code: "source_twice"}
	case have >= s.limits.Sources:
		return &timelines.InvalidError{Field: field, Code: "source_many", Most: s.limits.Sources}
	}
	return nil
}

func (n *New) check() error {
	n.URL, n.Title, n.Settings = formats.Address(n.URL), strings.TrimSpace(n.Title), n.Settings.canonical()
	switch {
	case !slices.Contains([]Way{Link, File, Push}, n.Way):
		return &timelines.InvalidError{Field: "way", Code: "way_unknown"}
	case n.Mode != "" && n.Mode != Append && n.Mode != Sync:
		return &timelines.InvalidError{Field: "mode", Code: "mode_unknown"}
	case n.Format != "" && !slices.Contains(formats.Formats, n.Format):
		return &timelines.InvalidError{Field: "format", Code: "format_unknown"}
	case utf8.RuneCountInString(n.Title) > maxTitleRunes || utf8.RuneCountInString(n.Origin) > maxTitleRunes:
		return &timelines.InvalidError{Field: "title", Code: "title_long", Most: maxTitleRunes}
	case !utf8.ValidString(n.Title) || strings.ContainsRune(n.Title, 0):
		return &timelines.InvalidError{Field: "title", Code: "title_invalid"}
	}
	if n.Way == Link {
		if err := checkURL(n.URL); err != nil {
			return err
		}
	} else {
		n.URL = ""
	}
	return n.Settings.check()
}

// checkURL checks that an address can be one of the web. Whether this site may connect to it is
// decided when it does (package fetch).
func checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxURLBytes || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return &timelines.InvalidError{Field: "url", Code: "url_invalid"}
	}
	return nil
}

func (s Settings) check() error {
	if !slices.Contains([]string{"", Delete, KeepDiscussed, Keep}, s.Gone) || s.MostGone < 0 || s.MostGone > 100 {
		return &timelines.InvalidError{Field: "settings", Code: "settings_invalid"}
	}
	return s.Rules.check()
}

// mode returns the mode that was asked for, or the usual one of the format. A link whose format is
// not known yet is a window, and so is the source of a program, so that nothing is removed by mistake.
func (n *New) mode() Mode {
	switch {
	case n.Mode != "":
		return n.Mode
	case n.Format.Sync():
		return Sync
	}
	return Append
}

// title is never empty: until the feed says its own title, it is the address.
func (n *New) title() string {
	title := n.Title
	if title == "" {
		if u, err := url.Parse(n.URL); err == nil {
			title = strings.TrimPrefix(u.Hostname(), "www.")
		}
	}
	if title == "" {
		title = string(n.Way)
	}
	return cut(title)
}

// cut is as much of a text as a title may have.
func cut(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), maxTitleRunes)])
}

// ownerTx locks the account with that name, and checks that it is the actor, or a group that the
// actor administers.
func ownerTx(ctx context.Context, tx pgx.Tx, actor int64, name string) (int64, error) {
	return owner(ctx, tx, ` FOR NO KEY UPDATE OF a`, actor, name)
}

func owner(ctx context.Context, db interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, lock string, actor int64, name string,
) (int64, error) {
	const query = `
		SELECT a.id, a.id = @actor OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = a.id AND g.account_id = @actor)
		FROM accounts a WHERE a.name = @name`
	var id int64
	var leads bool
	err := db.QueryRow(ctx, query+lock, pgx.StrictNamedArgs{"actor": actor, "name": name}).Scan(&id, &leads)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, timelines.ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("find the owner of a source: %w", err)
	case !leads:
		return 0, timelines.ErrForbidden
	}
	return id, nil
}

func hasSlugTx(ctx context.Context, tx pgx.Tx, owner int64, slug string) error {
	var there bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM timelines WHERE kind = 'subfeed' AND their_id = @owner AND term = @slug)`,
		pgx.StrictNamedArgs{"owner": owner, "slug": slug}).Scan(&there)
	if err != nil {
		return fmt.Errorf("find a sub-feed: %w", err)
	}
	if !there {
		return rules.ToUnknown.Broken(slug)
	}
	return nil
}

// manages is true for a source s that the actor may manage.
const manages = `(s.owner_id = @actor OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = s.owner_id AND g.account_id = @actor))`

// Find returns a source that the actor may manage, or ErrNotFound.
func (s *Store) Find(ctx context.Context, actor int64, code string) (Source, error) {
	return scanSource(s.pool.QueryRow(ctx, `SELECT `+sourceColumns+` FROM sources s WHERE code = @code AND `+manages,
		pgx.StrictNamedArgs{"code": code, "actor": actor}))
}

// List returns the sources of an owner, in the order in which they were added. It returns the errors
// of Add.
func (s *Store) List(ctx context.Context, actor int64, name string) ([]Source, error) {
	id, err := owner(ctx, s.pool, "", actor, name)
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, `SELECT `+sourceColumns+` FROM sources WHERE owner_id = @owner ORDER BY id`, pgx.StrictNamedArgs{"owner": id})
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Source, error) { return scanSource(row) })
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	return list, nil
}

// update changes a source that the actor may manage. It returns ErrNotFound if there is none, or if
// it is being removed.
func (s *Store) update(ctx context.Context, actor int64, code, set string, args pgx.StrictNamedArgs) (Source, error) {
	return updateIn(ctx, s.pool, actor, code, set, args)
}

func updateIn(ctx context.Context, db interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, actor int64, code, set string, args pgx.StrictNamedArgs,
) (Source, error) {
	args["actor"], args["code"] = actor, code
	return scanSource(db.QueryRow(ctx, `UPDATE sources s SET `+set+` WHERE code = @code AND status <> 'removing' AND `+manages+`
		RETURNING `+sourceColumns, args))
}

// Pause stops fetches of a source and pushes to it. A load of a file ends. Resume undoes it.
func (s *Store) Pause(ctx context.Context, actor int64, code string) (Source, error) {
	return s.update(ctx, actor, code, `status = 'paused'`, pgx.StrictNamedArgs{})
}

// Resume lets a source be fetched again, at once.
func (s *Store) Resume(ctx context.Context, actor int64, code string) (Source, error) {
	return s.updateDue(ctx, actor, code, `status = 'active', failures = 0, problem = '', claimed_at = NULL,
		next_at = CASE WHEN way = 'link' THEN now() END`)
}

// updateDue is update for a change after which an active link is fetched at once.
func (s *Store) updateDue(ctx context.Context, actor int64, code, set string) (Source, error) {
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Source, error) {
		source, err := updateIn(ctx, tx, actor, code, set, pgx.StrictNamedArgs{})
		if err != nil || source.Way != Link || source.Status != Active {
			return source, err
		}
		return source, s.posts.Items.Due(ctx, tx, source.ID, false)
	})
}

// FetchNow has a source fetched at once.
func (s *Store) FetchNow(ctx context.Context, actor int64, code string) (Source, error) {
	return s.updateDue(ctx, actor, code, `next_at = CASE WHEN way = 'link' AND status = 'active' THEN now() ELSE next_at END`)
}

// Change gives a source another title and other settings. Later loads follow them, even loads of the
// same file (F11, F33). The change itself does nothing to the posts that are there.
func (s *Store) Change(ctx context.Context, actor int64, code, title string, settings Settings) (Source, error) {
	n := New{Way: File, Title: title, Settings: settings}
	if err := n.check(); err != nil {
		return Source{}, err
	}
	if n.Title == "" {
		return Source{}, &timelines.InvalidError{Field: "title", Code: "title_empty"}
	}
	data, err := json.Marshal(n.Settings)
	if err != nil {
		return Source{}, fmt.Errorf("change a source: %w", err)
	}
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Source, error) {
		source, err := scanSource(tx.QueryRow(ctx, `
			SELECT `+sourceColumns+` FROM sources s WHERE code = @code AND status <> 'removing' AND `+manages+` FOR NO KEY UPDATE`,
			pgx.StrictNamedArgs{"code": code, "actor": actor}))
		if err == nil {
			err = n.Settings.Rules.checkGroupsTx(ctx, tx, source.OwnerID)
		}
		if err != nil || source.Title == n.Title && reflect.DeepEqual(source.Settings.canonical(), n.Settings) {
			return source, err
		}
		return updateIn(ctx, tx, actor, code, `titled = titled OR title <> @title, title = @title, settings = @settings, version = version + 1, content = NULL`,
			pgx.StrictNamedArgs{"title": n.Title, "settings": data})
	})
}

// Token makes a token that signs pushes to the source. The token before it ends. Only the hash of a
// token is stored.
func (s *Store) Token(ctx context.Context, actor int64, code string) (string, error) {
	var random [24]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString(random[:])
	hash := sha256.Sum256([]byte(token))
	if _, err := s.update(ctx, actor, code, `token_hash = @hash, token_by = @actor`, pgx.StrictNamedArgs{"hash": hash[:]}); err != nil {
		return "", err
	}
	return token, nil
}

// Pushed returns the source of a token, or ErrNotFound. A token ends when the person that made it may
// not manage the source any more (timelines.Groups.Demote), and does not work while they are suspended.
func (s *Store) Pushed(ctx context.Context, code, token string) (Source, error) {
	hash := sha256.Sum256([]byte(token))
	return scanSource(s.pool.QueryRow(ctx, `
		SELECT `+sourceColumns+` FROM sources s WHERE code = @code AND token_hash = @hash AND status <> 'removing'
			AND NOT EXISTS (SELECT FROM suspensions p WHERE p.account_id = s.token_by AND coalesce(p.ends_at > now(), true))
			AND NOT EXISTS (SELECT FROM leaving v WHERE v.account_id = s.token_by)
			AND (s.owner_id = s.token_by OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = s.owner_id AND g.account_id = s.token_by))`,
		pgx.StrictNamedArgs{"code": code, "hash": hash[:]}))
}

// Remove begins to remove a source. gone says what happens to its posts (F4): Delete, KeepDiscussed
// or Keep. The source is not loaded any more, and Work.Remove does the rest.
func (s *Store) Remove(ctx context.Context, actor int64, code, gone string) (Source, error) {
	if gone == "" || (Settings{Gone: gone}).check() != nil {
		return Source{}, &timelines.InvalidError{Field: "gone", Code: "settings_invalid"}
	}
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Source, error) {
		if err := checkRemoverTx(ctx, tx, actor, code, gone); err != nil {
			return Source{}, err
		}
		source, err := updateIn(ctx, tx, actor, code, `status = 'removing', version = version + 1, content = NULL, next_at = NULL, token_hash = NULL,
			settings = settings || jsonb_build_object('gone', @gone::text)`, pgx.StrictNamedArgs{"gone": gone})
		if err != nil {
			return source, err
		}
		return source, s.posts.Items.Ready(ctx, tx, source.ID)
	})
}

// checkRemoverTx returns an InvalidError "source_remover" if the removal would delete posts that
// somebody else's source made elsewhere, before it was moved: the actor may not delete them.
func checkRemoverTx(ctx context.Context, tx pgx.Tx, actor int64, code, gone string) error {
	if gone == Keep {
		return nil
	}
	const query = `
		SELECT EXISTS (
			SELECT FROM sources s JOIN source_items i ON i.source_id = s.id JOIN posts p ON p.id = i.post_id
			LEFT JOIN held_posts h ON h.post_id = p.id -- a blocked post stands there no longer
			WHERE s.code = @code AND s.added_by <> @actor AND p.deleted_at IS NULL
				AND NOT EXISTS (SELECT FROM timelines t WHERE t.id = ANY(coalesce(h.places, p.decisive)) AND t.their_id = s.owner_id))`
	var elsewhere bool
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": code, "actor": actor}).Scan(&elsewhere); err != nil {
		return fmt.Errorf("look where posts of a source stand: %w", err)
	}
	if elsewhere {
		return &timelines.InvalidError{Field: "gone", Code: "source_remover"}
	}
	return nil
}

// Loads returns up to limit loads of a source, the newest first: those before a number, or the newest
// ones if the number is 0.
func (s *Store) Loads(ctx context.Context, source, before int64, limit int) ([]Load, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+loadColumns+` FROM loads WHERE source_id = @source AND (@before::bigint = 0 OR no < @before)
		ORDER BY no DESC LIMIT @limit`, pgx.StrictNamedArgs{"source": source, "before": before, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("list loads: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Load, error) { return scanLoad(row) })
	if err != nil {
		return nil, fmt.Errorf("list loads: %w", err)
	}
	return list, nil
}

// Trouble is a problem of a load: a row of load_problems (F36).
type Trouble struct {
	Line, RawLine                         int64 // of the canonical file, from 0; of the file as it came, from 1
	No                                    int16
	Error                                 bool
	Code, Field, Value, ExternalID, Title string
}

// Which selects problems: all, or only errors or warnings, or those with one code.
type Which struct {
	Level formats.Level // LevelError or LevelWarning; anything else: both
	Code  string        // empty: any
}

// Troubles returns up to limit problems of a load in their order, beginning behind after.
func (s *Store) Troubles(ctx context.Context, load int64, which Which, after Trouble, limit int) ([]Trouble, error) {
	const query = `
		SELECT line, raw_line, no, error, code, field, value, external_id, title FROM load_problems
		WHERE load_id = @load AND error = ANY(@levels) AND (@code::text = '' OR code = @code) AND (line, no) > (@line, @no)
		ORDER BY line, no LIMIT @limit`
	levels := []bool{true, false}
	switch which.Level {
	case formats.LevelError:
		levels = levels[:1]
	case formats.LevelWarning:
		levels = levels[1:]
	}
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{
		"load": load, "levels": levels, "code": which.Code, "line": after.Line, "no": after.No, "limit": limit,
	})
	if err != nil {
		return nil, fmt.Errorf("list problems: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Trouble])
	if err != nil {
		return nil, fmt.Errorf("list problems: %w", err)
	}
	return list, nil
}

// FirstTrouble stands before all problems, for Troubles.
var FirstTrouble = Trouble{Line: -1}
