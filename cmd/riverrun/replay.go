package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"time"

	"riverrun/tiers"
	"riverrun/timelines"
)

// runReplay plays an archive into a group, as if its people were writing now.
func runReplay(ctx context.Context, e *env, args []string) error {
	speed, into, owner := 1.0, "", ""
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.Func("speed", "how many times faster than it happened; 0 or max: without waiting", func(v string) (err error) {
			speed, err = parseSpeed(v)
			return err
		})
		fs.StringVar(&into, "into", "", "the group to play into, made if there is none")
		fs.StringVar(&owner, "owner", "", "who founds the group; default: the first who writes in the archive")
	})
	switch {
	case err != nil:
		return err
	case into == "":
		return usagef("replay: say where: -into GROUP")
	case len(rest) == 0:
		return usagef("replay: say what: FILE")
	case len(rest) > 1:
		return usagef("replay: %q is one too many (flags go before FILE)", rest[1])
	}
	file := rest[0]
	// The whole archive is read before anything is played: events of all its
	// entries mix in time, and half a replay of a broken file helps nobody.
	s, err := readScore(file)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		r := &replaying{
			env: e, node: n, score: s, speed: speed, into: into, progress: newProgress(e.stderr),
			codes: map[string]string{}, made: map[string]map[string]int64{"post": {}, "comment": {}},
		}
		err := r.prepare(ctx, owner)
		if err == nil {
			err = r.play(ctx)
		}
		r.progress.clear()
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		return nil
	})
}

func parseSpeed(v string) (float64, error) {
	if v == "max" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || !(n >= 0 && n <= 1e9) {
		return 0, errors.New("want how many times real time, 0 or max")
	}
	return n, nil
}

// replaying is one run of the command.
type replaying struct {
	*env
	node     *node
	score    *score
	speed    float64 // 0: without waiting
	into     string
	progress *progress

	group    timelines.Account
	accounts map[string]int64 // by the archive's ids
	voice    int64            // who plays what the archive's groups wrote
	source   string           // under which what was played is remembered

	codes map[string]string // of posts, by the archive's ids
	known map[string]map[string]int64
	// made is what was played and not yet remembered, by kind and the archive's ids.
	made          map[string]map[string]int64
	played, there timelines.Count
	gone          int64
}

// prepare makes the people and the group, and recalls what an earlier run into
// it has played.
func (r *replaying) prepare(ctx context.Context, owner string) error {
	if len(r.score.events) == 0 {
		return fmt.Errorf("there is nothing to play in %s", r.score.file)
	}
	if err := r.people(ctx); err != nil {
		return err
	}
	r.voice = r.accounts[r.score.first.ExternalID]
	if owner != "" {
		a, err := r.node.timelines.Accounts.ByName(ctx, owner)
		if err != nil || a.Kind != timelines.User {
			return errors.Join(explain(owner, timelines.ErrNotFound), ignore(err, timelines.ErrNotFound))
		}
		r.voice = a.ID
	}
	if r.voice == 0 {
		return errors.New("nobody in the archive could create the group: name its owner with -owner NAME")
	}
	if err := r.place(ctx); err != nil {
		return err
	}
	r.source = "replay:" + strconv.FormatInt(r.group.ID, 10)
	r.known = map[string]map[string]int64{}
	for kind := range r.made {
		known, err := r.node.timelines.Imports.Recall(ctx, r.source, kind)
		if err != nil {
			return err
		}
		r.known[kind] = known
	}
	return r.recallCodes(ctx)
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// people makes the accounts that act, as an import does.
func (r *replaying) people(ctx context.Context) error {
	im, err := r.node.timelines.Imports.Start(ctx, timelines.FriendFeedSource)
	if err != nil {
		return err
	}
	var c timelines.Change
	r.accounts, c, err = im.Accounts(ctx, r.score.people)
	_, err = r.node.tiers.Carry(ctx, c, err)
	return errors.Join(err, im.Close(ctx))
}

// place finds the group, or founds it.
func (r *replaying) place(ctx context.Context) (err error) {
	r.group, err = r.node.timelines.Accounts.ByName(ctx, r.into)
	switch {
	case errors.Is(err, timelines.ErrNotFound):
		var c timelines.Change
		r.group, c, err = r.node.timelines.Groups.Create(ctx, timelines.NewGroup{
			Actor: r.voice, Name: r.into, Title: r.score.title(r.into), About: r.score.about,
		})
		_, err = r.node.tiers.Carry(ctx, c, err)
		return explain(r.into, err)
	case err != nil:
		return err
	case r.group.Kind != timelines.Group:
		return fmt.Errorf("%s is a person, not a group", r.into)
	case r.group.Access != timelines.Public:
		return fmt.Errorf("%s is %v: the archive's people are no members of it", r.into, r.group.Access)
	}
	return nil
}

func (r *replaying) recallCodes(ctx context.Context) error {
	ids := make([]int64, 0, len(r.known["post"]))
	for _, id := range r.known["post"] {
		ids = append(ids, id)
	}
	codes, err := r.node.timelines.Posts.Codes(ctx, ids)
	if err != nil {
		return err
	}
	for key, id := range r.known["post"] {
		r.codes[key] = codes[id]
	}
	return nil
}

// rememberEvery is after how many events the played ones are recorded. If the process is
// killed before, the events' keys keep them from being played twice.
const rememberEvery = 100

// play plays everything in its order, until the end or until ctx ends.
func (r *replaying) play(ctx context.Context) error {
	played, err := 0, error(nil)
	began, base := time.Now(), time.Time{}
	for i, ev := range r.score.events {
		if r.skip(ev) {
			continue
		}
		if base.IsZero() {
			base = ev.at
		}
		if !r.wait(ctx, began, ev.at.Sub(base)) {
			break
		}
		// An event that has begun is finished: Ctrl-C takes effect between two.
		if err = r.act(context.WithoutCancel(ctx), ev); err != nil {
			err = fmt.Errorf("%s: element %d (%s): %w", r.score.file, ev.element, ev.id, err)
			break
		}
		if played++; played%rememberEvery == 0 {
			if err = r.remember(ctx); err != nil {
				break
			}
		}
		r.progress.show("%s: %d of %d, as of %s", r.into, i+1, len(r.score.events), ev.at.Format("2 January 2006 15:04"))
	}
	err = errors.Join(err, r.remember(ctx))
	r.progress.clear()
	fmt.Fprintf(r.stdout, "played: posts %d comments %d likes %d\nthere: posts %d comments %d likes %d\n",
		r.played.Posts, r.played.Comments, r.played.Likes, r.there.Posts, r.there.Comments, r.there.Likes)
	if r.score.private > 0 {
		fmt.Fprintf(r.stdout, "left out: %d posts that were not public\n", r.score.private)
	}
	if r.gone > 0 {
		fmt.Fprintf(r.stdout, "left out: %d comments and likes whose post was deleted here\n", r.gone)
	}
	if err == nil && ctx.Err() != nil {
		fmt.Fprintln(r.stdout, "interrupted; the same command goes on")
	}
	return err
}

// skip passes over an event that an earlier run recorded.
func (r *replaying) skip(ev event) bool {
	_, known := r.known[ev.kind][ev.id]
	if known && ev.kind == "post" {
		r.there.Posts++
	} else if known {
		r.there.Comments++
	}
	return known
}

// wait waits until the event is due and reports whether it may be played.
func (r *replaying) wait(ctx context.Context, began time.Time, after time.Duration) bool {
	if r.speed == 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(time.Until(began.Add(time.Duration(float64(after) / r.speed))))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// act does one thing as its person would through the pages, without the rate limits, which
// belong to the pages.
func (r *replaying) act(ctx context.Context, ev event) error {
	actor := r.accounts[ev.who]
	if ev.byGroup {
		actor = r.voice
	}
	store := r.node.timelines
	made := func() (timelines.Change, error) {
		switch ev.kind {
		case "post":
			return store.Posts.Create(ctx, timelines.NewPost{Author: actor, Body: ev.body, To: []string{r.into}, Key: r.key(ev), Plain: true})
		case "comment":
			return store.Comments.Create(ctx, timelines.NewComment{Author: actor, Code: r.codes[ev.post], Body: ev.body, Key: r.key(ev), Plain: true})
		}
		return store.Posts.Like(ctx, actor, r.codes[ev.post])
	}
	c, err := made()
	c, err = r.node.tiers.Carry(ctx, c, err)
	if errors.Is(err, tiers.ErrBehind) {
		// It is committed, and its job brings the pages up.
		r.node.log.WarnContext(ctx, "replayed, but pages are behind", "error", err)
		err = nil
	}
	if errors.Is(err, timelines.ErrNotFound) && ev.kind != "post" {
		r.gone++
		return nil
	}
	if err != nil {
		return err
	}
	to := &r.played
	switch ev.kind {
	case "post":
		r.codes[ev.id] = c.Code
		r.made[ev.kind][ev.id] = c.PostID
		if c.Repeated {
			to = &r.there
		}
		to.Posts++
	case "comment":
		r.made[ev.kind][ev.id] = c.CommentID
		if c.Repeated {
			to = &r.there
		}
		to.Comments++
	default:
		if len(c.Touched) == 0 {
			to = &r.there // a like that was there touches nothing
		}
		to.Likes++
	}
	return nil
}

// key makes the event the same form each time it is sent into this group.
func (r *replaying) key(ev event) string {
	sum := sha256.Sum256([]byte(r.source + "\x00" + ev.kind + "\x00" + ev.id))
	return "replay:" + hex.EncodeToString(sum[:16])
}

func (r *replaying) remember(ctx context.Context) error {
	for kind, ids := range r.made {
		if err := r.node.timelines.Imports.Remember(context.WithoutCancel(ctx), r.source, kind, ids); err != nil {
			return err
		}
		clear(ids)
	}
	return nil
}
