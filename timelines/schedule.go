package timelines

import (
	"context"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // the zones, on a machine that has none

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
	"riverrun/timelines/rules"
	"riverrun/timelines/scheduled"
)

// DueForm is a time as forms have it, in the zone named beside it.
const DueForm = "2006-01-02T15:04"

// When is the time of a scheduled post, and the zone in which its author chose it.
type When struct {
	At   time.Time
	Zone string
}

// ParseWhen reads the time and the zone of a form; without a zone it is UTC. It returns an InvalidError
// "due_format" of "due", or "due_zone" of "zone".
func ParseWhen(due, zone string) (When, error) {
	if zone == "" {
		zone = "UTC"
	}
	in, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" || len(zone) > 100 { // Local is the server's
		return When{}, rules.DueZone.Broken("")
	}
	clock, err := time.Parse(DueForm, due)
	if err != nil {
		clock, err = time.Parse(DueForm+":05", due) // some browsers add seconds
	}
	if err != nil {
		return When{}, rules.DueFormat.Broken("")
	}
	return When{shown(clock, in), zone}, nil
}

// shown is when the clocks of a zone show the date and time of clock: the first time, if they go back and
// show it twice. A time that they skip, when they go forward, is as much later. Package time promises neither.
func shown(clock time.Time, in *time.Location) time.Time {
	// No zone is a day away from UTC, so these are the offsets before and after the one change there may be.
	before, after := clock.AddDate(0, 0, -1).In(in), clock.AddDate(0, 0, 1).In(in)
	at := func(beside time.Time) (at time.Time, shows bool) {
		_, offset := beside.Zone()
		at = clock.Add(-time.Duration(offset) * time.Second).In(in)
		_, has := at.Zone()
		return at, has == offset
	}
	first, shows := at(before)
	if second, is := at(after); is && !shows {
		return second
	}
	return first
}

// Schedule keeps a post to be published at a time, in place of n.Scheduled if that is set. The draft goes
// in the same transaction. What Create would refuse now it refuses too, with the same errors, but for a
// stranger's post too many. Further InvalidErrors are "due_past", "due_far", "scheduled_many" and, since
// a scheduled post keeps no fields of a listing, "due_listing"; scheduled.ErrGone if the version to replace is no more. For a Key that the
// author sent before with the same content nothing changes, and the Change is Repeated.
func (s Posts) Schedule(ctx context.Context, n NewPost, at When) (Change, error) {
	w, err := s.check(n)
	err = errors.Join(err, rules.Due(at.At, time.Now()))
	if n.Listing != nil {
		err = errors.Join(err, rules.DueListing.Broken(""))
	}
	if err != nil {
		return Change{}, err
	}
	put := scheduled.Put{Account: n.Author, Replaces: n.Scheduled, Post: scheduled.Post{
		Body: w.body, Language: n.Language, Destinations: w.to, Uploads: files.Codes(n.Files), DueAt: at.At, Zone: at.Zone, Place: n.Draft.Place,
	}}
	if !drafts.IsPlace(put.Place) {
		put.Place = "/"
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		c := Change{Actor: n.Author}
		if _, err := s.admitTx(ctx, tx, n.Author, w.to); err != nil {
			return c, err
		}
		asked, err := askedTx(ctx, tx, n.Author, n.Files)
		if err != nil {
			return c, err
		}
		if err := recordKeyTx(ctx, tx, n.Author, n.form(w.body, w.to, asked, at), 0, 0); err != nil {
			return c, err
		}
		loose, err := files.Loosely(ctx, tx, n.Author, put.Uploads)
		if err != nil {
			return c, err
		}
		if len(loose) != len(put.Uploads) {
			return c, rules.FileUnknown.Broken("")
		}
		if err := files.Describe(ctx, tx, n.Author, n.Files); err != nil {
			return c, err
		}
		freed, err := scheduled.PutTx(ctx, tx, put, newCode)
		switch {
		case errors.Is(err, scheduled.ErrMany):
			return c, rules.ScheduledMany.Broken("")
		case err != nil:
			return c, err
		}
		if err := drafts.RemoveTx(ctx, tx, n.Author, n.Draft); err != nil || !freed {
			return c, err
		}
		c.Clock, err = unalertTx(ctx, tx, n.Author)
		return c, err
	})
}

// Cancel makes a draft of a scheduled post, put aside if its place has one. kept is false if there is no room for it: then
// it stays scheduled, unless discard says that its text may go. scheduled.ErrGone if the version is no more.
func (s Posts) Cancel(ctx context.Context, actor int64, v scheduled.Version, discard bool) (c Change, kept bool, err error) {
	c, err = s.change(ctx, func(tx pgx.Tx) (c Change, err error) {
		c.Actor = actor
		var freed bool
		if kept, freed, err = scheduled.CancelTx(ctx, tx, actor, v, discard); err != nil || !freed {
			return c, err
		}
		c.Clock, err = unalertTx(ctx, tx, actor)
		return c, err
	})
	return c, kept, err
}

// unalertTx has nodes read anew which posts of somebody could not be published. It is the last statement.
func unalertTx(ctx context.Context, tx pgx.Tx, account int64) (int64, error) {
	return tickTx(ctx, tx, Invalidation{Kind: InvalidCounts, AccountID: account})
}

// PublishScheduled publishes the actor's scheduled post before its time. ErrNotFound if there is none;
// the errors are those of Create.
func (s Posts) PublishScheduled(ctx context.Context, actor int64, code string) (Change, error) {
	p, found, err := scheduled.Open(s.pool).Find(ctx, actor, code)
	if err != nil {
		return Change{}, err
	}
	if !found {
		return Change{}, ErrNotFound
	}
	n, err := s.scheduledPost(ctx, actor, p)
	if err != nil {
		return Change{}, err
	}
	return s.Create(ctx, n)
}

// scheduledPost is the post that is to be made of p.
func (s *core) scheduledPost(ctx context.Context, author int64, p scheduled.Post) (NewPost, error) {
	found, err := files.Loosely(ctx, s.pool, author, p.Uploads)
	if err != nil {
		return NewPost{}, err
	}
	said := make(map[string]string, len(found))
	for _, f := range found {
		said[f.Code] = f.Alt
	}
	n := NewPost{Author: author, Body: p.Body, To: p.Destinations, Language: p.Language, Scheduled: p.Version()}
	for _, code := range p.Uploads { // Create says so if one is gone
		n.Files = append(n.Files, files.Attachment{Code: code, Alt: said[code]})
	}
	return n, nil
}

// AnyPostDue reports whether the time of a scheduled post has come.
func (s Maintenance) AnyPostDue(ctx context.Context) (bool, error) {
	return scheduled.AnyDue(ctx, s.pool)
}

// PostsDue returns scheduled posts whose time has come; see scheduled.AllDue.
func (s Maintenance) PostsDue(ctx context.Context, after scheduled.Due, limit int) ([]scheduled.Due, error) {
	return scheduled.AllDue(ctx, s.pool, after, limit)
}

// PublishDue publishes a scheduled post as if it were written now, with the rights of this moment. If
// it cannot be published, that is noted with its reason, and published is false. It is false too, with
// an empty Change, if somebody else published, changed or cancelled it since it was read.
func (s Maintenance) PublishDue(ctx context.Context, d scheduled.Due) (c Change, published bool, err error) {
	n, err := s.scheduledPost(ctx, d.AccountID, d.Post)
	if err != nil {
		return Change{}, false, err
	}
	c, err = Posts(s).Create(Unattended(ctx, d.AccountID), n)
	if err == nil {
		return c, true, nil
	}
	if problem, is := problemOfDue(err); is {
		c, err = s.change(ctx, func(tx pgx.Tx) (Change, error) {
			if err := scheduled.FailTx(ctx, tx, d.AccountID, d.Version(), problem); err != nil {
				return Change{}, err
			}
			clock, err := unalertTx(ctx, tx, d.AccountID)
			return Change{Actor: d.AccountID, Clock: clock}, err
		})
	}
	if errors.Is(err, scheduled.ErrGone) {
		return Change{}, false, nil
	}
	return c, false, err
}

// Codes of the problems of scheduled posts that are no InvalidErrors.
const (
	DueSuspended = "author_suspended"
	DueLeaving   = "author_leaving"
	DueStranger  = "author_stranger"
)

// problemOfDue returns the problem that an error of Create is to the author; any other error is a
// fault, after which the post is tried again.
func problemOfDue(err error) (scheduled.Problem, bool) {
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		return scheduled.Problem{Code: invalid.Code, Value: invalid.Value, Most: invalid.Most}, true
	}
	if slow, ok := errors.AsType[*StrangerError](err); ok {
		return scheduled.Problem{Code: DueStranger, Most: slow.Most}, true
	}
	if _, ok := errors.AsType[*LeavingError](err); ok {
		return scheduled.Problem{Code: DueLeaving}, true
	}
	_, suspended := errors.AsType[*SuspendedError](err)
	_, waiting := errors.AsType[*WaitingError](err)
	return scheduled.Problem{Code: DueSuspended}, suspended || waiting
}

// maySpeakTx returns the error that signing in would return. A suspension, or the wish to leave, that comes at
// the same time waits until the transaction ends, or this waits for it.
func maySpeakTx(ctx context.Context, tx pgx.Tx, author int64) error {
	if _, err := tx.Exec(ctx, `SELECT FROM accounts WHERE id = @author FOR SHARE`, pgx.StrictNamedArgs{"author": author}); err != nil {
		return fmt.Errorf("lock account: %w", err)
	}
	return checkMaySignInTx(ctx, tx, Account{ID: author})
}
