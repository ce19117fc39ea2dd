package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"riverrun/jobs"
	"riverrun/jobs/fetch"
	loads "riverrun/jobs/sources"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/web/view"
)

// hosting is one run of the command, which does itself what jobs do elsewhere.
type hosting struct {
	*env
	node    *node
	sources *sources.Store
	blobs   blobs.Store
	fetcher loads.Fetcher
	runner  loads.Runner
}

func withHosting(ctx context.Context, e *env, c *config, do func(context.Context, *hosting) error) error {
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		files, err := n.files(ctx)
		if err != nil {
			return err
		}
		client, err := fetch.New(fetch.Config{Site: c.url, Allow: c.fetchAllow, Proxy: c.fetchProxy})
		if err != nil {
			return err
		}
		defer client.Close()
		h := &hosting{env: e, node: n, sources: n.sources(), blobs: files}
		h.fetcher = loads.Fetcher{Sources: h.sources, Blobs: files, Client: client, Log: n.log}
		h.runner = loads.Runner{
			Sources: h.sources, Blobs: files, Carry: n.tiers.Carry, Log: n.log,
			Yield: func(ctx context.Context) error { return jobs.Yield(ctx, n.stores.primary) },
		}
		return do(ctx, h)
	})
}

// add adds a link, and loads it at once.
func (h *hosting) add(ctx context.Context, add sources.New, dry bool) error {
	actor, err := h.sources.ActsFor(ctx, add.Owner)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	if dry {
		return h.look(ctx, add.URL)
	}
	s, err := h.sources.Add(ctx, actor, add)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	fmt.Fprintf(h.stdout, "added %s\n", s.Code)
	return h.fetch(ctx, s)
}

// addPush adds a source whose program has the token that is printed.
func (h *hosting) addPush(ctx context.Context, add sources.New) error {
	actor, err := h.sources.ActsFor(ctx, add.Owner)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	add.Way = sources.Push
	s, err := h.sources.Add(ctx, actor, add)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	token, err := h.sources.Token(ctx, actor, s.Code)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.stdout, "added %s\ntoken %s\n", s.Code, token)
	return nil
}

// look says what an address would bring.
func (h *hosting) look(ctx context.Context, address string) error {
	found, problem, err := h.fetcher.Look(ctx, address)
	return h.wouldBring(address, found, problem, err)
}

func (h *hosting) wouldBring(what string, found formats.Summary, problem sources.Problem, err error) error {
	if fatal, ok := errors.AsType[*formats.Fatal](err); ok {
		return fmt.Errorf("%s: %s", what, fatalText(fatal))
	}
	if err != nil {
		return err
	}
	if problem != "" {
		return fmt.Errorf("%s: %s", what, problemText(string(problem)))
	}
	fmt.Fprintf(h.stdout, "%d new, 0 changed, 0 would go%s\n", found.Lines-found.Bad, wrong(found.Problems(formats.LevelError), found.Problems(formats.LevelWarning)))
	return nil
}

// addAll adds the links of an OPML file. The site fetches them; this command would take long for many.
func (h *hosting) addAll(ctx context.Context, add sources.New, name string, dry bool) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	list, err := formats.ParseOPML(file)
	if fatal, ok := errors.AsType[*formats.Fatal](err); ok {
		return fmt.Errorf("%s: %s", name, fatalText(fatal))
	}
	if err != nil {
		return err
	}
	actor, err := h.sources.ActsFor(ctx, add.Owner)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	if dry {
		return h.lookAtAll(ctx, list)
	}
	became, err := h.sources.AddMany(ctx, actor, add.Owner, add.Slug, list)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	added := 0
	for _, one := range became {
		if one.As == sources.Added {
			added++
		}
		fmt.Fprintf(h.stdout, "%s %s\n", becameText[one.As], one.URL)
	}
	fmt.Fprintf(h.stdout, "added %d of %d feeds; the site fetches them while it is served\n", added, len(became))
	return nil
}

var becameText = map[sources.AddedAs]string{
	sources.Added: "added", sources.There: "is there already:", sources.Invalid: "no address of a feed:", sources.TooMany: "too many sources:",
}

// lookAtAll says what many addresses would bring.
func (h *hosting) lookAtAll(ctx context.Context, list []formats.Outline) error {
	failed := 0
	for _, o := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(h.stdout, "%s: ", o.URL)
		if err := h.look(ctx, o.URL); err != nil {
			failed++
			fmt.Fprintln(h.stdout, "fails")
			fmt.Fprintf(h.stderr, "%s: %v\n", h.name, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d feeds failed: see above", failed, len(list))
	}
	return nil
}

// cutTitle cuts a title that another program wrote.
func cutTitle(title string) string { return view.ShortText(strings.ToValidUTF8(title, ""), 100) }

// addFile adds a source of files, and loads its first one.
func (h *hosting) addFile(ctx context.Context, add sources.New, name string, dry bool) error {
	actor, err := h.sources.ActsFor(ctx, add.Owner)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	begin := make([]byte, 4096)
	n, err := io.ReadFull(file, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if dry {
		found, err := formats.Canonical(io.Discard, file, formats.Options{})
		return h.wouldBring(name, found, "", err)
	}
	// The format says what absence means, unless the operator does. A compressed file does not show
	// its format yet, so absent items stay.
	if format, err := formats.Detect(begin[:n], ""); err == nil {
		add.Format = format
	}
	if add.Title == "" {
		add.Title = cutTitle(filepath.Base(name))
	}
	s, err := h.sources.Add(ctx, actor, add)
	if err != nil {
		return explainSource(add.Owner, err)
	}
	fmt.Fprintf(h.stdout, "added %s\n", s.Code)
	return h.load(ctx, actor, s, file, false)
}

// find returns a source, and who acts for its owner.
func (h *hosting) find(ctx context.Context, code string) (sources.Source, int64, error) {
	none := fmt.Errorf("there is no source %s", code)
	parsed, ok := timelines.ParseCode(code)
	if !ok {
		return sources.Source{}, 0, none
	}
	s, err := h.sources.ByCode(ctx, parsed)
	if errors.Is(err, sources.ErrNotFound) {
		return sources.Source{}, 0, none
	}
	if err != nil {
		return sources.Source{}, 0, err
	}
	actor, err := h.sources.ActsFor(ctx, s.Owner)
	if err != nil {
		return sources.Source{}, 0, explainSource(s.Owner, err)
	}
	return s.Source, actor, nil
}

// lookAgain is how often this process looks whether another one has ended what it does.
const lookAgain = 100 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return errors.New("interrupted")
	case <-t.C:
		return nil
	}
}

// latest is the number of the latest load of a source, 0 if there is none.
func (h *hosting) latest(ctx context.Context, source int64) (int64, error) {
	list, err := h.sources.Loads(ctx, source, 0, 1)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[0].No, nil
}

// fetch fetches a link and prints what happened. If the source is due, the site may fetch it at the
// same time; then fetch prints the site's load.
func (h *hosting) fetch(ctx context.Context, s sources.Source) error {
	if s.Status == sources.Paused {
		return fmt.Errorf("%s is paused", s.Code)
	}
	// A source that was just added has no load that is not of its first fetch.
	before := int64(0)
	if s.FetchedAt != nil {
		var err error
		if before, err = h.latest(ctx, s.ID); err != nil {
			return err
		}
	}
	if _, err := h.ask(ctx, s, h.fetcher.Fetch); err != nil {
		return err
	}
	no, err := h.latest(ctx, s.ID)
	if err != nil {
		return err
	}
	if no == before {
		fmt.Fprintln(h.stdout, "nothing is new")
		return nil
	}
	return h.work(ctx, s.ID, no)
}

// preview says what a fetch would change.
func (h *hosting) preview(ctx context.Context, s sources.Source) error {
	o, err := h.ask(ctx, s, h.fetcher.Preview)
	if err != nil {
		return err
	}
	return h.work(ctx, s.ID, o.Load)
}

// ask asks the host of a link until it answers, with the waits that it and other processes ask for.
func (h *hosting) ask(ctx context.Context, s sources.Source, fetch func(context.Context, int64) (loads.Outcome, error)) (loads.Outcome, error) {
	for {
		o, err := fetch(ctx, s.ID)
		switch {
		case errors.Is(err, sources.ErrNotFound):
			return o, fmt.Errorf("%s is paused or was removed", s.Code)
		case errors.Is(err, sources.ErrBusy), errors.Is(err, sources.ErrStale):
			o.Postponed, o.After = true, lookAgain
		case err != nil:
			return o, err
		case o.Problem != "" && !o.Postponed:
			return o, fmt.Errorf("%s: %s", s.URL, problemText(string(o.Problem)))
		}
		if !o.Postponed {
			return o, nil
		}
		if err := pause(ctx, o.After); err != nil {
			return o, err
		}
	}
}

// load loads a file for a source.
func (h *hosting) load(ctx context.Context, actor int64, s sources.Source, file io.Reader, dry bool) error {
	sum, size, err := h.blobs.Put(ctx, file, h.sources.Limits().FileBytes)
	if errors.Is(err, blobs.ErrTooLarge) {
		return errors.New(problemText(string(formats.TooLarge)))
	}
	if err != nil {
		return fmt.Errorf("keep the file: %w", err)
	}
	l, err := h.sources.Upload(ctx, actor, s.Code, sources.Uploaded{Sum: sum, Bytes: size, Dry: dry})
	if err != nil {
		return explainSource("", err)
	}
	return h.work(ctx, s.ID, l.No)
}

// work works the loads of a source, or waits for the process that does, until one has ended, and
// prints its result.
func (h *hosting) work(ctx context.Context, source, no int64) error {
	for {
		err := h.runner.Run(ctx, source)
		if err != nil && !errors.Is(err, sources.ErrBusy) && !errors.Is(err, loads.ErrHeld) {
			if ctx.Err() != nil {
				return errors.New("interrupted; the load goes on while the site is served, or with the next fetch")
			}
			return explainSource("", err)
		}
		l, err := h.sources.Load(ctx, source, no)
		if err != nil {
			return err
		}
		if !l.State.Working() {
			return h.tell(&l)
		}
		if err := pause(ctx, lookAgain); err != nil {
			return err
		}
	}
}

// tell prints the result of a load.
func (h *hosting) tell(l *sources.Load) error {
	switch l.State {
	case sources.Failed:
		if l.Problem != nil {
			return fmt.Errorf("load %d failed: %s", l.No, fatalText(l.Problem))
		}
		return fmt.Errorf("load %d failed", l.No)
	case sources.Cancelled:
		return fmt.Errorf("load %d was cancelled", l.No)
	case sources.Previewed:
		fmt.Fprintf(h.stdout, "%d new, %d changed, %d would go%s\n", l.Added, l.Changed, l.Gone, wrong(l.Errors, l.Warnings))
	case sources.Held:
		fmt.Fprintf(h.stdout, "load %d: %d new, %d changed%s\n%d would go, which is many at once: its owner is asked on the page of the source\n",
			l.No, l.Added, l.Changed, wrong(l.Errors, l.Warnings), l.Gone)
	default:
		fmt.Fprintf(h.stdout, "load %d: %d new, %d changed, %d went%s\n", l.No, l.Added, l.Changed, l.Gone, wrong(l.Errors, l.Warnings))
	}
	return nil
}

// wrong prints the number of problems, if there are any.
func wrong(problems, warnings int64) string {
	if problems+warnings == 0 {
		return ""
	}
	return fmt.Sprintf("; errors %d, warnings %d", problems, warnings)
}

func problemText(code string) string {
	what, todo := view.ProblemText(view.LocaleOf("en"), code)
	return strings.TrimSpace(what + " " + todo)
}

func fatalText(f *formats.Fatal) string {
	text := problemText(string(f.Code))
	if f.Line > 0 {
		text += fmt.Sprintf(" Line %d, column %d.", f.Line, f.Column)
	}
	return text
}
