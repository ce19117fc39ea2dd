package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"
	riverqueue "github.com/riverqueue/river"
	"golang.org/x/sync/errgroup"

	"riverrun/jobs/fetch"
	"riverrun/timelines/push"
)

const (
	// pushDelay is how long events are gathered before browsers get a push.
	pushDelay = 5 * time.Second
	// pushTimeout bounds the telling of one account's browsers.
	pushTimeout = 30 * time.Second
	// pushWorkers is how many accounts get pushes at a time. pushWait is how long the maker of
	// one browser may take to answer.
	pushWorkers = 4
	pushWait    = 5 * time.Second
	// pushKept is how many seconds the browser's maker keeps a push for a browser that is off.
	pushKept = 24 * 60 * 60
)

// Pushes is what the jobs need of the browsers to tell; timelines.Pushes has it.
type Pushes interface {
	Keys(ctx context.Context, made func() (push.Keys, error)) (push.Keys, error)
	Take(ctx context.Context, account int64) (list []push.Subscription, told int64, err error)
	Told(ctx context.Context, account, at int64) error
	Answered(ctx context.Context, a push.Answers) error
}

// pushWorker tells the browsers of an account that something is new. A push that fails is not
// sent again: the next one says the same.
type pushWorker struct {
	riverqueue.WorkerDefaults[pushArgs]
	jobs *Jobs
}

// Timeout implements riverqueue.Worker.
func (w *pushWorker) Timeout(*riverqueue.Job[pushArgs]) time.Duration { return pushTimeout }

// Work implements riverqueue.Worker.
func (w *pushWorker) Work(ctx context.Context, job *riverqueue.Job[pushArgs]) error {
	cfg, account := w.jobs.cfg, job.Args.AccountID
	browsers, told, err := cfg.Pushes.Take(ctx, account)
	if err != nil {
		return err
	}
	n, latest, err := cfg.Rivers.News(ctx, account)
	if err != nil {
		return fmt.Errorf("count what is new for account %d: %w", account, err)
	}
	if n == 0 || latest <= told || len(browsers) == 0 {
		return nil // read meanwhile, or taken back, or not for this account any more
	}
	if err := cfg.Pushes.Told(ctx, account, latest); err != nil {
		return err
	}
	keys, err := cfg.Pushes.Keys(ctx, NewPushKeys)
	if err != nil {
		return err
	}
	answers := w.tellAll(ctx, browsers, keys)
	if ctx.Err() != nil {
		return ctx.Err() // not an answer of theirs
	}
	return cfg.Pushes.Answered(ctx, answers)
}

// tellAll sends to all browsers of an account at once: one whose maker does not answer holds up
// none of the others.
func (w *pushWorker) tellAll(ctx context.Context, browsers []push.Subscription, keys push.Keys) (answers push.Answers) {
	var mu sync.Mutex // guards answers
	var group errgroup.Group
	for _, b := range browsers {
		group.Go(func() error {
			status, err := w.tell(ctx, b, keys)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				answers.Sent = append(answers.Sent, b.ID)
				return nil
			case status == http.StatusNotFound, status == http.StatusGone, errors.Is(err, fetch.ErrInvalid), errors.Is(err, errBadKeys):
				answers.Over = append(answers.Over, b.ID)
			default:
				answers.Failed = append(answers.Failed, b.ID)
			}
			return fmt.Errorf("subscription %d: %w", b.ID, err)
		})
	}
	if err := group.Wait(); err != nil {
		w.jobs.cfg.Log.InfoContext(ctx, "a push was not sent", "error", err)
	}
	return answers
}

// errBadKeys says that nothing can be encrypted for a browser.
var errBadKeys = errors.New("the browser's keys are no keys")

// tell sends one push, and returns the status of the answer.
func (w *pushWorker) tell(ctx context.Context, b push.Subscription, keys push.Keys) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, pushWait)
	defer cancel()
	sender := &pushSender{client: w.jobs.cfg.Fetch}
	answer, err := webpush.SendNotificationWithContext(ctx, []byte("{}"),
		&webpush.Subscription{Endpoint: b.Endpoint, Keys: webpush.Keys{P256dh: b.P256DH, Auth: b.Auth}},
		&webpush.Options{
			HTTPClient: sender, Subscriber: w.jobs.cfg.Site, Topic: "news", TTL: pushKept, Urgency: webpush.UrgencyNormal,
			VAPIDPublicKey: keys.Public, VAPIDPrivateKey: keys.Private,
		})
	if err != nil {
		if !sender.asked {
			err = fmt.Errorf("%w: %w", errBadKeys, err)
		}
		return 0, err
	}
	if answer.StatusCode/100 != 2 {
		err = &fetch.StatusError{Code: answer.StatusCode}
	}
	return answer.StatusCode, errors.Join(err, answer.Body.Close())
}

// pushSender sends the library's request, and remembers that it came to that.
type pushSender struct {
	client *fetch.Client
	asked  bool
}

// Do implements webpush.HTTPClient.
func (s *pushSender) Do(r *http.Request) (*http.Response, error) {
	s.asked = true
	return s.client.Do(r)
}

// NewPushKeys makes a key pair for the site.
func NewPushKeys() (k push.Keys, err error) {
	k.Private, k.Public, err = webpush.GenerateVAPIDKeys()
	return k, err
}

// pushArgs is a timelines.Push.
type pushArgs struct {
	AccountID int64 `json:"account_id"`
}

func (pushArgs) Kind() string { return "push" }

func (pushArgs) InsertOpts() riverqueue.InsertOpts {
	return riverqueue.InsertOpts{Queue: queuePush, MaxAttempts: unlimited}
}
