package sources

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// Runner works loads. It is safe for concurrent use: a source is worked by one process at a time.
type Runner struct {
	Sources *sources.Store
	// Blobs has the bytes of loads as they came.
	Blobs blobs.Store
	// Carry has rivers and nodes follow a change (tiers.Tiers).
	Carry func(context.Context, timelines.Change, error) (timelines.Change, error)
	// Yield returns when pages show all changes that people made: those come first.
	Yield func(context.Context) error
	// Dir is the folder of canonical files that are being applied; empty: the system's folder for
	// temporary files.
	Dir string
	Log *slog.Logger
}

// Run works all waiting loads of a source, the oldest first (F13), or removes the source if it is to
// go (F4). It returns sources.ErrBusy if somebody else does, and ErrHeld if the next load waits. Any
// other error is that of a store, of the disk or of ctx. Run is then to be called again, and goes on
// where it ended (F15).
func (r Runner) Run(ctx context.Context, source int64) (err error) {
	work, err := r.Sources.Take(ctx, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close(ctx)) }()
	for {
		err := r.next(ctx, work)
		switch {
		case errors.Is(err, sources.ErrNotFound):
			return nil
		case errors.Is(err, sources.ErrStale):
			// The load was cancelled, or the source is being removed, since Run took it.
		case err != nil:
			return fmt.Errorf("load source %d: %w", source, err)
		}
	}
}

// ErrHeld says that the next load of a source waits for pictures of its news. It goes on when the
// source is announced again, or found standing still.
var ErrHeld = errors.New("the load waits for pictures")

// next removes the source if it is to go; otherwise it works the next load. It returns
// sources.ErrNotFound if nothing waits.
func (r Runner) next(ctx context.Context, work *sources.Work) error {
	if err := r.remove(ctx, work); !errors.Is(err, sources.ErrStale) {
		return err
	}
	load, err := work.Next(ctx)
	if err != nil {
		return err
	}
	if err = r.load(ctx, work, &load); err == nil || ctx.Err() != nil || errors.Is(err, sources.ErrStale) || errors.Is(err, ErrHeld) {
		return err
	}
	// The load is tried again, but not for ever (F15).
	tries, failed := work.Failed(ctx, &load)
	if failed == nil && tries >= mostTries {
		r.Log.ErrorContext(ctx, "a source cannot be loaded", "source", load.SourceID, "load", load.No, "error", err)
		return work.Fail(ctx, &load, formats.Fatal{Code: formats.NotLoaded})
	}
	return errors.Join(err, failed)
}

// mostTries is how often a load is tried if this site is to blame for its failures. That takes some
// hours, as jobs wait longer and longer between tries.
const mostTries = 50

// remove removes a source, or returns sources.ErrStale if it is not to go.
func (r Runner) remove(ctx context.Context, work *sources.Work) error {
	for {
		c, gone, err := work.Remove(ctx)
		_, err = r.Carry(ctx, c, err)
		if err != nil {
			return err
		}
		if gone {
			return sources.ErrNotFound
		}
		if err := r.Yield(ctx); err != nil {
			return err
		}
	}
}

// load works one load to its end, or until somebody must be asked.
func (r Runner) load(ctx context.Context, work *sources.Work, l *sources.Load) error {
	if l.State != sources.Finishing && l.State != sources.Sweeping {
		err := r.passes(ctx, work, l)
		var fatal *formats.Fatal
		if errors.As(err, &fatal) {
			return work.Fail(ctx, l, *fatal)
		}
		// The author may not post there any more. Another try would not change that.
		if invalid, ok := errors.AsType[*timelines.InvalidError](err); ok && invalid.Field == "to" {
			return work.Fail(ctx, l, formats.Fatal{Code: formats.PlaceClosed, Excerpt: invalid.Value})
		}
		if err != nil {
			return err
		}
	}
	if l.State == sources.Finishing {
		if err := work.Finish(ctx, l); err != nil {
			return err
		}
	}
	for l.State == sources.Sweeping {
		if err := r.Yield(ctx); err != nil {
			return err
		}
		c, err := work.Sweep(ctx, l)
		if _, err = r.Carry(ctx, c, err); err != nil {
			return err
		}
	}
	return nil
}

// passes makes the canonical file and applies its lines (F14).
func (r Runner) passes(ctx context.Context, work *sources.Work, l *sources.Load) (err error) {
	file, err := os.CreateTemp(r.Dir, "riverrun-load-*")
	if err != nil {
		return fmt.Errorf("canonical file: %w", err)
	}
	// The file has no name, so it is gone when the process ends, however that happens.
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil {
		return fmt.Errorf("canonical file: %w", err)
	}
	began := time.Now()
	found, sum, err := r.firstPass(ctx, file, l)
	if err != nil {
		return err
	}
	r.Log.InfoContext(ctx, "read a source", "source", l.SourceID, "load", l.No, "items", found.Lines, "took", time.Since(began))
	if err := work.Begin(ctx, l, found, sum); err != nil {
		return err
	}
	if err := work.Hub(ctx, l, found.Feed); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("canonical file: %w", err)
	}
	in, err := formats.ReadCanonical(file, int(l.Cursor))
	if err != nil {
		return err
	}
	return r.apply(ctx, work, l, in)
}

// apply applies the lines of a canonical file, some at a time: more of them, the fewer have changed.
func (r Runner) apply(ctx context.Context, work *sources.Work, l *sources.Load, in *formats.Lines) error {
	var lines []*formats.Line
	for most := sources.MostItems; l.State == sources.Applying; {
		var err error
		if lines, err = fill(lines, in, most); err != nil {
			return err
		}
		held, err := work.Hold(ctx, l, lines)
		if err != nil {
			return err
		}
		if held {
			return ErrHeld
		}
		cursor, same := l.Cursor, l.Same
		if err := r.Yield(ctx); err != nil {
			return err
		}
		c, err := work.Apply(ctx, l, lines)
		if _, err = r.Carry(ctx, c, err); err != nil {
			return err
		}
		applied := l.Cursor - cursor
		lines = slices.Delete(lines, 0, int(applied))
		if changed := applied - (l.Same - same); changed <= applied/4 {
			most = min(2*most, sources.MostLines)
		} else {
			most = sources.MostItems
		}
	}
	return nil
}

// mostUnpacked is the size, in bytes, up to which a compressed file may grow when it is unpacked, even
// if the limit of files is lower.
const mostUnpacked = 2 << 30

// firstPass writes the canonical file, and returns its hash. In a feed without ids, items are known
// by their addresses until some share an address. From then on each item of that address is known by
// its address and title.
func (r Runner) firstPass(ctx context.Context, file *os.File, l *sources.Load) (formats.Summary, [32]byte, error) {
	found, sum, err := r.canonical(ctx, file, l, nil)
	if err != nil || found.ByLink == 0 {
		return found, sum, err
	}
	shared, err := r.Sources.SharedLinks(ctx, l.SourceID)
	if shared = append(shared, found.Sharing...); err != nil || len(shared) == 0 {
		return found, sum, err
	}
	slices.Sort(shared)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return found, sum, fmt.Errorf("canonical file: %w", err)
	}
	if err := file.Truncate(0); err != nil {
		return found, sum, fmt.Errorf("canonical file: %w", err)
	}
	return r.canonical(ctx, file, l, slices.Compact(shared))
}

// canonical reads the file of a load and writes the canonical file.
func (r Runner) canonical(ctx context.Context, file io.Writer, l *sources.Load, shared []int64) (s formats.Summary, sum [32]byte, err error) {
	raw, err := r.Blobs.Open(ctx, blobs.Sum(l.File), l.Bytes)
	if err != nil {
		return s, sum, fmt.Errorf("open what came: %w", err)
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	hash := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(file, hash), 1<<16)
	most := r.Sources.Limits()
	s, err = formats.Canonical(out, &cancelled{ctx, raw}, formats.Options{
		Format: formats.Format(l.Format), MediaType: l.MediaType, Charset: l.Charset, Base: l.Base, Now: l.CreatedAt, Shared: shared,
		Limits: formats.Limits{Items: most.Items, Bytes: max(mostUnpacked, most.FileBytes)},
	})
	if err == nil {
		err = out.Flush()
	}
	return s, [32]byte(hash.Sum(nil)), err
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	io.Reader
}

func (c *cancelled) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(b)
}

// mostBytes is how large lines may be beyond the first MostItems.
const mostBytes = 8 << 20

// fill adds lines up to a number, and returns all.
func fill(lines []*formats.Line, in *formats.Lines, most int) ([]*formats.Line, error) {
	size := 0
	for _, l := range lines {
		size += l.Size()
	}
	for len(lines) < most && (len(lines) < sources.MostItems || size < mostBytes) {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		lines, size = append(lines, l.Clone()), size+l.Size()
	}
	return lines, nil
}
