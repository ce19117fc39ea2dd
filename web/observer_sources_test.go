package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	loads "riverrun/jobs/sources"
	"riverrun/timelines/sources"
	"riverrun/web/webtest"
)

// This file observes posts that flow in from elsewhere: each resident has programs that push full lists
// into their sub-feeds and groups.

// flowing is a source that a resident's program pushes, and what is in its list.
type flowing struct {
	sources.Source
	place, token string
	items        []*flowingItem
}

type flowingItem struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	post  *writing
}

// flowsInto gives a resident a source whose posts stand in a place.
func (w *observed) flowsInto(r *resident, place string, n sources.New) {
	w.t.Helper()
	ctx, store := w.t.Context(), sources.Open(w.nodes[0].Store)
	n.Way, n.Mode, n.Title, n.Settings = sources.Push, sources.Sync, "Elsewhere", sources.Settings{MostGone: 100}
	f := &flowing{place: place}
	var err error
	if f.Source, err = store.Add(ctx, r.Account.ID, n); err != nil {
		w.t.Fatal(err)
	}
	if f.token, err = store.Token(ctx, r.Account.ID, f.Code); err != nil {
		w.t.Fatal(err)
	}
	r.sources = append(r.sources, f)
}

// flow has one of the actor's programs push its list again, with an item that is new, changed or gone.
func (a *actor) flow() {
	s := a.sources[a.rng.IntN(len(a.sources))]
	const most = 6
	switch k := a.rng.IntN(3); {
	case len(s.items) == 0 || k == 0 && len(s.items) < most:
		a.flowIn(s)
	case k == 1:
		a.flowChanged(s, s.items[a.rng.IntN(len(s.items))])
	default:
		a.flowGone(s, a.rng.IntN(len(s.items)))
	}
}

// says gives an item a text with a token of its own.
func (a *actor) says(it *flowingItem) (token string) {
	word := hideable[a.rng.IntN(len(hideable))]
	token = a.token(said{writing: it.post, words: []string{word}})
	it.Title, it.Text = token, "It says "+word
	return token
}

func (a *actor) flowIn(s *flowing) {
	f := a.facts
	n := a.serial.Add(1)
	p := &writing{id: fmt.Sprintf("item %d", n), author: a.name, item: true}
	p.places.first = s.place
	it := &flowingItem{ID: p.id, post: p}
	token := a.says(it)
	f.mu.Lock()
	f.tookPart[tie{likes, a.name, p.id}] = true
	f.begun = append(f.begun, p)
	made := begin(f, &p.text, token)
	f.mu.Unlock()
	s.items = append(s.items, it)
	_, result := a.pushList(s, it.ID)
	made(result == sources.ResultAdded)
	if result != sources.ResultAdded {
		a.t.Errorf("%s: a new item: %q", a.name, result)
		return
	}
	var id int64
	var code string
	err := a.db.Primary.QueryRow(a.t.Context(), `SELECT p.id, p.code FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.source_id = $1 AND i.external_id = $2`,
		s.ID, it.ID).Scan(&id, &code)
	if err != nil {
		a.t.Errorf("%s: the post of an item: %v", a.name, err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.number, p.code, f.codes[code] = id, code, p
	f.posts = append(f.posts, p)
}

// flowChanged changes an item. Its post does not follow if it was edited or deleted here.
func (a *actor) flowChanged(s *flowing, it *flowingItem) {
	it.post.mu.Lock()
	defer it.post.mu.Unlock()
	defer a.heat("p/"+it.post.code, s.place)
	token := a.says(it)
	a.facts.mu.Lock()
	changed := begin(a.facts, &it.post.text, token)
	a.facts.mu.Unlock()
	_, result := a.pushList(s, it.ID)
	changed(result == sources.ResultChanged)
	a.facts.note("items " + result)
}

// flowGone takes an item out of the list.
func (a *actor) flowGone(s *flowing, i int) {
	it := s.items[i]
	it.post.mu.Lock()
	defer it.post.mu.Unlock()
	defer a.heat("p/"+it.post.code, s.place)
	a.facts.mu.Lock()
	gone := begin(a.facts, &it.post.text, "")
	a.facts.mu.Unlock()
	s.items = append(s.items[:i:i], s.items[i+1:]...)
	l, _ := a.pushList(s, "")
	gone(true)
	if l.Gone != 1 {
		a.t.Errorf("%s: %d items are gone, want 1", a.name, l.Gone)
	}
	a.facts.note(fmt.Sprintf("items gone whose posts went: %t", l.Removed == 1))
}

// pushList pushes the whole list, and returns when its load is done, with the load and the result of
// one item.
func (a *actor) pushList(s *flowing, about string) (load sources.Load, result string) {
	ctx, node := a.t.Context(), a.on[a.rng.IntN(len(a.on))]
	a.done.Add(1)
	begun := call[struct{ Load int64 }](a, node, s, "", nil)
	address := fmt.Sprintf("/%d", begun.Load)
	batch := map[string]any{"no": 1, "items": s.items}
	answer := call[struct{ Results []sources.Result }](a, node, s, address+"/batches", batch)
	for _, r := range answer.Results {
		if r.ID == about {
			result = r.Result
		} else if r.Result != sources.ResultSame && r.Result != sources.ResultSkipped {
			a.t.Errorf("%s: item %s: %s, and it did not change", a.name, r.ID, r.Result)
		}
	}
	call[struct{}](a, node, s, address+"/finish", map[string]any{"batches": 1})
	// A job ends the load; where there are none, this does.
	run := loads.Runner{Sources: sources.Open(node.Store), Blobs: node.Blobs, Carry: node.Tiers.Carry, Yield: func(context.Context) error { return nil }, Log: slog.New(slog.DiscardHandler)}
	if err := run.Run(ctx, s.ID); err != nil && !errors.Is(err, sources.ErrBusy) {
		a.t.Errorf("%s: end a load: %v", a.name, err)
	}
	webtest.Await(a.t, "a load to end", func() bool {
		var err error
		if load, err = run.Sources.Load(ctx, s.ID, begun.Load); err != nil {
			a.t.Fatal(err)
		}
		return load.State == sources.Done
	}, func() string { return string(load.State) })
	if !a.lively {
		a.ask()
	}
	return load, result
}

// call makes a request of a source's program.
func call[T any](a *actor, node *webtest.Site, s *flowing, address string, say any) (answer T) {
	body, err := json.Marshal(say)
	if err != nil {
		a.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, node.HTTP.URL+"/api/sources/"+s.Code+"/loads"+address, bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := node.HTTP.Client().Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		a.t.Errorf("%s: %s: %s", a.name, request.URL.Path, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		a.t.Errorf("%s: %s: %v", a.name, request.URL.Path, err)
	}
	return answer
}
