package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"riverrun/timelines"
	"riverrun/timelines/friendfeed"
)

// A batch of an import is one transaction; these bounds keep its memory and its locks small. The
// larger it is, the less it costs: its rows are sorted, and each page of an index is written once.
const (
	batchPosts = 2000
	batchTalk  = 40_000 // comments and likes
	batchBytes = 4 << 20
)

// importMemory is how many bytes the Go runtime aims to stay within. The program itself takes some
// thirty million more.
const importMemory = 80 << 20

// runImport imports archives. It names broken entries, imports the rest, and then fails.
func runImport(ctx context.Context, e *env, args []string) error {
	source := ""
	if len(args) > 0 && args[0] == timelines.FriendFeedSource {
		source, args = args[0], args[1:] // settings may follow it
	}
	c, files, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	if source == "" && len(files) > 0 {
		source, files = files[0], files[1:]
	}
	switch {
	case source != timelines.FriendFeedSource:
		return usagef("import: say what: friendfeed FILE...")
	case len(files) == 0:
		return usagef("import friendfeed: say which: FILE...")
	}
	// A mistyped name is reported before anything has begun.
	for _, file := range files {
		if err := readable(file); err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	// It bounds what garbage adds to a batch. An entry that needs more gets it.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		im, err := n.timelines.Imports.Start(ctx, source)
		if err != nil {
			return err
		}
		in := &importing{env: e, node: n, im: im, progress: newProgress(e.stderr)}
		err = errors.Join(in.files(ctx, files), im.Close(ctx))
		tally := im.Tally()
		fmt.Fprintf(e.stdout, "new: %s\nthere: %s\n", counted(tally.New), counted(tally.There))
		if tally.Left > 0 {
			fmt.Fprintf(e.stdout, "skipped, with what they wrote, as their accounts were deleted here: %d\n", tally.Left)
		}
		return err
	})
}

func readable(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	return f.Close()
}

func counted(c timelines.Count) string {
	return fmt.Sprintf("accounts %d groups %d posts %d comments %d likes %d", c.Accounts, c.Groups, c.Posts, c.Comments, c.Likes)
}

// importing is one run of the command.
type importing struct {
	*env
	node     *node
	im       *timelines.Import
	progress *progress

	batch       []timelines.Imported
	first, last int // elements of the batch
	talk, bytes int
	broken      int // entries and files that were named as broken
}

func (in *importing) files(ctx context.Context, files []string) error {
	for _, file := range files {
		if err := in.file(ctx, file); err != nil {
			in.progress.clear()
			if ctx.Err() != nil {
				return errors.New("import: interrupted; what was imported is kept, the same command goes on")
			}
			return fmt.Errorf("import: %w", err)
		}
	}
	in.progress.clear()
	if err := guessLanguages(ctx, in.im); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if in.broken > 0 {
		return fmt.Errorf("import: not everything could be read: see the %d named above; all else is imported", in.broken)
	}
	return nil
}

// guessLanguages ends a complete import.
func guessLanguages(ctx context.Context, im *timelines.Import) error {
	for more := true; more; {
		var err error
		if more, err = im.GuessLanguages(ctx); err != nil {
			return err
		}
	}
	return nil
}

// file imports one archive. It returns errors of the store or of the disk; faults of the
// archive itself are printed and counted.
func (in *importing) file(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r := friendfeed.NewReader(f, name)
	for {
		entry, err := r.Next()
		var broken *friendfeed.Error
		switch {
		case err == io.EOF:
			return in.flush(ctx, name)
		case errors.As(err, &broken):
			in.broken++
			in.progress.clear()
			fmt.Fprintf(in.stderr, "import: %v\n", err)
			if broken.Broken {
				return in.flush(ctx, name)
			}
			continue
		case err != nil:
			return errors.Join(in.flush(ctx, name), err)
		}
		if err := in.add(ctx, name, entry); err != nil {
			return err
		}
		in.progress.show("%s: %d%%, %d entries", name, percent(r.Offset(), info.Size()), entry.Element)
	}
}

func (in *importing) add(ctx context.Context, name string, e *friendfeed.Entry) error {
	if len(in.batch) == 0 {
		in.first = e.Element
	}
	in.last = e.Element
	in.batch = append(in.batch, timelines.FromFriendFeed(e))
	in.talk += len(e.Comments) + len(e.Likes)
	in.bytes += len(e.Body)
	for _, c := range e.Comments {
		in.bytes += len(c.Body)
	}
	if len(in.batch) < batchPosts && in.talk < batchTalk && in.bytes < batchBytes {
		return nil
	}
	return in.flush(ctx, name)
}

// flush stores the batch.
func (in *importing) flush(ctx context.Context, name string) error {
	if ctx.Err() != nil || len(in.batch) == 0 {
		return ctx.Err()
	}
	ctx = context.WithoutCancel(ctx) // A batch that has begun is finished: Ctrl-C takes effect between two batches.
	c, err := in.im.Add(ctx, in.batch)
	_, err = in.node.tiers.Carry(ctx, c, err)
	if err != nil {
		return fmt.Errorf("%s: elements %d to %d: %w", name, in.first, in.last, err)
	}
	clear(in.batch) // or it would be kept while the next one is read
	in.batch, in.talk, in.bytes = in.batch[:0], 0, 0
	return nil
}

func percent(done, all int64) int64 {
	if all == 0 {
		return 100
	}
	return min(100, done*100/all)
}
