package photos

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"riverrun/jobs/fetch"
	"riverrun/jobs/uploads"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/pictures"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/photos"
)

const (
	// MaxBytes is the size of the largest picture as it comes. The table of codes states it too.
	MaxBytes = 20 << 20
	// timeout bounds the fetch of one picture. Making bounds the time that it takes to make one. An
	// honest picture takes a second, and uploads wait meanwhile.
	timeout = time.Minute
	Making  = 10 * time.Second
	// atOnce is how many pictures are claimed together. All of them are fetched within their lease.
	atOnce = 20
	// After runTime a run claims no more pictures. After claimTime it gives back those that it has
	// claimed.
	runTime   = time.Minute
	claimTime = 2 * time.Minute
	// recordTime bounds the time that it takes to record pictures.
	recordTime = 30 * time.Second
	// Pictures are recorded when this many are made, or when the oldest has waited this long.
	together = 8
	soon     = 500 * time.Millisecond
	// longestRest is the longest time for which a host is left alone because it asks for that.
	longestRest = time.Hour
)

// accept are the types of pictures that are read. Some servers choose by them.
var accept = []string{"image/jpeg", "image/png", "image/gif", "image/webp;q=0.9", "image/*;q=0.5", "*/*;q=0.1"}

// Fetcher fetches pictures. It is safe for concurrent use.
type Fetcher struct {
	Photos *photos.Store
	Blobs  blobs.Store
	Client *fetch.Client
	// Carry has rivers and nodes follow a change (tiers.Tiers).
	Carry func(context.Context, timelines.Change, error) (timelines.Change, error)
	// Turn returns when a picture may be made. The caller calls done after that.
	Turn func(ctx context.Context) (done func(), err error)
	// Dir is the folder of pictures that are being fetched; empty: the system's folder for temporary
	// files.
	Dir string
	Log *slog.Logger
}

// Run fetches the due pictures of a host, until there are none, another process asks the host, the
// host wants to be left alone, or some time has passed. The error is that of a store, of the disk or
// of ctx; then the claimed pictures are due again some minutes later.
func (f Fetcher) Run(ctx context.Context, host string) error {
	for end := time.Now().Add(runTime); time.Now().Before(end); {
		claimed, err := f.Photos.Claim(ctx, host, atOnce)
		if err != nil || len(claimed) == 0 {
			return err
		}
		r := &run{Fetcher: f, host: host, known: map[string]photos.Outcome{}}
		rest, err := r.work(ctx, claimed)
		left := make([]int64, len(rest))
		for i, p := range rest {
			left[i] = p.ID
		}
		err = errors.Join(err, f.Photos.Return(ctx, left, r.rest))
		if err != nil {
			return fmt.Errorf("fetch pictures of a host: %w", err)
		}
		if len(rest) > 0 {
			return nil
		}
	}
	return nil
}

// run is the work on the pictures that were claimed together.
type run struct {
	Fetcher
	host string
	// known are the outcomes of pictures that were fetched just now, by source and address.
	known map[string]photos.Outcome
	// made receives the pictures that are to be recorded.
	made chan photos.Outcome
	// rest is how long the host wants to be left alone.
	rest time.Duration
}

// work works pictures one after the other, and returns those that it did not reach. Pictures are
// recorded at the same time, since the next one may take long to come.
func (r *run) work(ctx context.Context, claimed []photos.Photo) (rest []photos.Photo, err error) {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.made = make(chan photos.Outcome)
	recorded := make(chan error, 1)
	go func() {
		err := r.record(ctx)
		if err != nil {
			stop(err)
			for range r.made { // these pictures are due again some minutes later
			}
		}
		recorded <- err
	}()
	defer func() {
		close(r.made)
		err = errors.Join(err, <-recorded)
	}()
	end := time.Now().Add(claimTime)
	for i, p := range claimed {
		if time.Now().After(end) || r.rest > 0 {
			return claimed[i:], nil
		}
		asked, err := r.one(working, p)
		if err != nil || !asked {
			return claimed[i:], err
		}
	}
	return nil, nil
}

// record records pictures, several together, until there are no more.
func (r *run) record(ctx context.Context) error {
	for o := range r.made {
		list := []photos.Outcome{o}
		late := time.NewTimer(soon)
		for more := true; more && len(list) < together; {
			select {
			case o, more = <-r.made:
				if more {
					list = append(list, o)
				}
			case <-late.C:
				more = false
			}
		}
		late.Stop()
		if err := r.recordAll(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// recordAll records pictures, those of one source together. It does so even if this node stops.
func (r *run) recordAll(ctx context.Context, list []photos.Outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	for len(list) > 0 {
		source := list[0].SourceID
		var mine, others []photos.Outcome
		for _, o := range list {
			if o.SourceID == source {
				mine = append(mine, o)
			} else {
				others = append(others, o)
			}
		}
		list = others
		c, err := r.Photos.Record(ctx, source, mine)
		_, err = r.Carry(ctx, c, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// one fetches and makes one picture. It returns false if another process asks the host.
func (r *run) one(ctx context.Context, p photos.Photo) (asked bool, err error) {
	key := fmt.Sprint(p.SourceID, " ", p.URL)
	if o, ok := r.known[key]; ok {
		o.Photo = p
		r.made <- o
		return true, nil
	}
	if free, err := r.reserve(ctx); err != nil || !free {
		return false, err
	}
	reserved := true
	release := func() error {
		if !reserved {
			return nil
		}
		reserved = false
		return r.Photos.Release(ctx, r.host, max(photos.Gap, r.rest))
	}
	defer func() { err = errors.Join(err, release()) }()
	waits, err := r.Photos.Try(ctx, p.ID)
	if err != nil || !waits {
		return err == nil, err
	}
	file, err := os.CreateTemp(r.Dir, "riverrun-picture-*")
	if err != nil {
		return true, fmt.Errorf("fetched picture: %w", err)
	}
	// The file has no name, so it is gone when the process ends, however that happens.
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil {
		return true, fmt.Errorf("fetched picture: %w", err)
	}
	o, err := r.get(ctx, p, file)
	if err := errors.Join(err, release()); err != nil {
		return true, err
	}
	if o.Problem == "" && o.Copy == 0 {
		if err := r.picture(ctx, &o, file); err != nil {
			return true, err
		}
	}
	if o.Problem != "" {
		r.Log.DebugContext(ctx, "no picture of an item", "picture", p.ID, "code", o.Problem, "passes", o.Passes)
	}
	if !o.Passes {
		r.known[key] = o
	}
	r.made <- o
	return true, nil
}

// reserve waits for the gap of the host. It returns false if another process asks the host.
func (r *run) reserve(ctx context.Context) (free bool, err error) {
	for range 3 {
		wait, err := r.Photos.Reserve(ctx, r.host)
		if err != nil || wait == 0 {
			return err == nil, err
		}
		if wait > 2*photos.Gap {
			return false, nil
		}
		gap := time.NewTimer(wait)
		select {
		case <-gap.C:
		case <-ctx.Done():
			gap.Stop()
			return false, ctx.Err()
		}
	}
	return false, nil
}

// get fetches the address of a picture into a file. It returns a problem if the other side is to
// blame.
func (r *run) get(ctx context.Context, p photos.Photo, file io.Writer) (photos.Outcome, error) {
	o := photos.Outcome{Photo: p}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	hash := sha256.New()
	answer, err := r.Client.File(within, fetch.Request{
		URL: p.URL, Accept: accept, MaxBytes: MaxBytes, ETag: p.ETag, LastModified: p.Modified,
	}, io.MultiWriter(file, hash))
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		var known bool
		if o.Problem, o.Passes, known = problemOf(err); !known {
			return o, err
		}
		return o, nil
	}
	switch s := answer.Status; {
	case s == http.StatusNotModified && p.Like != 0:
		o.Copy, o.ETag, o.Modified = p.Like, p.ETag, p.Modified
		return o, nil
	case s == http.StatusOK, s == http.StatusNonAuthoritativeInfo:
		o.Sum, o.Bytes, o.ETag, o.Modified = blobs.Sum(hash.Sum(nil)), answer.Bytes, answer.ETag, answer.LastModified
		return o, nil
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable:
		r.rest = min(answer.RetryAfter, longestRest)
		o.After = answer.RetryAfter
	}
	o.Problem, o.Passes = problemOfStatus(answer.Status)
	return o, nil
}

// picture makes the sizes of a picture and stores them.
func (r *run) picture(ctx context.Context, o *photos.Outcome, file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("fetched picture: %w", err)
	}
	// A file that is no picture need not wait for its turn.
	made, err := pictures.Picture{}, pictures.Check(ctx, file, pictures.Limits{})
	if err == nil {
		made, err = r.make(ctx, file)
	}
	switch {
	case errors.Is(err, pictures.ErrTooManyPixels), errors.Is(err, errSlow):
		o.Problem = photos.TooLarge
		return nil
	case errors.Is(err, pictures.ErrNotPicture), errors.Is(err, pictures.ErrCorrupt), errors.Is(err, errPanic):
		o.Problem = photos.NotAPicture
		return nil
	case err != nil:
		return fmt.Errorf("make picture %d: %w", o.ID, err)
	}
	o.Made = files.Made{Blurhash: made.Blurhash, Width: made.Files[0].Width, Height: made.Files[0].Height}
	o.Made.Blobs, err = uploads.Store(ctx, r.Blobs, made.Files)
	return err
}

// errSlow says that a picture takes longer to make than any honest one. errPanic says that the code
// that makes pictures panicked.
var (
	errSlow  = errors.New("the picture takes too long")
	errPanic = errors.New("the picture cannot be made")
)

func (r *run) make(ctx context.Context, file *os.File) (made pictures.Picture, err error) {
	done, err := r.Turn(ctx)
	if err != nil {
		return made, err
	}
	defer done()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return made, fmt.Errorf("fetched picture: %w", err)
	}
	within, cancel := context.WithTimeoutCause(ctx, Making, errSlow)
	defer cancel()
	made, err = pictures.Make(within, file, pictures.Limits{})
	if err != nil && errors.Is(context.Cause(within), errSlow) {
		err = errSlow
	}
	return made, err
}

var reasons = []struct {
	err    error
	code   formats.Code
	passes bool
}{
	{fetch.ErrForbidden, photos.Forbidden, false},
	{fetch.ErrTooLarge, photos.TooLarge, false},
	{fetch.ErrType, photos.NotAPicture, false},
	{fetch.ErrInvalid, photos.NotFound, false},
	{fetch.ErrDNS, photos.Unreachable, true},
	{fetch.ErrRefused, photos.Unreachable, true},
	{fetch.ErrProxy, photos.Unreachable, true},
	{fetch.ErrTLS, photos.Unreachable, true},
	{fetch.ErrDowngrade, photos.Unreachable, true},
	{fetch.ErrTimeout, photos.Unreachable, true},
	{fetch.ErrRedirects, photos.Unreachable, true},
	{fetch.ErrBroken, photos.Unreachable, true},
}

// problemOf returns the problem that an error of a request stands for, and whether it may pass. known
// is false if this node is to blame.
func problemOf(err error) (code formats.Code, passes, known bool) {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.code, r.passes, true
		}
	}
	return "", false, false
}

func problemOfStatus(status int) (code formats.Code, passes bool) {
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		return photos.NotFound, false
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		return photos.Unreachable, true
	case status/100 == 4:
		return photos.Denied, false
	}
	return photos.NotAPicture, false
}
