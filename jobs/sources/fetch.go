package sources

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"riverrun/jobs/fetch"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/hosts"
)

// Fetcher fetches sources by their links. It is safe for concurrent use: a source is fetched by one
// process at a time, and a host gets one request at a time.
type Fetcher struct {
	Sources *sources.Store
	// Blobs keeps fetched files as they came.
	Blobs  blobs.Store
	Client *fetch.Client
	// Dir is the folder of files that are being fetched; empty: the system's folder for temporary
	// files.
	Dir string
	// MaxBytes is the size of the largest file; 0: that of the limits of Sources.
	MaxBytes int64
	// Chance returns random numbers in [0, 1); nil: those of math/rand.
	Chance func() float64
	Log    *slog.Logger
}

// Outcome says what happened in a fetch.
type Outcome struct {
	// Load is the number of the load that the fetch made; 0: nothing is new, or there is a Problem.
	Load    int64
	Problem sources.Problem
	// Postponed says that another process was asking the host, and nothing was fetched.
	Postponed bool
	// After is how long to wait until the source is fetched again; 0: it is paused, or it is a preview
	// that need not be made again. If the fetch was Postponed, After is how long the host asked to be
	// left alone; 0: it did not ask.
	After time.Duration
}

// Fetch fetches a source once, and makes a load if the file is new. If the source cannot be fetched,
// the Outcome says so. Fetch returns sources.ErrBusy if somebody else fetches the source (F11: then
// this call stops), sources.ErrNotFound if it is not an active link, and sources.ErrStale if it was
// changed meanwhile, so that the fetched file was thrown away (F34). Any other error is that of a
// store, of the disk or of ctx; then the source is due again some minutes after it was claimed.
func (f Fetcher) Fetch(ctx context.Context, source int64) (Outcome, error) {
	return f.fetch(ctx, source, false)
}

// Preview fetches a source and makes a dry load, which shows what Fetch would change, even if nothing
// is new. It records nothing else, whatever the result. It returns the errors of Fetch.
func (f Fetcher) Preview(ctx context.Context, source int64) (Outcome, error) {
	o, err := f.fetch(ctx, source, true)
	if !o.Postponed {
		o.After = 0
	}
	return o, err
}

func (f Fetcher) fetch(ctx context.Context, source int64, dry bool) (o Outcome, err error) {
	fetching, err := f.Sources.Fetching(ctx, source)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, fetching.Close(ctx)) }()
	target, err := fetching.Target(ctx)
	if err != nil {
		return o, err
	}
	if dry {
		target.ETag, target.Modified, target.Content = "", "", nil
	}
	if o, err = f.target(ctx, fetching, target, dry); err != nil {
		return o, fmt.Errorf("fetch source %d: %w", source, err)
	}
	f.Log.InfoContext(ctx, "fetched a source", "source", source, "load", o.Load, "problem", o.Problem, "postponed", o.Postponed, "again", o.After)
	return o, nil
}

// target fetches an address when its host may be asked.
func (f Fetcher) target(ctx context.Context, fetching *sources.Fetching, target sources.Target, dry bool) (o Outcome, err error) {
	host := hosts.Host(target.URL)
	wait, err := fetching.Reserve(ctx, host)
	if err != nil {
		return o, err
	}
	if wait > 0 {
		// A request that is under way may end at any time. The process that made it goes on with the
		// due sources.
		if o.Postponed = true; wait > sources.HostLease { // the host asked to be left alone
			o.After = wait + time.Duration(f.chance()*float64(30*time.Second))
		}
		if dry {
			return o, nil
		}
		return o, fetching.Postpone(ctx, target.Version, o.After)
	}
	gap := sources.HostGap
	defer func() { err = errors.Join(err, fetching.Release(ctx, host, gap)) }()

	file, err := os.CreateTemp(f.Dir, "riverrun-fetch-*")
	if err != nil {
		return o, fmt.Errorf("fetched file: %w", err)
	}
	// The file has no name, so it is gone when the process ends, however that happens.
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil {
		return o, fmt.Errorf("fetched file: %w", err)
	}
	a := &attempt{Fetcher: f, fetching: fetching, target: target, file: file}
	began := time.Now()
	done, err := a.run(ctx)
	if err != nil {
		return o, err
	}
	gap = sources.GapAfter(time.Since(began), done.Problem != "" || a.answer.RetryAfter > 0)
	// The answer of another host, to which this one redirects, says nothing about this host.
	if (done.Problem == sources.TooOften || done.Problem == sources.ServerFails) && hosts.Host(a.answer.URL) == host {
		gap = max(gap, min(a.answer.RetryAfter, time.Hour)) // its other feeds wait as well
	}
	o.Problem, o.After = done.Problem, done.After
	if dry && done.Problem != "" {
		return o, nil
	}
	done.Version, done.Dry = target.Version, dry
	if o.Load, err = fetching.Record(ctx, done); err != nil {
		return Outcome{}, err
	}
	if o.Problem == sources.Gone {
		o.After = 0
	}
	return o, nil
}

// attempt is one fetch of a link.
type attempt struct {
	Fetcher
	fetching *sources.Fetching
	target   sources.Target
	file     *os.File

	answer fetch.Feed
	sum    [32]byte
}

// run fetches the address, and once more if it is a page that names a feed.
func (a *attempt) run(ctx context.Context) (sources.Fetched, error) {
	problem, err := a.get(ctx, fetch.Request{URL: a.target.URL, ETag: a.target.ETag, LastModified: a.target.Modified})
	if err != nil {
		return sources.Fetched{}, err
	}
	if problem != "" {
		return a.failed(problem), nil
	}
	if a.answer.Status == http.StatusNotModified {
		return a.moved(ctx, sources.Fetched{After: a.period(a.target.TTL)})
	}
	said, wrong, err := a.look(ctx)
	if err != nil {
		return sources.Fetched{}, err
	}
	if !errors.Is(wrong, formats.ErrPage) {
		done, moved, err := a.follow(ctx, said.Moved)
		if err != nil || moved {
			return done, err
		}
		return a.came(ctx, said.TTL, "")
	}
	// The address gave a feed before. So its site is broken now, and the page may name anything.
	named, err := a.discover(ctx)
	if err != nil {
		return sources.Fetched{}, err
	}
	if len(named) == 0 || a.target.Read {
		return a.failed(sources.NoFeed), nil
	}
	// Another of them can be chosen, also if the first one cannot be read.
	done, err := a.named(ctx, named[0].URL)
	done.Feeds = named
	return done, err
}

// named fetches the feed that a page names.
func (a *attempt) named(ctx context.Context, address string) (sources.Fetched, error) {
	taken, err := a.fetching.Taken(ctx, address)
	if err != nil {
		return sources.Fetched{}, err
	}
	if taken {
		return a.failed(sources.URLTaken), nil
	}
	if problem, err := a.get(ctx, fetch.Request{URL: address}); err != nil || problem != "" {
		return a.failed(problem), err
	}
	said, wrong, err := a.look(ctx)
	if err != nil || errors.Is(wrong, formats.ErrPage) {
		return a.failed(sources.NoFeed), err
	}
	return a.came(ctx, said.TTL, address)
}

// follow fetches the address that the feed says it has moved to (itunes:new-feed-url). The feed has
// not moved if this is its address already, if another source of the owner has the address, or if the
// feed there moves on or is none.
func (a *attempt) follow(ctx context.Context, to string) (done sources.Fetched, moved bool, err error) {
	to, _, _ = strings.Cut(to, "#")
	if to == "" || to == a.target.URL || to == a.answer.URL {
		return done, false, nil
	}
	if taken, err := a.fetching.Taken(ctx, to); err != nil || taken {
		return done, false, err
	}
	file, err := os.CreateTemp(a.Dir, "riverrun-fetch-*")
	if err != nil {
		return done, false, fmt.Errorf("fetched file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	there := &attempt{Fetcher: a.Fetcher, fetching: a.fetching, target: a.target, file: file}
	if problem, err := there.get(ctx, fetch.Request{URL: to}); err != nil || problem != "" {
		return done, false, err
	}
	said, wrong, err := there.look(ctx)
	if err != nil || wrong != nil || said.Moved != "" && said.Moved != to {
		return done, false, err
	}
	done, err = there.came(ctx, said.TTL, to)
	return done, true, err
}

// came returns the outcome of a fetched file, and stores the file if it is new. named is the address
// of the feed, if it is not that of the source.
func (a *attempt) came(ctx context.Context, ttl time.Duration, named string) (sources.Fetched, error) {
	done, err := a.moved(ctx, sources.Fetched{After: a.period(ttl), URL: named})
	if err != nil {
		return done, err
	}
	if done.URL == "" && string(a.sum[:]) == string(a.target.Content) {
		return done, nil
	}
	if err := a.rewind(); err != nil {
		return done, err
	}
	sum, size, err := a.Blobs.Put(ctx, a.file, a.maxBytes())
	if err != nil {
		return done, fmt.Errorf("keep what was fetched: %w", err)
	}
	done.File = &sources.FetchedFile{
		Sum: sum, Bytes: size, MediaType: a.answer.Type, Charset: a.answer.Charset, Base: a.answer.URL,
		ETag: a.answer.ETag, Modified: a.answer.LastModified, TTL: ttl,
	}
	return done, nil
}

// moved sets the new address of the source if all redirects were permanent, unless the owner has
// another source with that address.
func (a *attempt) moved(ctx context.Context, done sources.Fetched) (sources.Fetched, error) {
	if !a.answer.Permanent || a.answer.URL == a.target.URL {
		return done, nil
	}
	taken, err := a.fetching.Taken(ctx, a.answer.URL)
	if !taken {
		done.URL = a.answer.URL
	}
	return done, err
}

func (a *attempt) failed(p sources.Problem) sources.Fetched {
	after := sources.Backoff(a.target.Failures+1, a.chance())
	if a.answer.RetryAfter > 0 {
		after = max(after, a.Sources.Limits().Period(a.chance(), a.answer.RetryAfter))
	}
	return sources.Fetched{Problem: p, After: after}
}

// period returns how long to wait after a fetch. While the loads of the source fail, the time grows.
func (a *attempt) period(ttl time.Duration) time.Duration {
	after := a.Sources.Limits().Period(a.chance(), ttl, a.answer.MaxAge, a.answer.RetryAfter)
	if a.target.Problem != "" && !sources.Problem(a.target.Problem).OfFetch() {
		after = max(after, sources.Backoff(a.target.Failures, a.chance()))
	}
	return after
}

// get fetches an address into the file. It returns a problem only if the other side is to blame.
func (a *attempt) get(ctx context.Context, r fetch.Request) (sources.Problem, error) {
	if err := a.rewind(); err != nil {
		return "", err
	}
	if err := a.file.Truncate(0); err != nil {
		return "", fmt.Errorf("fetched file: %w", err)
	}
	hash := sha256.New()
	r.MaxBytes = a.maxBytes()
	// The output is buffered, since some servers send a few bytes at a time.
	out := bufio.NewWriterSize(io.MultiWriter(a.file, hash), 1<<16)
	var err error
	a.answer, err = a.Client.Feed(ctx, r, out)
	if err == nil {
		err = out.Flush()
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		if p := problemOf(err); p != "" {
			a.Log.DebugContext(ctx, "cannot fetch a source", "error", err)
			return p, nil
		}
		return "", err
	}
	a.sum = [32]byte(hash.Sum(nil))
	asked := r.ETag != "" || r.LastModified != ""
	switch s := a.answer.Status; {
	case s == http.StatusOK, s == http.StatusNonAuthoritativeInfo, s == http.StatusNotModified && asked:
		return "", nil
	default:
		return problemOfStatus(s), nil
	}
}

// look reads the beginning of the file. It returns what the feed says about itself, and what is wrong
// with the file. Only a page has consequences here; the load reports everything else.
func (a *attempt) look(ctx context.Context) (said formats.Feed, wrong, err error) {
	if err := a.rewind(); err != nil {
		return said, nil, err
	}
	in, err := formats.NewReader(&cancelled{ctx, a.file}, formats.Options{
		Format: formats.Format(a.target.Format), MediaType: a.answer.Type, Charset: a.answer.Charset, Base: a.answer.URL,
	})
	if err == nil {
		// The facts about a feed stand before its first item.
		_, err = in.Next()
		said = in.Feed()
	}
	var fatal *formats.Fatal
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return said, nil, nil
	case errors.As(err, &fatal):
		return said, fatal, nil
	}
	return said, nil, fmt.Errorf("fetched file: %w", err)
}

// discover returns the feeds that the page in the file names, and that are not the page itself.
func (a *attempt) discover(ctx context.Context) (feeds []formats.Discovered, err error) {
	if err := a.rewind(); err != nil {
		return nil, err
	}
	kind := a.answer.Type
	if kind != "" && a.answer.Charset != "" {
		kind += "; charset=" + a.answer.Charset
	}
	found, err := formats.Discover(&cancelled{ctx, a.file}, a.answer.URL, kind)
	for _, d := range found {
		d.URL, _, _ = strings.Cut(d.URL, "#")
		if d.URL != a.target.URL && d.URL != a.answer.URL && !slices.ContainsFunc(feeds, func(f formats.Discovered) bool { return f.URL == d.URL }) {
			feeds = append(feeds, d)
		}
	}
	return feeds, err
}

func (a *attempt) rewind() error {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("fetched file: %w", err)
	}
	return nil
}

func (f Fetcher) maxBytes() int64 {
	if f.MaxBytes > 0 {
		return f.MaxBytes
	}
	return f.Sources.Limits().FileBytes
}

func (f Fetcher) chance() float64 {
	if f.Chance != nil {
		return f.Chance()
	}
	return rand.Float64()
}

var reasons = []struct {
	err     error
	problem sources.Problem
}{
	{fetch.ErrInvalid, sources.AddressInvalid},
	{fetch.ErrForbidden, sources.AddressForbidden},
	{fetch.ErrDNS, sources.NameUnknown},
	{fetch.ErrRefused, sources.NotReached},
	{fetch.ErrProxy, sources.ProxyFailed},
	{fetch.ErrTLS, sources.NotSecure},
	{fetch.ErrDowngrade, sources.NotSecure},
	{fetch.ErrTimeout, sources.TimedOut},
	{fetch.ErrTooLarge, sources.FileTooLarge},
	{fetch.ErrRedirects, sources.Redirects},
	{fetch.ErrType, sources.BadEncoding},
	{fetch.ErrBroken, sources.BadAnswer},
}

// problemOf returns the problem that an error of a request stands for; none if this node is to blame.
func problemOf(err error) sources.Problem {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.problem
		}
	}
	return ""
}

func problemOfStatus(status int) sources.Problem {
	switch {
	case status == http.StatusUnauthorized:
		return sources.Unauthorized
	case status == http.StatusForbidden:
		return sources.Denied
	case status == http.StatusNotFound:
		return sources.NotFound
	case status == http.StatusGone:
		return sources.Gone
	case status == http.StatusTooManyRequests:
		return sources.TooOften
	case status >= 500 && status < 600:
		return sources.ServerFails
	}
	return sources.BadStatus
}
