package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"riverrun/jobs/fetch"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// Look fetches an address that is no source yet, and says what a source with that address would load.
// It stores nothing. The error is a *formats.Fatal if the file is not a feed that can be loaded.
func (f Fetcher) Look(ctx context.Context, address string) (s formats.Summary, p sources.Problem, err error) {
	file, err := os.CreateTemp(f.Dir, "riverrun-fetch-*")
	if err != nil {
		return s, "", fmt.Errorf("fetched file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil {
		return s, "", fmt.Errorf("fetched file: %w", err)
	}
	a := &attempt{Fetcher: f, target: sources.Target{URL: address}, file: file}
	if p, err := a.get(ctx, fetch.Request{URL: address}); err != nil || p != "" {
		return s, p, err
	}
	s, err = a.canonical(ctx)
	if !errors.Is(err, formats.ErrPage) {
		return s, "", err
	}
	named, err := a.discover(ctx)
	if err != nil {
		return s, "", err
	}
	if len(named) == 0 {
		return s, sources.NoFeed, nil
	}
	if p, err := a.get(ctx, fetch.Request{URL: named[0].URL}); err != nil || p != "" {
		return s, p, err
	}
	s, err = a.canonical(ctx)
	return s, "", err
}

// canonical reads the file to its end.
func (a *attempt) canonical(ctx context.Context) (formats.Summary, error) {
	if err := a.rewind(); err != nil {
		return formats.Summary{}, err
	}
	return formats.Canonical(io.Discard, &cancelled{ctx, a.file}, formats.Options{
		MediaType: a.answer.Type, Charset: a.answer.Charset, Base: a.answer.URL,
	})
}
