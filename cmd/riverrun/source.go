package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// runSource adds, lists, fetches and removes sources.
func runSource(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("source: say add, list, fetch or remove")
	}
	verb, args := args[0], flagsFirst(args[1:])
	e.name += " " + verb
	switch verb {
	case "add":
		return sourceAdd(ctx, e, args)
	case "list":
		return sourceList(ctx, e, args)
	case "fetch":
		return sourceFetch(ctx, e, args)
	case "remove":
		return sourceRemove(ctx, e, args)
	}
	return usagef("source: there is no %q; say add, list, fetch or remove", verb)
}

// Flags without a value.
const (
	dryRun = "dry-run"
	pushed = "push"
)

// flagsFirst puts flags that follow the arguments before them, where they are understood.
func flagsFirst(args []string) []string {
	var flags, rest []string
	for i := 0; i < len(args); i++ {
		name := strings.TrimLeft(args[i], "-")
		switch {
		case args[i] == "--":
			return slices.Concat(flags, rest, args[i+1:])
		case name != args[i] && (name == dryRun || name == pushed || name == rebuild || strings.Contains(name, "=")):
			flags = append(flags, args[i])
		case name == args[i] || name == "" || i+1 == len(args):
			rest = append(rest, args[i])
		default:
			flags = append(flags, args[i], args[i+1])
			i++
		}
	}
	return append(flags, rest...)
}

func sourceAdd(ctx context.Context, e *env, args []string) error {
	var add sources.New
	var to, mode string
	dry, push := false, false
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&to, "to", "", "the person or the group whose source it is; NAME/PAGE for a page of a person")
		fs.StringVar(&add.Title, "title", "", "shown with each post; default: the feed's own")
		fs.StringVar(&mode, "mode", "", "append (newest items) or sync (a full list); default: as usual for the format, append with -push")
		fs.StringVar(&add.Origin, "origin", "", "the partner that the source is from, and that shows errors of items to its people itself: pages here do not")
		fs.BoolVar(&push, pushed, false, "a program pushes the items: print the token that it needs")
		fs.BoolVar(&dry, dryRun, false, "only say what it would bring")
	})
	switch {
	case err != nil:
		return err
	case push && (len(rest) > 0 || dry):
		return usagef("%s: with -push there is nothing to fetch", e.name)
	case push:
	case len(rest) == 0:
		return usagef("%s: say what: URL, FILE or feeds.opml", e.name)
	case len(rest) > 1:
		return usagef("%s: %q is one too many", e.name, rest[1])
	case to == "":
		return usagef("%s: say whose: -to NAME", e.name)
	case mode != "" && mode != string(sources.Append) && mode != string(sources.Sync):
		return usagef("%s: -mode %q: want append or sync", e.name, mode)
	}
	add.Mode = sources.Mode(mode)
	add.Owner, add.Slug, _ = strings.Cut(to, "/")
	if push {
		return withHosting(ctx, e, c, func(ctx context.Context, h *hosting) error { return h.addPush(ctx, add) })
	}
	what := rest[0]
	address, link := linkOf(what)
	if !link {
		// A mistyped name is reported before anything has begun.
		if err := readable(what); err != nil {
			return fmt.Errorf("%s: this is neither an address (https://…) nor a file: %w", e.name, err)
		}
	}
	return withHosting(ctx, e, c, func(ctx context.Context, h *hosting) error {
		switch {
		case link:
			add.Way, add.URL = sources.Link, address
			return h.add(ctx, add, dry)
		case strings.EqualFold(filepath.Ext(what), ".opml"):
			return h.addAll(ctx, add, what, dry)
		}
		add.Way = sources.File
		return h.addFile(ctx, add, what, dry)
	})
}

// fileEndings are those of files that a source can be made of.
var fileEndings = []string{".opml", ".xml", ".rss", ".atom", ".json", ".csv", ".ndjson", ".jsonl", ".gz"}

// linkOf returns the address that an argument is, in full, and whether it is one. Without a scheme
// it is none if it is, or is called like, a file.
func linkOf(what string) (string, bool) {
	address := formats.Address(what)
	switch {
	case !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://"):
		return "", false
	case address != "https://"+what:
		return address, true
	case slices.Contains(fileEndings, strings.ToLower(filepath.Ext(what))):
		return "", false
	}
	_, err := os.Stat(what)
	return address, errors.Is(err, os.ErrNotExist)
}

func sourceList(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	switch {
	case err != nil:
		return err
	case len(rest) > 1:
		return usagef("%s: %q is one too many", e.name, rest[1])
	}
	return withHosting(ctx, e, c, func(ctx context.Context, h *hosting) error {
		out := tabwriter.NewWriter(h.stdout, 0, 0, 2, ' ', 0)
		row := func(s sources.Source, owner string) {
			state := string(s.Status)
			if s.Problem != "" {
				state += " (" + s.Problem + ")"
			}
			where := s.URL
			if where == "" {
				where = string(s.Way)
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Code, owner, s.Mode, state, where, s.Title)
		}
		if len(rest) == 1 {
			actor, err := h.sources.ActsFor(ctx, rest[0])
			if err != nil {
				return explainSource(rest[0], err)
			}
			list, err := h.sources.List(ctx, actor, rest[0])
			if err != nil {
				return explainSource(rest[0], err)
			}
			for _, s := range list {
				row(s, rest[0])
			}
			return out.Flush()
		}
		const page = 500
		for after := int64(0); ; {
			list, err := h.sources.All(ctx, after, page)
			if err != nil {
				return err
			}
			for _, s := range list {
				row(s.Source, s.Owner)
				after = s.ID
			}
			if len(list) < page {
				return out.Flush()
			}
		}
	})
}

func sourceFetch(ctx context.Context, e *env, args []string) error {
	dry := false
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.BoolVar(&dry, dryRun, false, "only say what it would change")
	})
	switch {
	case err != nil:
		return err
	case len(rest) == 0:
		return usagef("%s: say which: CODE", e.name)
	case len(rest) > 2:
		return usagef("%s: %q is one too many", e.name, rest[2])
	}
	return withHosting(ctx, e, c, func(ctx context.Context, h *hosting) error {
		s, actor, err := h.find(ctx, rest[0])
		switch {
		case err != nil:
			return err
		case s.Way == sources.Link && len(rest) == 2:
			return fmt.Errorf("%s is fetched from %s, and takes no file", s.Code, s.URL)
		case s.Way == sources.Link && dry:
			return h.preview(ctx, s)
		case s.Way == sources.Link:
			return h.fetch(ctx, s)
		case s.Way == sources.Push:
			return fmt.Errorf("a program pushes the items of %s: nothing can be fetched", s.Code)
		case len(rest) == 1:
			return fmt.Errorf("%s is loaded from files: say which, source fetch %[1]s FILE", s.Code)
		}
		file, err := os.Open(rest[1])
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // only read
		return h.load(ctx, actor, s, file, dry)
	})
}

func sourceRemove(ctx context.Context, e *env, args []string) error {
	posts := ""
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&posts, "posts", "", "what becomes of its posts: delete, discussed (delete all but those) or keep")
	})
	switch {
	case err != nil:
		return err
	case len(rest) == 0:
		return usagef("%s: say which: CODE", e.name)
	case len(rest) > 1:
		return usagef("%s: %q is one too many", e.name, rest[1])
	case !slices.Contains([]string{sources.Delete, sources.KeepDiscussed, sources.Keep}, posts):
		return usagef("%s: -posts %q: want delete, discussed or keep", e.name, posts)
	}
	return withHosting(ctx, e, c, func(ctx context.Context, h *hosting) error {
		s, actor, err := h.find(ctx, rest[0])
		if err != nil {
			return err
		}
		if s.Status != sources.Removing { // an interrupted removal goes on as it was begun
			if s, err = h.sources.Remove(ctx, actor, s.Code, posts); err != nil {
				return explainSource("", err)
			}
		}
		for {
			err := h.runner.Run(ctx, s.ID)
			if err != nil && !errors.Is(err, sources.ErrBusy) {
				return err
			}
			if _, err := h.sources.ByCode(ctx, s.Code); errors.Is(err, sources.ErrNotFound) {
				fmt.Fprintf(h.stdout, "removed %s\n", s.Code)
				return nil
			} else if err != nil {
				return err
			}
			if err := pause(ctx, lookAgain); err != nil {
				return fmt.Errorf("%w; the rest is removed while the site is served, or by the same command", err)
			}
		}
	})
}

// explainSource adds to err what a person at a terminal can do about it.
func explainSource(owner string, err error) error {
	var invalid *timelines.InvalidError
	switch {
	case errors.Is(err, timelines.ErrNotFound):
		return fmt.Errorf("there is no user or group %s", owner)
	case errors.Is(err, timelines.ErrForbidden):
		return fmt.Errorf("nobody administers the group %s", owner)
	case errors.As(err, &invalid):
		if text, ok := invalidSources[invalid.Code]; ok {
			return errors.New(strings.ReplaceAll(text, "{most}", strconv.Itoa(invalid.Most)))
		}
	}
	return err
}

var invalidSources = map[string]string{
	"url_invalid":   "this is no address that can be fetched",
	"source_twice":  "this address is a source there already",
	"source_many":   "one person or group has {most} sources at most",
	"title_long":    "a title has 100 characters at most",
	"title_invalid": "a title holds no unreadable characters",
	"to_unknown":    "this person has no such page",
	"to_forbidden":  "whoever added the source may not post there",
	"source_paused": "the source is paused",
}
