package ways_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// burst is how many posts come, within 2.6 seconds.
const burst = 25

// A task that takes longer than longTask keeps the reader waiting.
const longTask = 50 * time.Millisecond

// styledPerPost bounds the elements that the browser styles for each post: those of its entry, about
// a hundred, and of the line that counts new posts. The page has thousands.
const styledPerPost = 200

// holding keeps what comes by a socket while window.holding is set, so that the page takes it when
// nothing else runs on this machine.
const holding = `
	window.held = [];
	window.WebSocket = class extends WebSocket {
		set onmessage(take) {
			super.onmessage = (event) => (window.holding ? held.push(() => take(event)) : take(event));
		}
	};`

// Many posts that come while somebody reads take little of the browser, wherever the reader is, and
// whether they come one after the other or at once; the page is as a reload would make it. How long a
// task takes depends on what else the machine does. So the test measures the time that the processor
// spent on it, and counts the elements that were styled, which is what took the time.
func TestBurst(t *testing.T) {
	words := strings.Repeat("The river rose by a foot in the night, and nobody slept. ", 5)
	for _, d := range devices {
		t.Run(d.name, func(t *testing.T) {
			s := webtest.New(t, nil)
			ann, bob, eve := s.Person("ann"), s.Person("bob"), s.Person("eve")
			by := []*webtest.Person{ann, eve}
			for i := range 30 {
				code := by[i%2].Post(fmt.Sprintf("%d %s", i, words)).Code
				for j := range 6 {
					eve.Comment(code, fmt.Sprintf("%d %s", j, words))
				}
				bob.Like(code)
			}
			s.FollowUp()
			w := d.walker(s, "bob")
			w.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
				_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: holding})
				return err
			}))
			w.SignIn("bob")
			for _, tt := range []struct {
				how        string
				top, pause int
			}{
				{"one after the other, at the top of the page", 0, 104},
				{"one after the other, further down", 3000, 104},
				{"all at once", 3000, 0},
			} {
				w.Visit("/everything")
				w.Live()
				webtest.Eval[bool](w.Tab, fmt.Sprintf(`(scrollTo(0, %d), window.holding = true)`, tt.top))
				for i := range burst {
					by[i%2].Post(fmt.Sprintf("%s %d", words, i))
				}
				s.FollowUp()
				w.Await("the posts", fmt.Sprintf(`held.length >= %d`, burst))
				events := w.traced(func() {
					webtest.Eval[bool](w.Tab, fmt.Sprintf(`(function go() {
						window.holding = false;
						while (held.length) {
							held.shift()();
							if (%d) return Boolean(setTimeout(go, %[1]d));
						}
						return true;
					})()`, tt.pause))
					w.Await("all of them", fmt.Sprintf(`!held.length && document.querySelector('#news').textContent.includes('%d')`, burst))
				})
				styled, longest := 0, 0.0
				for _, e := range events {
					styled += e.Args.ElementCount
					longest = max(longest, e.ThreadTook)
				}
				t.Logf("%s: %d elements styled, the longest task took %.1f ms", tt.how, styled, longest/1000)
				if styled == 0 || styled > burst*styledPerPost {
					t.Errorf("%s: %d posts had %d elements styled, want 1 to %d", tt.how, burst, styled, burst*styledPerPost)
				}
				if took := time.Duration(longest) * time.Microsecond; took == 0 || took > longTask {
					t.Errorf("%s: a task took %v of the processor, want more than nothing and at most %v", tt.how, took, longTask)
				}
				w.EqualsReload()
			}
		})
	}
}

// event is one of a trace. Times are microseconds.
type event struct {
	Name       string
	ThreadTook float64 `json:"tdur"`
	Args       struct{ ElementCount int }
}

// traced returns the tasks and the styling of the page while do runs.
func (w *walker) traced(do func()) []event {
	w.T.Helper()
	var mu sync.Mutex
	var events []event
	var bad error
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(w.Ctx)
	defer cancel()
	err := chromedp.Listen(ctx, func(heard any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := heard.(type) {
		case *tracing.EventDataCollected:
			for _, raw := range e.Value {
				var one event
				if err := json.Unmarshal(raw, &one); err != nil {
					bad = err
				}
				if one.Name == "RunTask" || one.Name == "UpdateLayoutTree" {
					events = append(events, one)
				}
			}
		case *tracing.EventTracingComplete:
			close(ended)
		}
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
			IncludedCategories: []string{"devtools.timeline", "disabled-by-default-devtools.timeline"},
		}})
		return err
	}))
	do()
	w.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tracing.End, cdp.Empty{})
		return err
	}))
	select {
	case <-ended:
	case <-time.After(webtest.Patience):
		w.T.Fatal("the trace does not end")
	}
	mu.Lock()
	defer mu.Unlock()
	if bad != nil {
		w.T.Fatal(bad)
	}
	return slices.Clone(events)
}
