package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// shot is a picture of a page.
type shot struct {
	name, path string
	phone      bool
	dark       bool
	// open is pressed first.
	open string
}

const shotsPassword = "lower weir"

// TestScreenshots takes pictures of the demo town. With RIVERRUN_SHOTS, which names a directory, it
// takes all of them and keeps them there (make shots); else two, and throws them away.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("RIVERRUN_SHOTS")
	vars, _ := onDatabase(t)
	p := background(t, vars)
	base := strings.TrimPrefix(p.said, "riverrun serves ")
	if _, said, err := both(t, vars, "demo", "-password", shotsPassword); err != nil {
		t.Fatalf("demo: %v %s", err, said)
	}
	post := liven(t, base)
	shots := []shot{
		{name: "home", path: "/"},
		{name: "home-dark", path: "/", dark: true},
		{name: "home-phone", path: "/", phone: true},
		{name: "post", path: post},
		{name: "post-phone", path: post, phone: true, dark: true},
		{name: "profile", path: "/nell"},
		{name: "group", path: "/river-watch", dark: true},
		{name: "notifications", path: "/filter/notifications"},
		{name: "notifications-phone", path: "/filter/notifications", phone: true},
		{name: "composer-phone", path: "/", phone: true, open: ".bar .compose"},
		{name: "settings", path: "/settings"},
		{name: "search-phone", path: "/search?q=ferry", phone: true, dark: true},
	}
	if dir == "" {
		dir, shots = t.TempDir(), shots[2:4]
	}
	browser := webtest.Chromium(t)
	for _, phone := range []bool{false, true} {
		b := newShooter(t, browser, base, phone)
		for _, s := range shots {
			if s.phone != phone {
				continue
			}
			picture := b.take(s)
			if len(picture) < 10_000 {
				t.Errorf("%s: a picture of %d bytes", s.name, len(picture))
			}
			if err := os.WriteFile(filepath.Join(dir, s.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.end(t)
}

// shooter is a browser that is signed in.
type shooter struct {
	t    *testing.T
	ctx  context.Context
	base string
}

func newShooter(t *testing.T, browser context.Context, base string, phone bool) *shooter {
	t.Helper()
	ctx, _ := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &shooter{t, ctx, base}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("close the tab: %v", err)
		}
	})
	if err := chromedp.Do(ctx); err != nil { // opens the tab, which ends with this context
		t.Fatal(err)
	}
	view := chromedp.EmulateViewport(1280, 900)
	if phone {
		view = chromedp.EmulateViewport(360, 760, chromedp.EmulateMobile, chromedp.EmulateScale(2))
	}
	b.do(view,
		chromedp.Navigate(base+"/login"),
		chromedp.SendKeys(chromedp.CSS(`#login-username`), "ines"),
		chromedp.SendKeys(chromedp.CSS(`#login-password`), shotsPassword),
		chromedp.Click(chromedp.CSS(`main form button`)))
	b.await(`document.querySelector('#river')`)
	return b
}

func (b *shooter) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, webtest.Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// await waits until an expression is true, across loads.
func (b *shooter) await(expression string) {
	b.t.Helper()
	var err error
	for deadline := time.Now().Add(webtest.Patience); time.Now().Before(deadline); {
		ctx, cancel := context.WithTimeout(b.ctx, webtest.Patience)
		_, err = chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingInterval(10*time.Millisecond),
			chromedp.WithPollingTimeout(time.Until(deadline))))
		cancel()
		if err == nil {
			return
		}
	}
	b.t.Fatalf("%s: %v", expression, err)
}

func (b *shooter) take(s shot) []byte {
	b.t.Helper()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}), chromedp.Navigate(b.base+s.path))
	if s.open != "" {
		b.do(chromedp.Click(chromedp.CSS(s.open)))
	}
	// A lazy picture in something folded is not loaded.
	b.await(`[...document.images].every((i) => i.complete || !i.checkVisibility() || i.getBoundingClientRect().top > innerHeight)`)
	ctx, cancel := context.WithTimeout(b.ctx, webtest.Patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatalf("%s: %v", s.name, err)
	}
	return picture
}

// liven lets people of the town do what an import does not bring: pictures, likes, an answer. It
// returns the address of a post of Inês's with pictures, once they are made.
func liven(t *testing.T, base string) string {
	t.Helper()
	ines, gus, wren := signedIn(t, base, "ines"), signedIn(t, base, "gus"), signedIn(t, base, "wren")
	for i, who := range []*townsman{ines, gus, wren} {
		who.send("/settings", [][]byte{dusk(400, 400, float64(i)/3)})
	}
	ines.send("/posts", [][]byte{dusk(1500, 1000, 0.1), dusk(1200, 1200, 0.45), dusk(1500, 900, 0.8)},
		"body", "Three evenings at the lower weir. The bees came home each time.", "to", "ines", "to", "river-watch")
	home := ines.get("/ines")
	code := regexp.MustCompile(`data-post="(\w+)"`).FindStringSubmatch(home)
	if code == nil {
		t.Fatal("the post is not on its author's page")
	}
	path := "/p/" + code[1]
	for _, who := range []*townsman{gus, wren} {
		who.send(path+"/like", nil)
	}
	gus.send(path+"/comments", nil, "body", "The second one is the night the *lamp* went out.")
	wren.send(path+"/comments", nil, "body", "@ines may we have it for the parish wall?")
	gus.send("/posts", nil, "body", "Keys are under the third oar.", "to", "ines")
	deadline := time.Now().Add(webtest.Patience)
	for strings.Count(ines.get(path), `<img class="blur"`) < 3 {
		if time.Now().After(deadline) {
			t.Fatal("the pictures are not made")
		}
	}
	return path
}

// townsman is somebody of the town who sends forms without scripts.
type townsman struct {
	t      *testing.T
	base   string
	client *http.Client
}

func signedIn(t *testing.T, base, name string) *townsman {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &townsman{t, base, &http.Client{Jar: jar}}
	reply, err := v.client.PostForm(base+"/login", url.Values{"username": {name}, "password": {shotsPassword}})
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	return v
}

func (v *townsman) get(path string) string {
	v.t.Helper()
	reply, err := v.client.Get(v.base + path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		v.t.Fatalf("GET %s: %d, %v", path, reply.StatusCode, err)
	}
	return string(body)
}

func (v *townsman) send(path string, pictures [][]byte, pairs ...string) {
	v.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must := func(err error) {
		v.t.Helper()
		if err != nil {
			v.t.Fatal(err)
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		must(form.WriteField(pairs[i], pairs[i+1]))
	}
	for i, picture := range pictures {
		part, err := form.CreateFormFile("file", fmt.Sprintf("weir-%d.jpg", i+1))
		must(err)
		_, err = part.Write(picture)
		must(err)
	}
	must(form.Close())
	reply, err := v.client.Post(v.base+path, form.FormDataContentType(), &body)
	must(err)
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK { // after the redirect
		text, err := io.ReadAll(reply.Body)
		v.t.Fatalf("POST %s: %d %.300s %v", path, reply.StatusCode, text, err)
	}
}

// dusk is a photo of an evening by the water, at an hour from 0 to 1.
func dusk(w, h int, hour float64) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	mix := func(a, b, at float64) float64 { return a + (b-a)*at }
	horizon := 0.55
	sunX, sunY := 0.2+0.6*hour, 0.25+0.3*hour
	for y := range h {
		fy := float64(y) / float64(h)
		for x := range w {
			fx := float64(x) / float64(w)
			up := fy / horizon
			wave := 0.0
			if fy > horizon { // the water mirrors the sky, broken by waves
				up = (1 - fy) / (1 - horizon)
				wave = 0.06 * math.Sin(fy*90+math.Sin(fx*25+fy*40)*2)
			}
			up = min(max(up+wave, 0), 1)
			r, g, b := mix(38, 245, up), mix(60, 168, up), mix(105, 118, up)
			far := math.Hypot((fx-sunX)*float64(w)/float64(h), (fy-sunY)+wave)
			glow := math.Exp(-far * far * 60)
			if fy > horizon {
				glow = 0.8 * math.Exp(-(fx-sunX)*(fx-sunX)*160) * (0.5 + 6*wave)
			}
			hill := horizon - 0.07 - 0.05*math.Sin(fx*5+hour*9) - 0.03*math.Sin(fx*13)
			if fy > hill && fy < horizon {
				r, g, b, glow = 34, 48+10*hour, 52, glow*0.2
			}
			dim := 1 - 0.45*hour
			light := func(v, to float64) uint8 { return uint8(min(max(mix(v*dim, to, max(glow, 0)), 0), 255)) }
			img.Set(x, y, color.RGBA{light(r, 255), light(g, 236), light(b, 190), 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 88}); err != nil {
		panic(err) // memory takes all of it
	}
	return out.Bytes()
}
