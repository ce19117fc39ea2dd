package timelines

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
	"riverrun/timelines/kinds"
	"riverrun/timelines/listings"
	"riverrun/timelines/marks"
	"riverrun/timelines/notices"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rules"
	"riverrun/timelines/scheduled"
)

// MaxDestinations is how many destinations a post may have.
const MaxDestinations = rules.MostPlaces

// NewPost is a post about to be made.
type NewPost struct {
	Author int64
	Body   string
	// To names the destinations: the author's own name for their feed; that name, a slash
	// and a slug for their sub-feed; ToEyes alone for a post that nobody else reads; a group;
	// or another person for a message, which also stands in the author's messages. Without
	// destinations the post goes to the author's own feed.
	To  []string
	Key string // the form's, or empty
	// Language is the one the author chose, one of language.Known; empty: it is detected
	// from the text.
	Language string
	// Plain: the text has no markup.
	Plain bool
	// Files are the author's uploads to attach, in this order. Beside files the text may be empty.
	Files []files.Attachment
	// Listing are the fields of a listing; nil: the post is none.
	Listing *listings.Fields
	// Draft is the draft that the post was made of, if any. It goes in the transaction that makes
	// the post.
	Draft drafts.Version
	// Scheduled is the scheduled post that it is made of, or that it replaces, if any. It goes in the
	// transaction that makes the post.
	Scheduled scheduled.Version
}

// writtenPost is a NewPost as it is stored.
type writtenPost struct {
	body     string
	to       []string
	textLang postLanguage
	attach   *attached
	offer    *listings.Offer // nil: the post is no listing
}

// check returns the post as it is stored, or what is wrong with it whoever its author is.
func (s Posts) check(n NewPost) (w writtenPost, err error) {
	w.attach = s.attachedToPost(n.Files)
	if w.body, err = rules.Body(n.Body, rules.PostLong, len(n.Files) > 0); err != nil {
		return w, err
	}
	offer, offerErr := offerOf(n.Listing)
	if err := errors.Join(checkKey(n.Key), w.attach.check(), offerErr); err != nil {
		return w, err
	}
	w.offer = offer
	if w.to, err = cleanDestinations(n.To); err != nil {
		return w, err
	}
	w.textLang, err = languageOf(w.body, n.Language)
	return w, err
}

// admitTx finds and locks the destinations (addressTx), and returns an error unless the author may write to them.
func (s Posts) admitTx(ctx context.Context, tx pgx.Tx, author int64, to []string) (address, error) {
	where, found, err := addressTx(ctx, tx, author, to)
	if err != nil {
		return address{}, err
	}
	if err := checkWritableTx(ctx, tx, author, found); err != nil {
		return address{}, err
	}
	approving, err := approvingTx(ctx, tx, author, found)
	if err != nil {
		return address{}, err
	}
	for _, d := range approving {
		where.waits = append(where.waits, d.TimelineID)
	}
	return where, s.checkReachTx(ctx, tx, author, found)
}

// ToEyes is the destination that only the author reads. No account and no sub-feed can
// have this name, and it needs no escaping in forms and addresses.
const ToEyes = "~eyes"

// subfeedForm is a sub-feed as a destination.
var subfeedForm = regexp.MustCompile(`^[a-z0-9-]{3,35}/[a-z0-9-]{1,35}$`)

// Create publishes a post, or makes it wait (Change.Waits) if one of its groups approves posts first. Groups and people decide themselves who may write to them; see
// Writers, Block and Ban.
//
// An unknown Language is an InvalidError "language_unknown". An unknown destination is an
// InvalidError "to_unknown", and one that the author may not write to is "to_forbidden",
// each with its name as Value; a person whom a stranger's message does not reach (strangers.go) is
// "to_stranger", and more than MaxDestinations are "to_many". A stranger's post too many is a *StrangerError. ToEyes together with other destinations is "to_eyes". For a
// Key that the author sent before, Posts.Create returns the post made then, Repeated; with
// other content it is an InvalidError "key_used". The errors of files are "files_many",
// "file_unknown" and "alt_long"; those of a listing are the errors of listings.Fields.Check and
// "listing_place" if none of the destinations takes listings. scheduled.ErrGone if the version of a scheduled post is no more.
func (s Posts) Create(ctx context.Context, n NewPost) (Change, error) {
	w, err := s.check(n)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		where, err := s.admitTx(ctx, tx, n.Author, w.to)
		if err != nil {
			return Change{}, err
		}
		textLang, err := w.textLang.guess(ctx, tx, n.Author, where.decisive)
		if err != nil {
			return Change{}, err
		}
		places := where.decisive
		if len(where.waits) > 0 {
			where = where.waiting()
		}
		c, written := Change{Actor: n.Author, Waits: len(where.waits) > 0}, writing{w.body, !n.Plain}
		c.PostID, c.Code, err = insertPostTx(ctx, tx, n.Author, written, textLang, where.decisive)
		if err != nil {
			return Change{}, err
		}
		asked, err := askedTx(ctx, tx, n.Author, n.Files)
		if err != nil {
			return Change{}, err
		}
		if err := recordKeyTx(ctx, tx, n.Author, n.form(w.body, w.to, asked, When{}), c.PostID, 0); err != nil {
			return Change{}, err
		}
		if err := s.countPostTx(ctx, tx, n.Author); err != nil {
			return Change{}, err
		}
		if err := w.attach.addTx(ctx, tx, n.Author, c.PostID, 0); err != nil {
			return Change{}, err
		}
		if err := listTx(ctx, tx, c.PostID, w.offer, places); err != nil {
			return Change{}, err
		}
		entered, err := placeTx(ctx, tx, c.PostID, textLang.lang, where)
		if err != nil {
			return Change{}, err
		}
		named, err := s.indexTextTx(ctx, tx, &c, lockedPost{ID: c.PostID}, ownText, written, false)
		if err != nil {
			return Change{}, err
		}
		if err := drafts.RemoveTx(ctx, tx, n.Author, n.Draft); err != nil {
			return Change{}, err
		}
		freed, err := scheduled.RemoveTx(ctx, tx, n.Author, n.Scheduled)
		if err != nil {
			return Change{}, err
		}
		if err := s.linkTx(ctx, tx, c.PostID, written, false); err != nil {
			return Change{}, err
		}
		if c.Waits {
			asked, err := s.createWaitingTx(ctx, tx, n.Author, c.PostID, where)
			if err != nil {
				return Change{}, err
			}
			if freed {
				asked = append(asked, n.Author)
			}
			if c, err = s.touchTx(ctx, tx, c, slices.Concat(entered, named)); err != nil {
				return Change{}, err
			}
			c.Clock, err = tickTx(ctx, tx, recount(asked)...)
			return c, err
		}
		told, err := tellPostTx(ctx, tx, c, where, len(marks.Names(written.prose())) > 0)
		if err != nil {
			return Change{}, err
		}
		err = publishing.CountTx(ctx, tx, func(counts *publishing.Counts) { counts.Publish(n.Author, false, 1) })
		if err != nil {
			return Change{}, err
		}
		if c, err = s.touchTx(ctx, tx, c, slices.Concat(entered, named, told)); err != nil || !freed {
			return c, err
		}
		c.Clock, err = unalertTx(ctx, tx, n.Author)
		return c, err
	})
}

// createWaitingTx makes a new post wait and counts it. It returns the groups that are asked.
func (s Posts) createWaitingTx(ctx context.Context, tx pgx.Tx, author, post int64, where address) ([]int64, error) {
	asked, err := waitTx(ctx, tx, author, post, where)
	if err != nil {
		return nil, err
	}
	return asked, publishing.CountTx(ctx, tx, func(counts *publishing.Counts) { counts.Add(author, publishing.Waiting, false, 1) })
}

// tellPostTx tells of a new post, if it is a message or names anybody.
func tellPostTx(ctx context.Context, tx pgx.Tx, c Change, where address, names bool) ([]int64, error) {
	if !where.message && !names {
		return nil, nil
	}
	d := notices.Doing{Post: c.PostID, Actor: c.Actor}
	if err := tx.QueryRow(ctx, `SELECT fresh_at FROM posts WHERE id = @post`, pgx.StrictNamedArgs{"post": c.PostID}).Scan(&d.Stamp); err != nil {
		return nil, fmt.Errorf("read time of a post: %w", err)
	}
	return notices.TellPost(ctx, tx, d)
}

// cleanDestinations returns the names, each once, in the order given.
func cleanDestinations(names []string) ([]string, error) {
	var to []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(to, name):
			continue
		case name != ToEyes && !nameForm.MatchString(name) && !subfeedForm.MatchString(name):
			return nil, rules.ToUnknown.Broken(strings.ToValidUTF8(name, ""))
		}
		to = append(to, name)
		if err := rules.ToMany.Count(len(to)); err != nil {
			return nil, err
		}
	}
	if len(to) > 1 && slices.Contains(to, ToEyes) {
		return nil, rules.ToEyes.Broken("")
	}
	return to, nil
}

// address is where a new post goes.
type address struct {
	decisive []int64 // base timelines, in key order
	// everything: some destination is for more than the people named.
	everything bool
	// message: some destination is a person.
	message bool
	// own are the author's timelines that hold what they write.
	own []int64
	// waits are the timelines of groups that have to let the post in, and eyes is that for the author's eyes only.
	waits []int64
	eyes  int64
	// places are the destinations of a post that waits; decisive are those where it stands.
	places []int64
}

// waiting returns the address of a post that stands before its author's eyes until it is let into its places.
func (a address) waiting() address {
	a.places, a.decisive, a.everything, a.message = a.decisive, []int64{a.eyes}, false, false
	return a
}

// destination is one name of NewPost.To, found.
type destination struct {
	Name       string
	Kind       string // of the timeline
	TimelineID int64
}

// addressTx finds the destinations and locks their levels and policies. It does not check
// whether the author may write there (checkWritableTx).
func addressTx(ctx context.Context, tx pgx.Tx, author int64, to []string) (address, []destination, error) {
	own, err := ownTimelinesTx(ctx, tx, author)
	if err != nil {
		return address{}, nil, err
	}
	found, err := destinationsTx(ctx, tx, author, to)
	if err != nil {
		return address{}, nil, err
	}
	where := address{eyes: own[kinds.Eyes]}
	for _, kind := range kinds.By(kinds.Wrote) {
		if id, ok := own[kind]; ok {
			where.own = append(where.own, id)
		}
	}
	for _, d := range found {
		where.decisive = append(where.decisive, d.TimelineID)
		if d.Kind == kinds.Directs {
			where.decisive, where.message = append(where.decisive, own[kinds.Directs]), true
		}
		where.everything = where.everything || kinds.Of(d.Kind).Levelled
	}
	if len(found) == 0 {
		where.decisive, where.everything = []int64{own[kinds.Feed]}, true
	}
	where.decisive = union(where.decisive, nil)
	held, err := lockLevelsTx(ctx, tx, where.decisive)
	if err != nil {
		return address{}, nil, err
	}
	for _, d := range found {
		if !slices.Contains(held, d.TimelineID) { // a sub-feed deleted meanwhile
			return address{}, nil, rules.ToUnknown.Broken(d.Name)
		}
	}
	return where, found, nil
}

// ownTimelinesTx returns the user's timelines by kind, or ErrNotFound if there
// is no such user.
func ownTimelinesTx(ctx context.Context, tx pgx.Tx, user int64) (map[string]int64, error) {
	const query = `
		SELECT kind, id FROM timelines
		WHERE kind = ANY(@kinds) AND their_id = @user AND term = ''`
	wanted := append(kinds.By(kinds.Wrote), kinds.Feed, kinds.Directs, kinds.Eyes)
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"user": user, "kinds": wanted})
	if err != nil {
		return nil, fmt.Errorf("read own timelines: %w", err)
	}
	own := map[string]int64{}
	var kind string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&kind, &id}, func() error {
		own[kind] = id
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read own timelines: %w", err)
	}
	if len(own) == 0 {
		return nil, ErrNotFound
	}
	return own, nil
}

// destinationsTx finds the timelines behind the names.
func destinationsTx(ctx context.Context, tx pgx.Tx, author int64, to []string) ([]destination, error) {
	if len(to) == 0 {
		return nil, nil
	}
	const query = `
		SELECT a.name, t.kind, t.id AS timeline_id
		FROM accounts a
		JOIN timelines t ON t.their_id = a.id AND t.term = ''
			AND t.kind = CASE WHEN a.kind = 'group' THEN 'group' WHEN a.id = @author THEN 'feed' ELSE 'directs' END
		WHERE a.name = ANY(@names)
		UNION ALL
		SELECT d.name, t.kind, t.id
		FROM accounts a
		JOIN timelines t ON t.their_id = a.id AND t.kind IN ('subfeed', 'eyes')
		CROSS JOIN LATERAL (SELECT CASE t.kind WHEN 'eyes' THEN @eyes ELSE a.name || '/' || t.term END AS name) d
		WHERE a.id = @author AND d.name = ANY(@names)`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"author": author, "names": to, "eyes": ToEyes})
	if err != nil {
		return nil, fmt.Errorf("find destinations: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[destination])
	if err != nil {
		return nil, fmt.Errorf("find destinations: %w", err)
	}
	for _, name := range to {
		if !slices.ContainsFunc(found, func(d destination) bool { return d.Name == name }) {
			return nil, rules.ToUnknown.Broken(name)
		}
	}
	return found, nil
}

// lockLevelsTx keeps the levels and policies of these timelines as they are until the
// transaction ends, and returns those that exist. A change of level (Feeds.SetAccess) either
// waits, and then finds the new post and sets its flags, or has happened, and the
// statements after this one see it. The same holds for a change of policy and for a block.
// FOR KEY SHARE is not enough: it lets the change pass.
func lockLevelsTx(ctx context.Context, tx pgx.Tx, timelines []int64) ([]int64, error) {
	rows, err := tx.Query(ctx, `SELECT id FROM timelines WHERE id = ANY(@timelines) ORDER BY id FOR SHARE`,
		pgx.StrictNamedArgs{"timelines": timelines})
	return collectIDs(rows, err, "levels to hold")
}

// insertPostTx inserts the post with an unused code. Its flags come from the levels of its
// decisive timelines, which lockLevelsTx holds.
func insertPostTx(ctx context.Context, tx pgx.Tx, author int64, written writing, textLang postLanguage, decisive []int64) (id int64, code string, err error) {
	const query = `
		WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS at)
		INSERT INTO posts (author_id, created_at, fresh_at, code, body, markup, lang, lang_chosen, lang_guessed, decisive,
			is_public)
		SELECT @author, clock.at, (extract(epoch FROM clock.at) * 1000000)::bigint, @code, @body, @markup, @lang, @chosen,
			@guessed, @decisive, f.*
		FROM clock, (SELECT ` + publicColumn + ` FROM timelines t WHERE t.id = ANY(@decisive)) f
		ON CONFLICT (code) DO NOTHING
		RETURNING id`
	// One code in 35 million million is taken. A second try fails only if the random
	// generator is broken.
	for range maxAttempts {
		code = newCode()
		err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
			"author": author, "code": code, "body": written.body, "markup": written.markup, "lang": textLang.lang, "chosen": textLang.chosen, "guessed": textLang.guessed,
			"decisive": decisive,
		}).Scan(&id)
		if !errors.Is(err, pgx.ErrNoRows) {
			break
		}
	}
	if err != nil {
		return 0, "", fmt.Errorf("insert post: %w", err)
	}
	return id, code, nil
}

// placeTx makes the post's own timeline and puts the post, fresh, into all timelines it
// belongs to.
func placeTx(ctx context.Context, tx pgx.Tx, post int64, lang string, where address) ([]int64, error) {
	const query = `
		WITH own AS (
			INSERT INTO timelines (kind, their_id) VALUES ('post', @post) RETURNING id
		), places AS (
			SELECT id FROM own
			UNION
			SELECT unnest(@decisive::bigint[])
			UNION
			SELECT unnest(@own::bigint[])
			UNION
			SELECT id FROM timelines WHERE kind = 'everything' AND their_id = 0 AND term IN ('', @lang) AND @everything
		)
		INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT places.id, p.id, p.fresh_at, p.fresh_at, p.fresh_at
		FROM places, posts p WHERE p.id = @post
		ORDER BY places.id
		RETURNING timeline_id`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{
		"post": post, "lang": lang, "decisive": where.decisive, "own": where.own, "everything": where.everything,
	})
	if err != nil {
		return nil, fmt.Errorf("place post: %w", err)
	}
	entered, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("place post: %w", err)
	}
	return entered, nil
}
