package jobs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"riverrun/jobs/fetch"
	"riverrun/rivers/lines"
	"riverrun/timelines"
	"riverrun/timelines/hooks"
)

const (
	// hookSlots is how many webhooks a node sends at a time. hookTurn is how long one may take its slot; a slow one then
	// waits until others had their turn.
	hookSlots = 8
	hookTurn  = 10 * time.Second
	// hookBegins is how long after the turn began another delivery of it may begin.
	hookBegins = hookTurn - hooks.AnswerIn
	// hookSettling bounds the statement that ends a turn.
	hookSettling = 5 * time.Second
)

// Lines makes the lines of the log for a webhook's owner; *lines.Log has it.
type Lines interface {
	ReadOn(ctx context.Context, by lines.Reader, after int64, limit int) (found []lines.Line, upTo int64, err error)
}

// hookSender sends webhooks as soon as something is new for them. It has no jobs, like relay: the row of a webhook says when it is
// due, and that a node has it.
type hookSender struct {
	store  *hooks.Store
	lines  Lines
	client *fetch.Client
	every  time.Duration
	log    *slog.Logger

	woken  chan struct{} // holds one token when something may be due
	cancel context.CancelFunc
	done   chan struct{}
}

func newHookSender(store *hooks.Store, l Lines, client *fetch.Client, every time.Duration, log *slog.Logger) *hookSender {
	return &hookSender{store: store, lines: l, client: client, every: every, log: log, woken: make(chan struct{}, 1)}
}

// wake has the sender look for webhooks that are due.
func (h *hookSender) wake() {
	select {
	case h.woken <- struct{}{}:
	default:
	}
}

// start sends until stop.
func (h *hookSender) start(ctx context.Context) {
	ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	h.done = make(chan struct{})
	go func() {
		defer close(h.done)
		h.run(ctx)
	}()
}

// stop ends deliveries that are under way, which are sent again. It may be called without start.
func (h *hookSender) stop() {
	if h.cancel != nil {
		h.cancel()
		<-h.done
	}
}

func (h *hookSender) run(ctx context.Context) {
	var turns sync.WaitGroup
	defer turns.Wait()
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	free := make(chan struct{}, hookSlots)
	for range hookSlots {
		free <- struct{}{}
	}
	for failed := 0; ; {
		due, err := h.take(ctx, len(free)) // turns only add to free
		if err == nil {
			failed = 0
		} else if failed++; failed&(failed-1) == 0 && ctx.Err() == nil { // as lookout
			h.log.WarnContext(ctx, "cannot look for webhooks that are due", "tries", failed, "error", err)
		}
		for _, d := range due {
			<-free
			turns.Go(func() {
				h.turn(ctx, d)
				free <- struct{}{}
				h.wake() // others may wait for the slot, and this one may be behind
				time.AfterFunc(hooks.Pause, h.wake)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-h.woken:
		}
	}
}

func (h *hookSender) take(ctx context.Context, most int) ([]hooks.Due, error) {
	if most == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return h.store.Take(ctx, most)
}

// turn sends what a webhook has not got yet, as far as the time allows.
func (h *hookSender) turn(ctx context.Context, d hooks.Due) {
	sending, cancel := context.WithTimeout(ctx, hookTurn)
	defer cancel()
	more, err := h.send(sending, &d)
	// The end of the node must not keep another from going on.
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookSettling)
	defer cancel()
	failure, refused := errors.AsType[*refusal](err)
	switch {
	case errors.Is(err, hooks.ErrLost):
		return
	case err == nil:
		err = h.store.Done(settling, d, more)
	case ctx.Err() != nil:
		err = h.store.Done(settling, d, true)
	case refused:
		var stopped bool
		if stopped, err = h.store.Failed(settling, d, failure.Failure); err == nil {
			h.log.InfoContext(ctx, "a webhook was not sent", "webhook", d.ID, "code", failure.Code, "status", failure.Status, "stopped", stopped)
		}
	default:
		// A fault of ours. The webhook is taken again when its lease ends.
		h.log.WarnContext(ctx, "cannot send a webhook", "webhook", d.ID, "error", err)
		return
	}
	if err != nil && !errors.Is(err, hooks.ErrLost) {
		h.log.WarnContext(ctx, "cannot settle a webhook", "webhook", d.ID, "error", err)
	}
}

// send sends until the webhook has everything, or until no time is left for another delivery.
func (h *hookSender) send(ctx context.Context, d *hooks.Due) (more bool, err error) {
	by := lines.Reader{Viewer: timelines.Viewer{AccountID: d.AccountID}, WholeSite: d.WholeSite}
	for began := time.Now(); time.Since(began) < hookBegins; {
		found, upTo, err := h.lines.ReadOn(ctx, by, d.Seq, hooks.MaxLines)
		if err != nil {
			return false, err
		}
		if upTo == d.Seq && len(found) == 0 {
			return false, nil
		}
		if len(found) > 0 {
			if err := h.deliver(ctx, *d, found); err != nil {
				return false, err
			}
		}
		if err := h.store.Moved(ctx, *d, upTo, len(found) > 0); err != nil {
			return false, err
		}
		d.Seq = upTo
	}
	return true, nil
}

// refusal is a delivery that did not arrive.
type refusal struct {
	hooks.Failure
	cause error
}

func (r *refusal) Error() string { return r.cause.Error() }

// deliver sends one delivery. Its error is a *refusal if the address did not take it.
func (h *hookSender) deliver(ctx context.Context, d hooks.Due, found []lines.Line) error {
	body, err := json.Marshal(struct {
		Changes []lines.Line `json:"changes"`
	}{found})
	if err != nil {
		return fmt.Errorf("write a delivery: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		return &refusal{hooks.Failure{Code: "address"}, err}
	}
	at := time.Now().Unix()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Riverrun-Timestamp", strconv.FormatInt(at, 10))
	request.Header.Set("Riverrun-Delivery", rand.Text())
	request.Header.Set("Riverrun-Signature", hooks.Sign(d.Secret, at, body))
	answer, err := h.client.Do(request)
	if err != nil {
		return &refusal{hooks.Failure{Code: hookCode(err)}, err}
	}
	if answer.StatusCode/100 != 2 {
		return &refusal{hooks.Failure{Code: "status", Status: answer.StatusCode}, &fetch.StatusError{Code: answer.StatusCode}}
	}
	return nil
}

// hookCode is the code of hooks.Codes for an error of package fetch.
func hookCode(err error) string {
	for _, c := range []struct {
		is   error
		code string
	}{
		{fetch.ErrInvalid, "address"},
		{fetch.ErrForbidden, "address"},
		{fetch.ErrDNS, "name"},
		{fetch.ErrTLS, "secure"},
		{fetch.ErrTimeout, "late"},
		{fetch.ErrRefused, "connection"},
		{fetch.ErrProxy, "connection"},
	} {
		if errors.Is(err, c.is) {
			return c.code
		}
	}
	return "broken"
}
