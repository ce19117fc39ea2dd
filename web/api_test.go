package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riverrun/timelines/sources"
	"riverrun/web/webtest"
)

// pusher is a program that pushes to one source.
type pusher struct {
	t           testing.TB
	base, token string
	source      sources.Source
	store       *sources.Store
}

// newPusher adds a source whose items a program pushes.
func newPusher(s *webtest.Site, owner *webtest.Person, n sources.New) *pusher {
	s.T.Helper()
	p := &pusher{t: s.T, store: sources.Open(s.Store)}
	if n.Owner == "" {
		n.Owner = owner.Account.Name
	}
	if n.Way == "" {
		n.Way = sources.Push
	}
	var err error
	if p.source, err = p.store.Add(s.T.Context(), owner.Account.ID, n); err != nil {
		s.T.Fatal(err)
	}
	if p.token, err = p.store.Token(s.T.Context(), owner.Account.ID, p.source.Code); err != nil {
		s.T.Fatal(err)
	}
	p.base = s.HTTP.URL + "/api/sources/" + p.source.Code + "/loads"
	return p
}

// call sends a request, and returns the status and the body.
func (p *pusher) call(method, path, body string, header ...string) (int, string, http.Header) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		p.t.Fatalf("%s %s: %v after %.300s", method, path, err, answer)
	}
	return a.StatusCode, string(answer), a.Header
}

// wants sends a request that must get this status, and returns the body.
func (p *pusher) wants(status int, method, path, body string, header ...string) string {
	p.t.Helper()
	got, answer, _ := p.call(method, path, body, header...)
	if got != status {
		p.t.Fatalf("%s %s %.100s: status %d, want %d\n%.600s", method, path, body, got, status, answer)
	}
	return answer
}

// refused sends a request that must be refused with this status and this code.
func (p *pusher) refused(status int, code, method, path, body string, header ...string) string {
	p.t.Helper()
	answer := p.wants(status, method, path, body, header...)
	var said struct{ Error, Text string }
	if err := json.Unmarshal([]byte(answer), &said); err != nil || said.Error != code || said.Text == "" {
		p.t.Errorf("%s %s: got %s, want the code %s with a text", method, path, answer, code)
	}
	return answer
}

// begin begins a load.
func (p *pusher) begin() string {
	p.t.Helper()
	var said struct{ Load int64 }
	if err := json.Unmarshal([]byte(p.wants(http.StatusCreated, "POST", "", "")), &said); err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("/%d", said.Load)
}

// await reads results until the load has ended, and returns their lines.
func (p *pusher) await(load string) []string {
	p.t.Helper()
	var lines []string
	webtest.Await(p.t, "the load to end", func() bool {
		lines = strings.Split(strings.TrimSpace(p.wants(http.StatusOK, "GET", load+"/results", "")), "\n")
		return strings.Contains(lines[len(lines)-1], `"ended":true`)
	})
	return lines
}

// Items on their way do not become posts of the source that has their source's id after a restore.
func TestAPushEndsWithItsSource(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	p := newPusher(s, s.Person("ann"), sources.New{Title: "Bot"})
	// The body is read when the program is known.
	restore := readerFunc(func([]byte) (int, error) {
		if _, err := s.Store.Pool().Exec(t.Context(), `UPDATE sources SET code = 'zzzzzzzzzz'`); err != nil {
			t.Error(err)
		}
		return 0, io.EOF
	})
	body := io.MultiReader(restore, strings.NewReader(`{"id": "a", "title": "First"}`))
	r, err := http.NewRequestWithContext(t.Context(), "POST", strings.TrimSuffix(p.base, "/loads")+"/items", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	defer client.CloseIdleConnections()
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	var posts int
	if err := s.Store.Pool().QueryRow(t.Context(), `SELECT count(*) FROM posts`).Scan(&posts); err != nil {
		t.Fatal(err)
	}
	if a.StatusCode != http.StatusNotFound || posts != 0 {
		t.Errorf("status %d and %d posts, want 404 and none\n%.600s", a.StatusCode, posts, answer)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A program pushes one item, or a few, in one call. Items that are there stay, whatever the source's
// mode.
func TestPushOfSingleItems(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	p := newPusher(s, ann, sources.New{Title: "Bot", Mode: sources.Sync})
	p.base = strings.TrimSuffix(p.base, "/loads")
	type result struct {
		ID, Result, Post string
		Codes            []string
	}
	push := func(body string) []result {
		t.Helper()
		var said struct{ Results []result }
		if err := json.Unmarshal([]byte(p.wants(http.StatusOK, "POST", "/items", body)), &said); err != nil {
			t.Fatal(err)
		}
		return said.Results
	}
	first := push(`{"id": "a", "title": "First",
		"text": "on several lines"}`)
	if len(first) != 1 || first[0].ID != "a" || first[0].Result != "added" || !strings.HasPrefix(first[0].Post, s.HTTP.URL+"/p/") {
		t.Fatalf("got %+v", first)
	}
	ann.Visitor().Get(strings.TrimPrefix(first[0].Post, s.HTTP.URL)).Wants(200).Has("First", "on several lines")
	many := push("{\"id\": \"a\", \"title\": \"First\", \"text\": \"on several lines\"}\n{\"id\": \"b\"}\n\n{\"id\": \"c\", \"title\": \"Third\"}\n")
	many[2].Post = ""
	if d := cmp.Diff([]result{
		{ID: "a", Result: "same", Post: first[0].Post}, {ID: "b", Result: "rejected", Codes: []string{"title_and_text_missing"}}, {ID: "c", Result: "added"},
	}, many); d != "" {
		t.Errorf("a few (-want +got):\n%s", d)
	}
	if changed := push(`{"id": "a", "title": "First, corrected"}`); changed[0].Result != "changed" || changed[0].Post != first[0].Post {
		t.Errorf("changed: got %+v", changed)
	}
	// Both items are news, whatever was there before, and stay.
	ann.Post("written here")
	push(`{"id": "d", "title": "Fourth"}`)
	if at := ann.Visitor().Get("/ann").Has("First, corrected", "Third").Body; strings.Index(at, "Fourth") > strings.Index(at, "written here") {
		t.Error("a new item does not come to the top")
	}
	// A list that is being sent is not disturbed.
	p.base += "/loads"
	load := p.begin()
	p.base = strings.TrimSuffix(p.base, "/loads")
	push(`{"id": "e", "title": "Fifth"}`)
	p.wants(http.StatusOK, "POST", "/loads"+load+"/batches", `{"no": 1, "items": [{"id": "a", "title": "First, corrected"}]}`)

	p.refused(http.StatusUnprocessableEntity, "body_invalid", "POST", "/items", "")
	p.refused(http.StatusUnprocessableEntity, "body_invalid", "POST", "/items", `[{"id": "a"}]`)
	p.refused(http.StatusUnprocessableEntity, "body_invalid", "POST", "/items", `{"id": "a"`)
	p.refused(http.StatusRequestEntityTooLarge, "batch_large", "POST", "/items", strings.Repeat(`{"id":"a","title":"x"}`, sources.MostItems+1))
	if _, err := p.store.Pause(t.Context(), ann.Account.ID, p.source.Code); err != nil {
		t.Fatal(err)
	}
	p.refused(http.StatusConflict, "source_paused", "POST", "/items", `{"id": "f", "title": "Sixth"}`)
	p.token = "wrong"
	p.refused(http.StatusUnauthorized, "token_wrong", "POST", "/items", `{"id": "a", "title": "First"}`)
}

// F14, F22, F24, F25: a program pushes a list in batches, in any order and more than once, and reads
// what happened to each item.
func TestPushAPI(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	p := newPusher(s, ann, sources.New{Title: "Log book", Mode: sources.Sync})
	load := p.begin()
	second := p.wants(http.StatusOK, "POST", load+"/batches", `{"no": 2, "items": [{"id": "c", "title": "Third"}, {"id": "d"}, 7]}`)
	want := `{"load":1,"batch":2,"results":[{"id":"c","result":"added"},{"id":"d","result":"rejected","codes":["title_and_text_missing"]},{"id":"","result":"rejected","codes":["item_invalid","id_missing"]}]}`
	if second != want {
		t.Errorf("second batch: got\n%s\nwant\n%s", second, want)
	}
	missing := p.refused(http.StatusConflict, "batches_missing", "POST", load+"/finish", `{"batches": 3}`)
	if !strings.Contains(missing, `"missing":[1,3]`) {
		t.Errorf("got %s, want the numbers that are missing", missing)
	}
	// The body was written by hand: on several lines, with a date and a number.
	const first = "{\"no\": 1, \"items\": [\n{\"id\": \"a\", \"title\": \"First\",\n\"date\": \"never\"},\n {\"id\": \"b\", \"text\": \"Second\"}]}"
	was := p.wants(http.StatusOK, "POST", load+"/batches", first)
	if again := p.wants(http.StatusOK, "POST", load+"/batches", first); again != was {
		t.Errorf("sent twice: got %s, want %s", again, was)
	}
	p.refused(http.StatusConflict, "batch_used", "POST", load+"/batches", `{"no": 1, "items": [{"id": "z", "title": "Other"}]}`)
	p.refused(http.StatusConflict, "batches_more", "POST", load+"/finish", `{"batches": 1}`)
	if lines := strings.Split(strings.TrimSpace(p.wants(http.StatusOK, "GET", load+"/results?after=1", "")), "\n"); len(lines) != 4 ||
		!strings.HasPrefix(lines[3], `{"load":1,"state":"receiving","ended":false,"items":5,"added":3,`) {
		t.Errorf("results while it works: got\n%s", strings.Join(lines, "\n"))
	}
	for range 2 { // the first answer may be lost
		if got := p.wants(http.StatusAccepted, "POST", load+"/finish", `{"batches": 2}`); !strings.HasPrefix(got, `{"load":1,"state":"`) {
			t.Errorf("finish: got %s", got)
		}
	}
	got := p.await(load)
	wantLines := []string{
		`{"batch":1,"id":"a","result":"added","codes":["date_invalid"]}`,
		`{"batch":1,"id":"b","result":"added"}`,
		`{"batch":2,"id":"c","result":"added"}`,
		`{"batch":2,"id":"d","result":"rejected","codes":["title_and_text_missing"]}`,
		`{"batch":2,"id":"","result":"rejected","codes":["item_invalid","id_missing"]}`,
		`{"load":1,"state":"done","ended":true,"items":5,"added":3,"changed":0,"same":0,"skipped":1,"removed":0,"kept":0,"gone":0,"errors":3,"warnings":1}`,
	}
	if diff := cmp.Diff(wantLines, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	page := ann.Visitor().Get("/ann").Wants(http.StatusOK)
	page.Has("First", "Second", "Third", "Log book")
	p.refused(http.StatusConflict, "load_ended", "POST", load+"/batches", `{"no": 3, "items": []}`)
	if again := p.wants(http.StatusOK, "POST", load+"/batches", first); again != was {
		t.Errorf("sent again after the end: got %s, want %s", again, was)
	}

	// Items that are absent from the next full list go, and items with another text are changed.
	load = p.begin()
	p.wants(http.StatusOK, "POST", load+"/batches", `{"no": 1, "items": [{"id": "a", "title": "First, corrected"}, {"id": "b", "text": "Second"}]}`)
	p.wants(http.StatusAccepted, "POST", load+"/finish", `{"batches": 1}`)
	lines := p.await(load)
	if want := `{"load":2,"state":"done","ended":true,"items":2,"added":0,"changed":1,"same":1,"skipped":0,"removed":1,"kept":0,"gone":2,"errors":0,"warnings":0}`; lines[len(lines)-1] != want {
		t.Errorf("the end of the second load: got\n%s, want\n%s", lines[len(lines)-1], want)
	}
	ann.Visitor().Get("/ann").Has("First, corrected").Lacks("Third")
}

// TestPushAPIRefuses checks that a refused request says why, with a code, and does nothing.
func TestPushAPIRefuses(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	p, other := newPusher(s, ann, sources.New{Title: "One"}), newPusher(s, ann, sources.New{Title: "Other"})
	load := p.begin()
	const batch = `{"no": 1, "items": [{"id": "a", "title": "First"}]}`

	for _, header := range [][]string{
		{"Authorization", ""},
		{"Authorization", "Bearer"},
		{"Authorization", "Bearer " + other.token},
		{"Authorization", "Basic " + p.token},
		{"Authorization", "Bearer " + p.token[1:]},
		{"Authorization", "", "Cookie", webtest.Cookie + "=" + ann.Token},
		{"Authorization", "Bearer \x80"},
	} {
		p.refused(http.StatusUnauthorized, "token_wrong", "POST", load+"/batches", batch, header...)
	}
	if status, _, header := other.call("POST", load+"/batches", batch, "Authorization", "x"); status != 401 || !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("without a token: status %d, WWW-Authenticate %q", status, header.Get("WWW-Authenticate"))
	}
	unknown := *p
	unknown.base = strings.Replace(p.base, p.source.Code, "0000000000", 1)
	unknown.refused(http.StatusUnauthorized, "token_wrong", "POST", "", "")
	unknown.base = strings.Replace(p.base, p.source.Code, "%00%ff", 1)
	unknown.refused(http.StatusUnauthorized, "token_wrong", "POST", "", "")

	for _, path := range []string{"/7", "/0", "/-1", "/x", "/99999999999999999999"} {
		p.refused(http.StatusNotFound, "load_unknown", "POST", path+"/batches", batch)
		p.refused(http.StatusNotFound, "load_unknown", "POST", path+"/finish", `{"batches": 1}`)
		p.refused(http.StatusNotFound, "load_unknown", "GET", path+"/results", "")
	}
	for _, body := range []string{
		"", "x", "{}", "[]", `{"no": 1}`, `{"items": []}`, `{"no": "1", "items": []}`, `{"no": 1.5, "items": []}`, `{"no": 1, "items": {}}`,
		`{"no": 1, "items": [{"id": "a"}`, `{"no": 1, "items": [{"id": "a"}]`, `{"no": 1, "items": [}]}`, `{"no": 1, "items": []} x`,
		`{"no": 1, "item": [{"id": "a"}], "items": []}`, `{"no": 1, "no": 2, "items": []}`, `{"no": 1, "items": [], "items": []}`, "\x1f\x8b\x08",
		`{"no": 1, "items": null}`,
	} {
		p.refused(http.StatusUnprocessableEntity, "body_invalid", "POST", load+"/batches", body)
	}
	for _, body := range []string{"", "x", "{}", `{"batches": "1"}`, `{"batches": -1}`, `{"batches": 1} 2`} {
		p.refused(http.StatusUnprocessableEntity, "body_invalid", "POST", load+"/finish", body)
	}
	p.refused(http.StatusUnprocessableEntity, "batch_number", "POST", load+"/batches", `{"no": 0, "items": []}`)
	p.refused(http.StatusUnprocessableEntity, "body_invalid", "GET", load+"/results?after=x", "")
	p.refused(http.StatusConflict, "batches_missing", "POST", load+"/finish", `{"batches": 9223372036854775807}`)
	if got := p.refused(http.StatusRequestEntityTooLarge, "batch_large", "POST", load+"/batches",
		`{"no": 1, "items": [`+strings.Repeat("{},", 500)+`{}]}`); !strings.Contains(got, `"most":500`) {
		t.Errorf("too many items: got %s", got)
	}
	p.refused(http.StatusRequestEntityTooLarge, "body_large", "POST", load+"/batches", `{"no": 1, "items": ["`+strings.Repeat("x", 4<<20)+`"]}`)
	p.refused(http.StatusRequestEntityTooLarge, "body_large", "POST", load+"/finish", strings.Repeat(" ", 5<<10)+`{"batches": 1}`)
	p.refused(http.StatusRequestEntityTooLarge, "body_large", "POST", "", strings.Repeat("x", 5<<10))

	// None of the requests above changed anything. A page of another site may act as a program too: no
	// cookie counts.
	if got := p.wants(http.StatusOK, "POST", load+"/batches", batch, "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site"); !strings.Contains(got, `"added"`) {
		t.Errorf("the first batch: got %s", got)
	}
	if _, err := p.store.Pause(t.Context(), ann.Account.ID, p.source.Code); err != nil {
		t.Fatal(err)
	}
	if got := p.refused(http.StatusConflict, "source_paused", "POST", "", "", "Accept-Language", "ru"); !strings.Contains(got, "на паузе") {
		t.Errorf("in Russian: got %s", got)
	}
	p.refused(http.StatusConflict, "source_paused", "POST", load+"/batches", `{"no": 2, "items": []}`) // also for a load that has begun
	file := newPusher(s, ann, sources.New{Title: "By hand", Way: sources.File})
	file.refused(http.StatusConflict, "source_other", "POST", "", "")

	// A load that was begun anew takes no more batches.
	old := other.begin()
	other.begin()
	other.refused(http.StatusConflict, "load_ended", "POST", old+"/batches", batch)
	other.refused(http.StatusConflict, "load_ended", "POST", old+"/finish", `{"batches": 0}`)
	if _, err := other.store.Remove(t.Context(), ann.Account.ID, other.source.Code, sources.Delete); err != nil {
		t.Fatal(err)
	}
	other.refused(http.StatusUnauthorized, "token_wrong", "POST", "", "")
}

// A batch waits while another is being applied. If that takes long, the answer says when to try
// again.
func TestPushesWait(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	p := newPusher(s, ann, sources.New{Title: "One"})
	load := p.begin()
	work, err := p.store.Take(t.Context(), p.source.ID)
	if err != nil {
		t.Fatal(err)
	}
	const batch = `{"no": 1, "items": [{"id": "a", "title": "First"}]}`
	began := time.Now()
	status, body, header := p.call("POST", load+"/batches", batch)
	if took := time.Since(began); status != http.StatusServiceUnavailable || !strings.Contains(body, "source_busy") || header.Get("Retry-After") == "" || took > 15*time.Second {
		t.Errorf("while it is worked: status %d, %s, Retry-After %q, after %v", status, body, header.Get("Retry-After"), took)
	}
	var all sync.WaitGroup
	answers := make([]string, 4)
	for i := range answers {
		all.Go(func() {
			_, answers[i], _ = p.call("POST", load+"/batches", strings.Replace(batch, "1", fmt.Sprint(i+1), 1))
		})
	}
	if err := work.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	results := map[string]int{}
	for _, a := range answers {
		for _, result := range []string{"added", "same", "error"} {
			if strings.Contains(a, `"`+result+`"`) {
				results[result]++
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"added": 1, "same": 3}, results); diff != "" {
		t.Errorf("batches at the same time (-want +got):\n%s\n%q", diff, answers)
	}
}

// BenchmarkPushToPage measures the time from the sending of a batch until its last item is on an open
// page of a follower of the author, in batches of one item and of a hundred.
func BenchmarkPushToPage(b *testing.B) {
	for _, items := range []int{1, 100} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			s := webtest.NewLively(b)
			ann, bob := s.Person("ann"), s.Person("bob")
			bob.Subscribe("ann")
			p := newPusher(s, ann, sources.New{Title: "Harbour"})
			load := p.begin()
			p.wants(http.StatusAccepted, "POST", load+"/finish", `{"batches": 0}`)
			p.await(load)
			load = p.begin()
			page := s.Open(bob, "/")
			var took []time.Duration
			for no := 0; b.Loop(); {
				no++
				var batch bytes.Buffer
				for i := range items {
					fmt.Fprintf(&batch, `,{"id":"%d-%d","title":"Boat %[1]d-%[2]d!"}`, no, i)
				}
				last := fmt.Sprintf("Boat %d-%d!", no, items-1)
				began := time.Now()
				p.wants(http.StatusOK, "POST", load+"/batches", fmt.Sprintf(`{"no":%d,"items":[%s]}`, no, batch.String()[1:]))
				page.Until(last, func(f webtest.Frame) bool { return f.T == "entry" && strings.Contains(f.HTML, last) })
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// A program that asks too often must wait, and no other source waits for it.
func TestPushesAreLimited(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	p, other := newPusher(s, ann, sources.New{Title: "One"}), newPusher(s, ann, sources.New{Title: "Other"})
	const most = 600
	for n := 0; ; n++ {
		status, body, header := p.call("GET", "/1/results", "")
		if status == http.StatusTooManyRequests {
			if n < most || !strings.Contains(body, `"limited"`) || header.Get("Retry-After") == "" {
				t.Errorf("request %d: %s, Retry-After %q", n+1, body, header.Get("Retry-After"))
			}
			break
		}
		if n > most+most/2 {
			t.Fatalf("request %d: status %d", n+1, status)
		}
	}
	other.refused(http.StatusNotFound, "load_unknown", "GET", "/1/results", "")
}

// A pushed item is on open pages within a second at the 95th percentile, and an item that is taken
// back is gone from them.
func TestPushReachesOpenPages(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann, bob := s.Person("ann"), s.Person("bob")
	bob.Subscribe("ann")
	p := newPusher(s, ann, sources.New{Title: "Harbour", Mode: sources.Sync})
	// A first load is of what is old.
	load := p.begin()
	p.wants(http.StatusOK, "POST", load+"/batches", `{"no": 1, "items": []}`)
	p.wants(http.StatusAccepted, "POST", load+"/finish", `{"batches": 1}`)
	p.await(load)
	pages := map[string]*webtest.Page{"the author's feed": s.Open(ann, "/ann"), "a reader's home": s.Open(bob, "/"), "nobody's": s.Open(nil, "/everything")}
	const times = 40
	var took []time.Duration
	load = p.begin()
	for i := range times {
		text := fmt.Sprintf("Boat number %d!", i)
		item, err := json.Marshal(map[string]any{"no": i + 1, "items": []map[string]string{{"id": fmt.Sprint(i), "title": text}}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		p.wants(http.StatusOK, "POST", load+"/batches", string(item))
		for what, page := range pages {
			page.Until(what+" to show "+text, func(f webtest.Frame) bool { return f.T == "entry" && strings.Contains(f.HTML, text) })
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("push to page: median %v, p95 %v, most %v", took[times/2], took[times*95/100], took[times-1])
	if p95 := took[times*95/100]; p95 > time.Second {
		t.Errorf("push to page: p95 %v, want at most a second", p95)
	}
	p.wants(http.StatusOK, "POST", load+"/batches", fmt.Sprintf(`{"no": %d, "items": [{"id": "7", "title": "A ship, rather"}]}`, times+1))
	for what, page := range pages {
		page.Until(what+" to follow the correction", func(f webtest.Frame) bool {
			return f.T == "entry" && strings.Contains(f.HTML+f.Parts["body"], "A ship, rather")
		})
	}
	p.wants(http.StatusAccepted, "POST", load+"/finish", fmt.Sprintf(`{"batches": %d}`, times+1))
	p.await(load)
	// A twentieth of the items is absent from the next list, and goes.
	load = p.begin()
	var all bytes.Buffer
	for i := 2; i < times; i++ {
		text := fmt.Sprintf("Boat number %d!", i)
		if i == 7 {
			text = "A ship, rather"
		}
		fmt.Fprintf(&all, `,{"id":"%d","title":%q}`, i, text)
	}
	p.wants(http.StatusOK, "POST", load+"/batches", `{"no": 1, "items": [`+all.String()[1:]+`]}`)
	p.wants(http.StatusAccepted, "POST", load+"/finish", `{"batches": 1}`)
	for _, page := range pages {
		gone := 0
		page.Until("two that went", func(f webtest.Frame) bool {
			if f.T == "gone" {
				gone++
			}
			return gone == 2
		})
	}
}
