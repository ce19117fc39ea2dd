package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/outage"
	"riverrun/timelines/sources"
	"riverrun/web/api"
	"riverrun/web/view"
)

// The API by which programs push items to sources (source: 003, F14, F22, F24). A request proves
// itself by the source's own token. Neither cookies nor sessions count, so another site cannot make a
// browser do anything. Package api has the addresses, and the types of what comes and goes; /help/feeds
// describes the API for people who write such programs.

const (
	// maxBatchBytes bounds the body of a batch, and maxCallBytes that of any other request.
	maxBatchBytes = 4 << 20
	maxCallBytes  = 4 << 10
	// A batch waits for at most sourceWait if another batch or a load is working its source. It is
	// applied within batchTime.
	sourceWait = 5 * time.Second
	sourceLook = 50 * time.Millisecond
	batchTime  = 30 * time.Second
	// resultsTime bounds the answer with the results of a load.
	resultsTime = 10 * time.Minute
	// PushConnections is how many batches a node applies at a time, each over a connection to the
	// primary store besides those of pages; maxPushing is how many it holds in
	// memory, and maxPushingOne how many of these may be of one source.
	PushConnections = 4
	maxPushing      = 16
	maxPushingOne   = 4
)

// pushAPI serves the calls of the API.
type pushAPI struct{ *Server }

// calls are the handlers, whose addresses and descriptions are in package api.
func (s pushAPI) calls() api.SourceCalls {
	return api.SourceCalls{Items: s.program(s.items), Begin: s.program(s.begin), Batch: s.program(s.batch), Finish: s.program(s.finish), Results: s.program(s.results)}
}

// openPushing opens connections that only batches use. A batch holds its source's lock on a
// connection, and pages must not wait for that connection.
func openPushing(pool *pgxpool.Pool) (*pgxpool.Pool, error) {
	own := pool.Config()
	for name, value := range timelines.SoonGone {
		own.ConnConfig.RuntimeParams[name] = value
	}
	own.MinConns, own.MinIdleConns, own.MaxConns = 0, 0, PushConnections
	opened, err := pgxpool.NewWithConfig(context.Background(), own) // the context is for MinConns only
	if err != nil {
		return nil, fmt.Errorf("connections for pushes: %w", err)
	}
	return opened, nil
}

// call is a request with a valid token.
type call struct {
	*http.Request
	source sources.Source
	// load is the number in the address, 0 if there is none.
	load int64
}

// refusal is an error as programs see it: a status, and a code that has a text in the view.
type refusal struct {
	status int
	code   string
	// most is the bound that was passed, if there is one.
	most int
	// missing are the numbers of missing batches, as JSON.
	missing json.RawMessage
}

func (r *refusal) Error() string { return "refused: " + r.code }

// program serves a program that has the token of the source in the address.
func (s pushAPI) program(h func(http.ResponseWriter, *call) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := s.admit(r)
		if err == nil {
			err = h(w, c)
		}
		if err != nil {
			s.refuse(w, r, err)
		}
	})
}

func (s pushAPI) admit(r *http.Request) (*call, error) {
	wrong := &refusal{status: http.StatusUnauthorized, code: "token_wrong"}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	code, ok := timelines.ParseCode(r.PathValue("code"))
	if token = strings.TrimSpace(token); !ok || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return nil, wrong
	}
	bounded, cancel := s.bounded(r)
	defer cancel()
	source, err := s.sources.Pushed(bounded.Context(), code, token)
	if errors.Is(err, sources.ErrNotFound) {
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	if err := s.limits.pushes.allow(accountKey(source.ID)); err != nil {
		return nil, err
	}
	c := &call{Request: r, source: source}
	if no := r.PathValue("no"); no != "" {
		if c.load, err = strconv.ParseInt(no, 10, 64); err != nil || c.load < 1 {
			return nil, sources.ErrNotFound
		}
	}
	return c, nil
}

// begin begins a load.
func (s pushAPI) begin(w http.ResponseWriter, c *call) error {
	if err := c.drop(w); err != nil {
		return err
	}
	if c.source.Way != sources.Push {
		return &refusal{status: http.StatusConflict, code: "source_other"}
	}
	r, cancel := s.bounded(c.Request)
	defer cancel()
	l, err := s.sources.Receive(r.Context(), c.source.ID)
	if errors.Is(err, sources.ErrNotFound) {
		return &refusal{status: http.StatusConflict, code: "source_paused"}
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", fmt.Sprintf("/api/sources/%s/loads/%d/results", c.source.Code, l.No))
	writeJSON(w, http.StatusCreated, api.Load{Load: l.No, State: l.State})
	return nil
}

// batch applies a batch of items.
func (s pushAPI) batch(w http.ResponseWriter, c *call) error {
	return s.withItems(w, c, func(ctx context.Context, body []byte) error {
		load, err := s.sources.Load(ctx, c.source.ID, c.load)
		if err != nil {
			return err
		}
		b, err := readBatch(body, load.CreatedAt)
		if err != nil {
			return err
		}
		results, err := s.apply(ctx, c, func(ctx context.Context, work *sources.Work) ([]sources.Result, timelines.Change, error) {
			return work.Push(ctx, c.load, b)
		})
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, api.BatchResults{Load: c.load, Batch: b.No, Results: results})
		return nil
	})
}

// items applies one item, or a few, that belong to no load.
func (s pushAPI) items(w http.ResponseWriter, c *call) error {
	if c.source.Way != sources.Push {
		return &refusal{status: http.StatusConflict, code: "source_other"}
	}
	return s.withItems(w, c, func(ctx context.Context, body []byte) error {
		b, err := readItems(body, time.Now())
		if err != nil {
			return err
		}
		results, err := s.apply(ctx, c, func(ctx context.Context, work *sources.Work) ([]sources.Result, timelines.Change, error) {
			return work.PushItems(ctx, b)
		})
		if err != nil {
			return err
		}
		for i := range results {
			if results[i].Post != "" {
				results[i].Post = s.url.JoinPath("p", results[i].Post).String()
			}
		}
		writeJSON(w, http.StatusOK, api.ItemResults{Results: results})
		return nil
	})
}

// withItems reads a body with items, within the limits of the source and of this node, and calls
// apply with it.
func (s pushAPI) withItems(w http.ResponseWriter, c *call, apply func(ctx context.Context, body []byte) error) error {
	key := accountKey(c.source.ID)
	defer s.limits.pushing.add(key, -1)
	defer s.limits.pushing.add("", -1)
	one, all := s.limits.pushing.add(key, 1), s.limits.pushing.add("", 1)
	switch {
	case one > maxPushingOne:
		return errLimited
	case all > maxPushing:
		return &refusal{status: http.StatusServiceUnavailable, code: "site_busy"}
	}
	body, err := c.read(w, maxBatchBytes)
	if err != nil {
		return err
	}
	if err := s.limits.pushBytes.take(key, (len(body)+1023)/1024); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), batchTime)
	defer cancel()
	return apply(ctx, body)
}

func (s pushAPI) apply(ctx context.Context, c *call, push func(context.Context, *sources.Work) ([]sources.Result, timelines.Change, error)) (results []sources.Result, err error) {
	work, err := s.takeSource(ctx, c.source.ID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, work.Close(ctx)) }()
	if work.Code() != c.source.Code {
		return nil, sources.ErrNotFound // the primary store was restored, and its id is that of another source
	}
	results, change, err := push(ctx, work)
	_, err = s.tiers.Carry(ctx, change, err)
	return results, err
}

// takeSource takes the lock of a source. If somebody else has it, takeSource waits a while.
func (s pushAPI) takeSource(ctx context.Context, source int64) (*sources.Work, error) {
	waiting, cancel := context.WithTimeout(ctx, sourceWait)
	defer cancel()
	often := time.NewTicker(sourceLook)
	defer often.Stop()
	for {
		work, err := s.pushing.Take(waiting, source)
		switch {
		case err == nil:
			return work, nil
		case waiting.Err() != nil && ctx.Err() == nil:
			return nil, sources.ErrBusy // or too many others wait for a connection
		case !errors.Is(err, sources.ErrBusy):
			return nil, err
		}
		select {
		case <-waiting.Done():
		case <-often.C:
		}
	}
}

// finish ends a load after all its batches, whose number the body states.
func (s pushAPI) finish(w http.ResponseWriter, c *call) error {
	body, err := c.read(w, maxCallBytes)
	if err != nil {
		return err
	}
	var said api.EndOfLoad
	if err := json.Unmarshal(body, &said); err != nil || said.Batches == nil || *said.Batches < 0 {
		return &refusal{status: http.StatusUnprocessableEntity, code: "body_invalid"}
	}
	r, cancel := s.bounded(c.Request)
	defer cancel()
	if err := s.sources.EndPush(r.Context(), c.source.ID, c.load, *said.Batches); err != nil {
		return err
	}
	l, err := s.sources.Load(r.Context(), c.source.ID, c.load)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, api.Load{Load: l.No, State: l.State})
	return nil
}

// results answers with one line for each item, and a last line with the state of the load. If an
// answer lacks the last line, it broke off.
func (s pushAPI) results(w http.ResponseWriter, c *call) error {
	after := int64(0)
	if given := c.URL.Query().Get("after"); given != "" {
		var err error
		if after, err = strconv.ParseInt(given, 10, 64); err != nil || after < 0 {
			return &refusal{status: http.StatusUnprocessableEntity, code: "body_invalid"}
		}
	}
	ctx, cancel := context.WithTimeout(c.Context(), resultsTime)
	defer cancel()
	// The load is read first: if it has ended, all its results follow.
	l, err := s.sources.Load(ctx, c.source.ID, c.load)
	if err != nil {
		return err
	}
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(resultsTime)); err != nil {
		return fmt.Errorf("extend the time of results: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("Cache-Control", "no-store")
	out := json.NewEncoder(w)
	err = s.sources.Results(ctx, l.ID, after, func(batch int64, results []sources.Result) error {
		for _, r := range results {
			if err := out.Encode(api.LoadResult{Batch: batch, Result: r}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = out.Encode(loadEnd(&l))
	}
	if err != nil {
		if c.Context().Err() == nil {
			s.log.WarnContext(ctx, "results of a load broke off", "code", requestCode(ctx), "source", c.source.ID, "load", c.load, "error", err)
		}
		panic(http.ErrAbortHandler) // the status is sent: only the connection can say that more should follow
	}
	return nil
}

func loadEnd(l *sources.Load) api.LoadEnd {
	ended := false
	switch l.State {
	case sources.Done, sources.Failed, sources.Cancelled, sources.Held:
		ended = true
	}
	return api.LoadEnd{
		Load: l.No, State: l.State, Ended: ended, Items: l.Cursor, Added: l.Added, Changed: l.Changed, Same: l.Same, Skipped: l.Skipped,
		Removed: l.Removed, Kept: l.Kept, Gone: l.Gone, Errors: l.Errors, Warnings: l.Warnings,
	}
}

// read reads the body, which bound has limited to the size of a form.
func (c *call) read(w http.ResponseWriter, most int64) ([]byte, error) {
	body := c.Body
	if bounded, ok := body.(*boundedBody); ok {
		body = bounded.whole
	}
	var b bytes.Buffer
	if n := c.ContentLength; n > 0 && n <= most {
		b.Grow(int(n) + bytes.MinRead)
	}
	_, err := b.ReadFrom(http.MaxBytesReader(w, body, most))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, code: "body_large", most: int(most)}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, errStalled
	}
	if err != nil {
		return nil, &refusal{status: http.StatusBadRequest, code: "body_invalid"}
	}
	return b.Bytes(), nil
}

// drop reads a body that means nothing, and throws it away.
func (c *call) drop(w http.ResponseWriter) error {
	_, err := c.read(w, maxCallBytes)
	return err
}

// refuse answers a call that failed.
func (s pushAPI) refuse(w http.ResponseWriter, r *http.Request, err error) {
	ctx := r.Context()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return // nobody listens any more
	}
	is := refusalOf(err)
	level := s.log.InfoContext
	if is.status >= http.StatusInternalServerError && !errors.Is(err, sources.ErrBusy) {
		level = s.log.ErrorContext
	}
	level(context.WithoutCancel(ctx), "push refused", "code", requestCode(ctx), "path", loggedPath(r), "status", is.status, "error", err)
	if is.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="riverrun"`)
	}
	sayWhen(w, is.status, waitFor(err))
	l := view.LocaleFor(r, "", "")
	w.Header().Add("Vary", "Accept-Language")
	writeJSON(w, is.status, api.Refusal{Error: is.code, Text: view.CallText(l, is.code), Most: is.most, Missing: is.missing, Request: requestCode(ctx)})
}

// refusalOf returns the refusal that a program gets for an error.
func refusalOf(err error) *refusal {
	if is, ok := errors.AsType[*refusal](err); ok {
		return is
	}
	if invalid, ok := errors.AsType[*timelines.InvalidError](err); ok {
		switch invalid.Code {
		case "batches_missing":
			return &refusal{status: http.StatusConflict, code: invalid.Code, missing: json.RawMessage(invalid.Value)}
		case "batches_more", "batch_used", "source_paused":
			return &refusal{status: http.StatusConflict, code: invalid.Code}
		case "batch_number":
			return &refusal{status: http.StatusUnprocessableEntity, code: invalid.Code}
		case "items_many":
			return &refusal{status: http.StatusUnprocessableEntity, code: invalid.Code, most: invalid.Most}
		case "batch_large":
			return &refusal{status: http.StatusRequestEntityTooLarge, code: invalid.Code, most: invalid.Most}
		}
		return &refusal{status: http.StatusForbidden, code: "place_closed"} // the author may not post there any more
	}
	for _, known := range []struct {
		err error
		is  refusal
	}{
		{sources.ErrNotFound, refusal{status: http.StatusNotFound, code: "load_unknown"}},
		{sources.ErrStale, refusal{status: http.StatusConflict, code: "load_ended"}},
		{sources.ErrBusy, refusal{status: http.StatusServiceUnavailable, code: "source_busy"}},
		{errLimited, refusal{status: http.StatusTooManyRequests, code: "limited"}},
		{errStalled, refusal{status: http.StatusRequestTimeout, code: "stalled"}},
		{timelines.ErrBlocked, refusal{status: http.StatusForbidden, code: "place_closed"}},
		{timelines.ErrForbidden, refusal{status: http.StatusForbidden, code: "place_closed"}},
		{timelines.ErrNotFound, refusal{status: http.StatusForbidden, code: "place_closed"}},
		{timelines.ErrBusy, refusal{status: http.StatusServiceUnavailable, code: "site_busy"}},
		{tiers.ErrBehind, refusal{status: http.StatusServiceUnavailable, code: "site_busy"}},
		{context.DeadlineExceeded, refusal{status: http.StatusServiceUnavailable, code: "site_busy"}},
	} {
		if errors.Is(err, known.err) {
			return &known.is
		}
	}
	if outage.Is(err) {
		return &refusal{status: http.StatusServiceUnavailable, code: "site_busy"}
	}
	return &refusal{status: http.StatusInternalServerError, code: "fault"}
}
