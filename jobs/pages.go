package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	riverqueue "github.com/riverqueue/river"

	"riverrun/jobs/previews"
	"riverrun/jobs/uploads"
	"riverrun/timelines/links"
	"riverrun/timelines/pictures"
)

const (
	// fetchWorkers is how many pages a node reads at a time. It waits, mostly.
	fetchWorkers = 4
	// pageTimeout bounds the reading of a page and of its picture.
	pageTimeout = time.Minute
	// cardPixels bounds the pictures of cards: several are made at a time.
	cardPixels, cardBytes = 12_000_000, 60_000_000
)

// Links is what the jobs need of what posts link to; timelines.Links has it.
type Links interface {
	Address(ctx context.Context, id int64) (string, error)
	Record(ctx context.Context, id int64, p links.Page) error
}

// pageWorker reads what a page says of itself. A page that cannot be read has no preview; it is
// tried again when somebody links to it after some days.
type pageWorker struct {
	riverqueue.WorkerDefaults[pageArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *pageWorker) Timeout(*riverqueue.Job[pageArgs]) time.Duration { return 2 * pageTimeout }

// Work implements riverqueue.Worker.
func (w *pageWorker) Work(ctx context.Context, job *riverqueue.Job[pageArgs]) error {
	cfg := w.jobs.cfg
	address, err := cfg.Links.Address(ctx, job.Args.LinkID)
	if errors.Is(err, links.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := w.read(ctx, address)
	if err != nil {
		return fmt.Errorf("read the page of link %d: %w", job.Args.LinkID, err)
	}
	return cfg.Links.Record(ctx, job.Args.LinkID, p)
}

// read returns the zero Page for a page that cannot be read. It returns an error only if this
// node is to blame: it stops, or cannot store the picture.
func (w *pageWorker) read(ctx context.Context, address string) (links.Page, error) {
	reading, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	cfg := w.jobs.cfg
	said, err := previews.Read(reading, cfg.Fetch, address)
	if ctx.Err() != nil {
		return links.Page{}, ctx.Err()
	}
	if err != nil {
		cfg.Log.DebugContext(ctx, "no preview", "error", err)
		return links.Page{}, nil
	}
	p := links.Page{Title: said.Title, About: said.Description, Site: said.SiteName, Host: said.Host}
	if said.ImageURL == "" {
		return p, nil
	}
	upload, err := previews.Image(reading, cfg.Fetch, said.ImageURL, previews.MaxImage)
	var made pictures.Picture
	if err == nil {
		made, err = w.jobs.card(ctx, upload)
	}
	if ctx.Err() != nil {
		return links.Page{}, ctx.Err()
	}
	if err != nil {
		cfg.Log.DebugContext(ctx, "no picture for a preview", "error", err)
		if p.Title == "" && p.About == "" {
			return links.Page{}, nil
		}
		return p, nil
	}
	// The smallest size that is large enough for a card.
	card := made.Files[len(made.Files)-1]
	sum, n, err := cfg.Blobs.Put(ctx, bytes.NewReader(card.Data), previews.MaxImage)
	if err != nil {
		return links.Page{}, err
	}
	p.Picture, p.Bytes, p.Width, p.Height, p.Type, p.Blurhash = &sum, n, card.Width, card.Height, card.Type, made.Blurhash
	return p, nil
}

// card makes the picture of a card. A node makes one at a time, so that their memory does not add
// up. The wait for another one is no part of the time that a picture may take.
func (j *Jobs) card(ctx context.Context, upload []byte) (pictures.Picture, error) {
	select {
	case j.making <- struct{}{}:
		defer func() { <-j.making }()
	case <-ctx.Done():
		return pictures.Picture{}, ctx.Err()
	}
	decoding, cancel := context.WithTimeout(ctx, uploads.Timeout)
	defer cancel()
	return pictures.Make(decoding, bytes.NewReader(upload), pictures.Limits{Pixels: cardPixels, Bytes: cardBytes})
}

// pageArgs is a timelines.ReadPage.
type pageArgs struct {
	LinkID int64 `json:"link_id"`
}

func (pageArgs) Kind() string { return "page" }

func (pageArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueFetch, MaxAttempts: unlimited}
}
