package jobs

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/jobs/uploads"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// ordered is a Files that notes the order in which pictures are made.
type ordered struct {
	uploads.Files
	made recorder[int64]
}

func (o *ordered) Pending(ctx context.Context, id int64) (files.Pending, error) {
	o.made.add(id)
	return o.Files.Pending(ctx, id)
}

// TestOneOwnerDoesNotHoldUpOthers: who uploads many pictures at once has some of them made, and the
// rest after those of people who came later.
func TestOneOwnerDoesNotHoldUpOthers(t *testing.T) {
	pool := prepare(t)
	store := timelines.Open(pool, announcer(t), timelines.DefaultOptions())
	cfg := config(t, pool, &calls{})
	order := &ordered{Files: store.Files}
	cfg.Files = order
	upload := func(owner int64) (id int64) {
		t.Helper()
		code, err := store.Files.Add(t.Context(), files.New{Owner: owner, Name: "a.png", Sum: blobs.Sum{1}, Bytes: 3, Picture: true})
		if err == nil {
			err = pool.QueryRow(t.Context(), `SELECT id FROM files WHERE code = $1`, code).Scan(&id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	var ids []int64
	for _, name := range []string{"bob", "ann", "cid"} {
		a, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: name, Password: "a long enough one"})
		if err != nil {
			t.Fatal(err)
		}
		n := 2
		if name == "bob" {
			n = 18
		}
		for range n {
			ids = append(ids, upload(a.ID))
		}
	}
	start(t, cfg)
	await(t, "all to be made", func() bool { return len(order.made.all()) >= len(ids) })
	want := append(append(append([]int64{}, ids[:5]...), ids[18:]...), ids[5:18]...)
	if diff := cmp.Diff(want, order.made.all()); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
}
