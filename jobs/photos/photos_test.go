package photos_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/jobs/fetch"
	jobs "riverrun/jobs/photos"
	loads "riverrun/jobs/sources"
	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/sources"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// world is a store with one source, and a server of pictures.
type world struct {
	testing.TB
	pool   *pgxpool.Pool
	posts  *timelines.Store
	load   loads.Runner
	fetch  jobs.Fetcher
	source int64
	server *httptest.Server
	host   string

	mu    sync.Mutex // guards what follows
	asked []string
	// answers are the answers of the server, by path.
	answers map[string]http.HandlerFunc
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := &world{TB: t, pool: testdb.New(t).Primary, answers: map[string]http.HandlerFunc{}}
	w.posts = timelines.Open(w.pool, nil, timelines.DefaultOptions())
	w.server = httptest.NewServer(w)
	t.Cleanup(w.server.Close)
	at, err := url.Parse(w.server.URL)
	w.must(err)
	w.host = at.Host
	store, err := blobs.Location{}.Open(t.Context(), t.TempDir())
	w.must(err)
	client, err := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	w.must(err)
	t.Cleanup(client.Close)
	carry := func(_ context.Context, c timelines.Change, err error) (timelines.Change, error) { return c, err }
	log := slog.New(slog.DiscardHandler)
	w.load = loads.Runner{
		Sources: sources.Open(w.posts), Blobs: store, Carry: carry, Log: log, Dir: t.TempDir(),
		Yield: func(ctx context.Context) error { return ctx.Err() },
	}
	w.fetch = jobs.Fetcher{
		Photos: w.load.Sources.Photos(), Blobs: store, Client: client, Carry: carry, Log: log, Dir: t.TempDir(),
		Turn: func(ctx context.Context) (func(), error) { return func() {}, ctx.Err() },
	}
	ann, err := w.posts.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Title: "Ann", Password: "wharf-otter-lamp"})
	w.must(err)
	w.must(w.pool.QueryRow(t.Context(), `
		INSERT INTO sources (owner_id, added_by, code, way, mode, title, settings)
		VALUES ($1, $1, '0123456789', 'file', 'append', 'A list', '{}') RETURNING id`, ann.ID).Scan(&w.source))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) same(what string, got, want any) {
	w.Helper()
	if d := cmp.Diff(want, got); d != "" {
		w.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("If-None-Match")))
	answer := w.answers[r.URL.Path]
	w.mu.Unlock()
	if answer == nil {
		http.NotFound(out, r)
		return
	}
	answer(out, r)
}

// answer sets the answer of the server for a path.
func (w *world) answer(path string, answer http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[path] = answer
}

// requests returns the requests since the last call.
func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

func (w *world) list(sql string, args ...any) []string {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), sql, args...)
	w.must(err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	return list
}

// photo returns a picture of that size in pixels.
func photo(width, height int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	img.Set(1, 1, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // memory takes all of it
	}
	return b.Bytes()
}

// serves returns a server of one picture that answers 304 by its ETag.
func serves(content []byte, etag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		if etag != "" && r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/plain") // the type that it claims does not matter
		_, _ = w.Write(content)
	}
}

// items loads one item for each list of addresses.
func (w *world) items(list ...string) {
	w.Helper()
	file := "id,title,pictures\n"
	for i, addresses := range list {
		file += fmt.Sprintf("%d,Item %d,%s\n", i, i, addresses)
	}
	sum, size, err := w.load.Blobs.Put(w.Context(), strings.NewReader(file), 1<<20)
	w.must(err)
	_, err = w.pool.Exec(w.Context(), `
		WITH s AS (UPDATE sources SET loads = loads + 1 WHERE id = $1 RETURNING *)
		INSERT INTO loads (source_id, no, version, way, state, settings, file, bytes)
		SELECT id, loads, version, way, 'waiting', settings, $2, $3 FROM s`, w.source, sum[:], size)
	w.must(err)
	w.must(w.load.Run(w.Context(), w.source))
}

// run fetches the due pictures.
func (w *world) run(host string) error {
	w.Helper()
	return w.fetch.Run(w.Context(), host)
}

// due makes all waiting pictures due, and frees all hosts.
func (w *world) due() {
	w.Helper()
	_, err := w.pool.Exec(w.Context(), `WITH h AS (DELETE FROM fetch_hosts) UPDATE item_pictures SET next_at = now()`)
	w.must(err)
}

// attached returns the pictures of posts in their order, by names and sizes.
func (w *world) attached() []string {
	w.Helper()
	return w.list(`
		SELECT format('%s: %s', split_part(p.body, E'\n', 1), string_agg(format('%s %sx%s', f.name, f.width, f.height), ', ' ORDER BY f.position, f.id))
		FROM posts p JOIN files f ON f.post_id = p.id GROUP BY p.id ORDER BY p.body`)
}

// states returns the states of all pictures, with their problems.
func (w *world) states() []string {
	w.Helper()
	return w.list(`SELECT trim(format('%s %s %s', replace(url, $1, ''), state, problem)) FROM item_pictures ORDER BY url`, w.server.URL)
}

// G19, G20: the pictures of an item are fetched, made and attached. If another item has the same
// address, it is asked for with the stored ETag.
func TestPicturesComeToPosts(t *testing.T) {
	w := newWorld(t)
	w.answer("/quay.png", serves(photo(900, 600), `"q"`))
	w.answer("/rope.png", serves(photo(30, 20), `"r"`))
	w.items(w.server.URL + "/quay.png|" + w.server.URL + "/rope.png")
	turns := 0
	w.fetch.Turn = func(context.Context) (func(), error) { return func() { turns++ }, nil }
	w.must(w.run(w.host))
	w.same("turns that ended", turns, 2)
	w.same("asked", w.requests(), []string{"/quay.png", "/rope.png"})
	w.same("attached", w.attached(), []string{"Item 0: quay.png 900x600, rope.png 30x20"})
	w.same("sizes", w.list(`SELECT b.size FROM file_blobs b JOIN files f ON f.id = b.file_id WHERE f.name = 'quay.png' ORDER BY 1`), []string{"full", "thumb"})

	// Other items show one of them too, and two of these items show a new one.
	same := w.server.URL + "/quay.png|" + w.server.URL + "/rope.png"
	w.answer("/boat.png", serves(photo(40, 30), `"b"`))
	w.items(same, w.server.URL+"/rope.png", w.server.URL+"/boat.png", w.server.URL+"/boat.png")
	w.must(w.run(w.host))
	w.same("asked", w.requests(), []string{`/rope.png "r"`, "/boat.png"})
	w.same("attached", w.attached(), []string{"Item 0: quay.png 900x600, rope.png 30x20", "Item 1: rope.png 30x20", "Item 2: boat.png 40x30", "Item 3: boat.png 40x30"})

	// riverrun check counts the files, and the sweep leaves them alone.
	report, err := files.Check(t.Context(), w.pool, w.fetch.Blobs)
	w.must(err)
	// There are four blobs of pictures, one picture having two sizes, and the files of two loads.
	if report.Blobs != 6 || len(report.Missing)+len(report.Orphaned) != 0 {
		t.Errorf("check: %+v", report)
	}
	if n, err := files.Sweep(t.Context(), w.pool, w.fetch.Blobs, time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("the sweep removed %d blobs, %v", n, err)
	}
}

// F30: each failure has its code, and failures that may pass are tried again.
func TestPicturesThatCannotBeHad(t *testing.T) {
	w := newWorld(t)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	to := func(address string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
	}
	good := photo(900, 600)
	huge := bytes.Clone(good[:33])
	copy(huge[16:24], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff}) // 65,535 by 65,535 pixels, says its header
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	w.answer("/cut.png", serves(good[:len(good)/2], ""))
	w.answer("/denied.png", status(http.StatusForbidden))
	w.answer("/empty.png", serves(nil, ""))
	w.answer("/endless.png", func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(good); err != nil {
				return
			}
		}
	})
	w.answer("/gone.png", status(http.StatusGone))
	w.answer("/huge.png", serves(huge, ""))
	w.answer("/ill.png", status(http.StatusInternalServerError))
	w.answer("/inside.png", to("http://10.0.0.1/secret.png"))
	w.answer("/page.png", serves([]byte("<!doctype html><title>no</title>"), ""))
	w.answer("/round.png", to("/round.png"))
	w.answer("/script.png", serves([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), ""))
	var all []string
	for _, name := range []string{"cut", "denied", "empty", "endless", "gone", "huge", "ill", "inside", "none", "page", "round", "script"} {
		all = append(all, w.server.URL+"/"+name+".png")
	}
	all = append(all, "http://192.168.0.1/x.png")
	w.items(strings.Join(all, "|"))
	w.must(w.run(w.host))
	w.must(w.run("192.168.0.1"))
	w.same("states", w.states(), []string{
		"/cut.png failed picture_not_a_picture",
		"/denied.png failed picture_denied",
		"/empty.png failed picture_not_a_picture",
		"/endless.png failed picture_too_large",
		"/gone.png failed picture_not_found",
		"/huge.png failed picture_too_large",
		"/ill.png waiting picture_unreachable",
		"/inside.png failed picture_forbidden_address",
		"/none.png failed picture_not_found",
		"/page.png failed picture_not_a_picture",
		"/round.png waiting picture_unreachable",
		"/script.png failed picture_not_a_picture",
		"http://192.168.0.1/x.png failed picture_forbidden_address",
	})
	w.same("attached", w.attached(), []string{})
	w.same("counts", w.list(`SELECT format('%s %s', pictures, picture_errors) FROM loads`), []string{"0 11"})
	w.same("problems", w.list(`SELECT count(*)::text FROM load_problems WHERE field = 'picture' AND NOT error`), []string{"11"})

	// One of them can be had now.
	w.answer("/ill.png", serves(good, ""))
	w.due()
	w.must(w.run(w.host))
	w.same("attached", w.attached(), []string{"Item 0: ill.png 900x600"})
	w.same("counts", w.list(`SELECT format('%s %s', pictures, picture_errors) FROM loads`), []string{"1 11"})
}

// A host that wants to be left alone is left alone, with all its pictures. So is a host that another
// process asks.
func TestHostsOfPicturesAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.answer("/a.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1800")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	w.answer("/b.png", serves(photo(30, 20), ""))
	w.items(w.server.URL + "/a.png|" + w.server.URL + "/b.png")
	w.must(w.run(w.host))
	w.must(w.run(w.host))
	w.same("asked", w.requests(), []string{"/a.png"})
	w.same("later", w.list(`SELECT (next_at > now() + interval '29 minutes')::text FROM item_pictures`), []string{"true", "true"})
	_, err := w.pool.Exec(t.Context(), `UPDATE item_pictures SET next_at = now()`)
	w.must(err)
	w.must(w.run(w.host))
	w.same("the host rests", w.requests(), []string(nil))

	w.due()
	w.answer("/a.png", serves(photo(30, 20), ""))
	if wait, err := w.fetch.Photos.Reserve(t.Context(), w.host); err != nil || wait != 0 {
		t.Fatalf("reserve: %v, %v", wait, err)
	}
	w.must(w.run(w.host))
	w.same("somebody else asks it", w.requests(), []string(nil))
	w.due()
	w.must(w.run(w.host))
	w.same("attached", w.attached(), []string{"Item 0: a.png 30x20"}) // both are one picture
}

var errCut = errors.New("cut off")

// cutOff is an announcer that cuts each change off.
type cutOff struct{}

func (cutOff) AnnounceTx(context.Context, pgx.Tx, ...timelines.Event) error { return errCut }

// Wherever the work is cut off between the fetch and the attachment, and after it, nothing is lost or
// doubled.
func TestCutOffPicturesGoOn(t *testing.T) {
	w := newWorld(t)
	var all []string
	for i := range 10 {
		name := fmt.Sprintf("/%d.png", i)
		w.answer(name, serves(photo(30+i, 20), ""))
		all = append(all, w.server.URL+name)
	}
	w.items(strings.Join(all[:3], "|"), strings.Join(all[3:], "|"))
	carry, store, list := w.fetch.Carry, w.fetch.Blobs, w.fetch.Photos
	cuts := 0
	for round := 0; ; round++ {
		w.fetch.Carry, w.fetch.Blobs, w.fetch.Photos = carry, store, list
		switch round % 3 {
		case 0: // within the transaction
			w.fetch.Photos = sources.Open(timelines.Open(w.pool, cutOff{}, timelines.DefaultOptions())).Photos()
		case 1: // after it, so that nobody hears of it
			w.fetch.Carry = func(_ context.Context, _ timelines.Change, err error) (timelines.Change, error) {
				if err != nil {
					return timelines.Change{}, err
				}
				return timelines.Change{}, errCut
			}
		case 2: // while a picture is stored
			left := 2
			w.fetch.Blobs = cutBlobs{store, &left}
		}
		err := w.run(w.host)
		w.due()
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		if cuts++; cuts > 20 {
			t.Fatal("it never ends")
		}
	}
	if cuts < 3 {
		t.Errorf("only cut off %d times", cuts)
	}
	w.same("attached", w.attached(), []string{
		"Item 0: 0.png 30x20, 1.png 31x20, 2.png 32x20",
		"Item 1: 3.png 33x20, 4.png 34x20, 5.png 35x20, 6.png 36x20, 7.png 37x20, 8.png 38x20, 9.png 39x20",
	})
	w.same("counts", w.list(`SELECT format('%s %s', pictures, picture_errors) FROM loads`), []string{"10 0"})
	w.same("states", w.list(`SELECT DISTINCT state FROM item_pictures`), []string{"there"})
}

// cutBlobs are cut off after some pictures.
type cutBlobs struct {
	blobs.Store
	left *int
}

func (c cutBlobs) Put(ctx context.Context, content io.Reader, limit int64) (blobs.Sum, int64, error) {
	if *c.left--; *c.left < 0 {
		return blobs.Sum{}, 0, errCut
	}
	return c.Store.Put(ctx, content, limit)
}
