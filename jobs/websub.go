package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	riverqueue "github.com/riverqueue/river"

	"riverrun/timelines/sources"
)

// hubTimeout bounds the asking of one hub.
const hubTimeout = time.Minute

// hubWorker asks the hub that a feed names to send hints (WebSub). The hub confirms by calling the
// site. If it does not, it is asked again later: AskHub has set when.
type hubWorker struct {
	riverqueue.WorkerDefaults[hubArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *hubWorker) Timeout(*riverqueue.Job[hubArgs]) time.Duration { return hubTimeout }

// Work implements riverqueue.Worker.
func (w *hubWorker) Work(ctx context.Context, job *riverqueue.Job[hubArgs]) error {
	cfg := w.jobs.cfg
	ask, err := w.jobs.sources.AskHub(ctx, job.Args.SourceID, rand.Float64())
	if errors.Is(err, sources.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	form := url.Values{
		"hub.mode": {"subscribe"}, "hub.topic": {ask.Topic},
		"hub.callback":      {strings.TrimSuffix(cfg.Callback, "/") + "/api/websub/" + ask.Code + "/" + ask.Secret},
		"hub.lease_seconds": {strconv.Itoa(int(sources.AskedLease / time.Second))},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, ask.Hub, strings.NewReader(form.Encode()))
	if err != nil {
		cfg.Log.InfoContext(ctx, "a feed names a hub that is none", "source", job.Args.SourceID, "error", err)
		return nil
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := cfg.Fetch.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		cfg.Log.InfoContext(ctx, "cannot ask a hub", "source", job.Args.SourceID, "error", err)
		return nil
	}
	if closing := answer.Body.Close(); closing != nil {
		return fmt.Errorf("ask a hub: %w", closing)
	}
	if answer.StatusCode/100 != 2 {
		cfg.Log.InfoContext(ctx, "a hub refuses", "source", job.Args.SourceID, "status", answer.StatusCode)
	}
	return nil
}

// hubsDue are jobs for the hubs that are to be asked.
func (j *Jobs) hubsDue(ctx context.Context) ([]riverqueue.InsertManyParams, error) {
	if j.cfg.Callback == "" {
		return nil, nil
	}
	due, err := j.sources.ClaimHubs(ctx, dueAtOnce)
	if err != nil {
		return nil, err
	}
	var all []riverqueue.InsertManyParams
	for _, id := range due {
		all = append(all, riverqueue.InsertManyParams{Args: hubArgs{SourceID: id}})
	}
	return all, nil
}

type hubArgs struct {
	SourceID int64 `json:"source_id"`
}

func (hubArgs) Kind() string { return "hub" }

func (hubArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queueFetch, Priority: 3, MaxAttempts: 1}
}
