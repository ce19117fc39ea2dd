package stream_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"riverrun/jobs/stream"
	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/rivers/lines"
	"riverrun/timelines"
	"riverrun/timelines/changes"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// broker runs a server of NATS.
func broker(t *testing.T, folder string, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: folder, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the broker does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// G8, G9: two senders send while the broker goes away and comes back. It has the last change of each post, those of one
// post in order, and no message twice.
func TestNothingIsLostWhileTheBrokerIsAway(t *testing.T) {
	db := testdb.New(t)
	store := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	log := slog.New(slog.DiscardHandler)
	all := rivers.Open(db.Secondary, store, log, rivers.DefaultOptions())
	relay := changes.Open(store, 0)
	ann, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "ann", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	var posts []timelines.Change
	change := func(times int) {
		t.Helper()
		for n := range times {
			p, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "one more", To: []string{timelines.ToEyes}})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(posts, p) {
				if _, err := store.Posts.Edit(t.Context(), ann.ID, p.Code, fmt.Sprintf("edit %d of %d", n, time.Now().UnixNano())); err != nil {
					t.Fatal(err)
				}
			}
			posts = append(posts, p)
			if _, err := relay.RelayAll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder := t.TempDir()
	b := broker(t, folder, server.RANDOM_PORT)
	url, port := b.ClientURL(), b.Addr().(*net.TCPAddr).Port
	for range 2 {
		s, err := stream.Open(url, db.Primary, lines.Open(all, relay, "https://river.example"), log)
		if err != nil {
			t.Fatal(err)
		}
		s.Start(t.Context())
		t.Cleanup(s.Stop)
	}
	await(t, "a cursor", func() bool {
		var begun bool
		err := db.Primary.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM streams)`).Scan(&begun)
		return err == nil && begun
	})
	change(3)
	b.Shutdown()
	b.WaitForShutdown()
	change(3)
	broker(t, folder, port)
	change(3)

	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	var consumer jetstream.Consumer
	await(t, "the stream", func() bool {
		consumer, err = js.OrderedConsumer(t.Context(), stream.Stream, jetstream.OrderedConsumerConfig{})
		return err == nil
	})
	want, err := store.Posts.Versions(t.Context(), idsOf(posts))
	if err != nil {
		t.Fatal(err)
	}
	last, seen := map[string]int64{}, map[string]bool{}
	for behind := len(posts); behind > 0; {
		m, err := consumer.Next(jetstream.FetchMaxWait(20 * time.Second))
		if err != nil {
			t.Fatalf("%d posts are not there as they are: %v", behind, err)
		}
		var l lines.Line
		if err := json.Unmarshal(m.Data(), &l); err != nil {
			t.Fatal(err)
		}
		if id := m.Headers().Get(jetstream.MsgIDHeader); id != l.ID || seen[id] {
			t.Errorf("message %q of change %q comes twice: %t", id, l.ID, seen[id])
		}
		seen[l.ID] = true
		if l.Post == nil {
			continue
		}
		if l.Post.Version < last[l.Code] {
			t.Errorf("post %s goes back from version %d to %d", l.Code, last[l.Code], l.Post.Version)
		}
		last[l.Code] = l.Post.Version
		behind = 0
		for _, p := range posts {
			if last[p.Code] != want[p.PostID] {
				behind++
			}
		}
	}
}

func idsOf(posts []timelines.Change) (ids []int64) {
	for _, p := range posts {
		ids = append(ids, p.PostID)
	}
	return ids
}

// await looks until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for !so() {
		select {
		case <-late:
			t.Fatalf("no %s after half a minute", what)
		case <-tick.C:
		}
	}
}

// G9: a batch has one change of a post, the last.
func TestABatchHasOneChangeOfAPost(t *testing.T) {
	db := testdb.New(t)
	store := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	all := rivers.Open(db.Secondary, store, slog.New(slog.DiscardHandler), rivers.DefaultOptions())
	relay := changes.Open(store, 0)
	ann, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "ann", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "hello", To: []string{timelines.ToEyes}})
		for n := range 3 {
			if err == nil {
				_, err = store.Posts.Edit(t.Context(), ann.ID, p.Code, fmt.Sprint("edit ", n))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := relay.RelayAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	batch, _, err := lines.Open(all, relay, "https://river.example").Read(t.Context(), lines.Reader{Operator: true}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	for _, l := range batch {
		if l.Kind == "post" {
			sent[l.Code]++
		}
	}
	if len(sent) != 2 {
		t.Errorf("%d posts, want 2", len(sent))
	}
	for code, n := range sent {
		if n != 1 {
			t.Errorf("post %s %d times, want once", code, n)
		}
	}
}
