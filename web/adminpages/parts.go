package adminpages

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/storage"
)

// countingTime bounds each question that reads a whole table.
const countingTime = time.Second

// lack is why a page leaves a part out: the text that says so.
type lack string

const (
	tooSlow lack = "storage.slow"
	unknown lack = "health.unknown"
)

// part reads a part of a page. A page that says how the site is must not be away with one store: if the
// part cannot be read, the page is shown without it.
func (p *Pages) part(ctx context.Context, name string, read func(context.Context) error) lack {
	// A store that is away may not answer at all; the time is that of a connection and of the question.
	bounded, cancel := context.WithTimeout(ctx, 2*countingTime)
	defer cancel()
	err := read(bounded)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, storage.ErrSlow):
		return tooSlow
	}
	if ctx.Err() == nil { // otherwise nobody waits for the page any more
		p.process.Log.WarnContext(ctx, "a page of the staff lacks a part", "part", name, "error", err)
	}
	return unknown
}

// inTime asks the primary store within countingTime.
func (p *Pages) inTime(ask func(context.Context, pgx.Tx) error) func(context.Context) error {
	return func(ctx context.Context) error {
		return storage.Within(ctx, p.primary, countingTime, func(tx pgx.Tx) error { return ask(ctx, tx) })
	}
}
