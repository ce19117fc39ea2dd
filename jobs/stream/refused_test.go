package stream_test

import (
	"log/slog"
	"testing"

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

// A stream that is full refuses messages. They are sent again until it takes them, and the cursor waits for that.
func TestWhatIsRefusedIsSentAgain(t *testing.T) {
	db := testdb.New(t)
	store := timelines.Open(db.Primary, nil, timelines.DefaultOptions())
	log := slog.New(slog.DiscardHandler)
	relay := changes.Open(store, 0)
	ann, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "ann", Password: "a long enough one"})
	if err != nil {
		t.Fatal(err)
	}
	b := broker(t, t.TempDir(), server.RANDOM_PORT)
	conn, err := nats.Connect(b.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	small := jetstream.StreamConfig{Name: stream.Stream, Subjects: []string{"riverrun.changes.>"}, MaxMsgs: 1, Discard: jetstream.DiscardNew}
	full, err := js.CreateStream(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Primary.Exec(t.Context(), `INSERT INTO streams (name, seq) SELECT $1, seq FROM changes_head`, stream.Stream); err != nil {
		t.Fatal(err)
	}
	const posts = 5
	for range posts {
		if _, err := store.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "one more"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := relay.RelayAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := rivers.Open(db.Secondary, store, log, rivers.DefaultOptions())
	s, err := stream.Open(b.ClientURL(), db.Primary, lines.Open(all, relay, "https://river.example"), log)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	t.Cleanup(s.Stop)
	messages := func() uint64 {
		t.Helper()
		i, err := full.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return i.State.Msgs
	}
	await(t, "message", func() bool { return messages() == 1 })
	small.MaxMsgs = -1
	if _, err := js.UpdateStream(t.Context(), small); err != nil {
		t.Fatal(err)
	}
	await(t, "rest of the messages", func() bool { return messages() == posts })
	await(t, "cursor at the end", func() bool {
		var done bool
		err := db.Primary.QueryRow(t.Context(), `SELECT s.seq = h.seq FROM streams s, changes_head h`).Scan(&done)
		return err == nil && done
	})
}
