package pictures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bep/imagemeta"
	"github.com/google/go-cmp/cmp"
)

func decoded(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// name says which of a few colours c is nearest to.
func name(c color.Color) string {
	r, g, b, a := c.RGBA()
	if a < 0x8000 {
		return "clear"
	}
	var s strings.Builder
	for i, v := range []uint32{r, g, b} {
		if v >= 0x8000 {
			s.WriteByte("rgb"[i])
		}
	}
	return s.String()
}

// corners names the colours of the quarters: upper left, upper right, lower left, lower right.
func corners(img image.Image) []string {
	b := img.Bounds()
	var all []string
	for _, y := range []int{b.Min.Y + b.Dy()/4, b.Min.Y + b.Dy()*3/4} {
		for _, x := range []int{b.Min.X + b.Dx()/4, b.Min.X + b.Dx()*3/4} {
			all = append(all, name(img.At(x, y)))
		}
	}
	return all
}

// quarters has red, green, blue and white quarters, and so little noise on them that it is no
// graphic.
func quarters(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := uint32(1)
	for y := range h {
		for x := range w {
			noise = noise*1664525 + 1013904223
			n := byte(noise >> 28)
			c := color.RGBA{255 - n, n, n, 255}
			switch {
			case y < h/2 && x >= w/2:
				c = color.RGBA{n, 255 - n, n, 255}
			case y >= h/2 && x < w/2:
				c = color.RGBA{n, n, 255 - n, 255}
			case y >= h/2:
				c = color.RGBA{255 - n, 255 - n, 255 - n, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

// The orientation is applied to every kind, and all metadata is gone.
func TestOrientation(t *testing.T) {
	t.Parallel()
	jpg, pic := asJPEG(quarters(160, 96)), asPNG(quarters(160, 96))
	for orientation, want := range map[int][]string{
		0: {"r", "g", "b", "rgb"}, // out of range
		1: {"r", "g", "b", "rgb"},
		2: {"g", "r", "rgb", "b"},
		3: {"rgb", "b", "g", "r"},
		4: {"b", "rgb", "r", "g"},
		5: {"r", "b", "g", "rgb"},
		6: {"b", "r", "rgb", "g"},
		7: {"rgb", "g", "b", "r"},
		8: {"g", "rgb", "r", "b"},
		9: {"r", "g", "b", "rgb"},
	} {
		for kind, data := range map[string][]byte{
			"JPEG": insert(jpg,
				segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00<x>"+secret+"</x>")...),
				app1(exif(orientation)),
				segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"+secret)...),
				segment(0xed, []byte("Photoshop 3.0\x008BIM"+secret)...),
				segment(0xfe, []byte(secret)...)),
			"PNG": afterIHDR(pic,
				chunk("eXIf", exif(orientation)),
				chunk("tEXt", []byte("Comment\x00"+secret)),
				chunk("iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"+secret))),
		} {
			t.Run(fmt.Sprint(kind, orientation), func(t *testing.T) {
				t.Parallel()
				p, err := Make(t.Context(), bytes.NewReader(data), Limits{})
				if err != nil {
					t.Fatal(err)
				}
				f := p.Files[0]
				checkFile(t, f)
				if got := corners(decoded(t, f.Data)); !slices.Equal(got, want) {
					t.Errorf("quarters: got %v, want %v", got, want)
				}
				w, h := 160, 96
				if orientation >= 5 && orientation <= 8 {
					w, h = h, w
				}
				if f.Width != w || f.Height != h {
					t.Errorf("got %d by %d, want %d by %d", f.Width, f.Height, w, h)
				}
				square, err := Avatar(t.Context(), bytes.NewReader(data), Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if got := corners(decoded(t, square[0].Data)); square[0].Width != 96 || !slices.Equal(got, want) {
					t.Errorf("avatar of %d: got %v, want %v", square[0].Width, got, want)
				}
				checkBare(t, data, false)
				for _, f := range append(p.Files, square...) {
					checkBare(t, f.Data, true)
				}
			})
		}
	}
	// A WebP has no quarters here, but its sides change. One of the frames has an odd length.
	for _, frame := range [][]byte{vp8(64, 48), vp8l(64, 48, color.NRGBA{9, 9, 9, 255})} {
		for _, tiff := range [][]byte{exif(6), append([]byte("Exif\x00\x00"), exif(6)...)} {
			data := webpFile(vp8x(1<<3, 64, 48), frame, riffChunk("EXIF", tiff))
			p, err := Make(t.Context(), bytes.NewReader(data), Limits{})
			if want := "full 48x64 image/png"; err != nil || list(p) != want {
				t.Errorf("WebP: got %q, %v, want %q", list(p), err, want)
			}
		}
	}
}

// checkBare fails the test if a file has metadata and should have none, or the other way round.
func checkBare(t *testing.T, data []byte, want bool) {
	t.Helper()
	kind, others := imagemeta.JPEG, "\xff\xe0 \xff\xe1 \xff\xe2 \xff\xed \xff\xee \xff\xfe"
	if bytes.HasPrefix(data, []byte("\x89PNG")) {
		kind, others = imagemeta.PNG, "eXIf tEXt iTXt zTXt iCCP tIME"
	}
	var found []string
	_, err := imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(data), ImageFormat: kind,
		HandleTag: func(tag imagemeta.TagInfo) error {
			found = append(found, tag.Tag)
			return nil
		},
	})
	if err != nil && want {
		t.Errorf("%v", err)
	}
	for mark := range strings.SplitSeq(others+" "+secret, " ") {
		if bytes.Contains(data, []byte(mark)) {
			found = append(found, mark)
		}
	}
	if (len(found) == 0) != want {
		t.Errorf("metadata: got %q, want none: %t", found, want)
	}
}

// A frame of a GIF stands where it is on its screen, and the rest is transparent.
func TestFrameOnScreen(t *testing.T) {
	t.Parallel()
	frame := image.NewPaletted(image.Rect(20, 0, 40, 20), twoColours)
	other := image.NewPaletted(image.Rect(0, 0, 40, 40), twoColours)
	p, err := Make(t.Context(), bytes.NewReader(asGIF(40, 40, frame, other)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"clear", "r", "clear", "clear"}
	if got := corners(decoded(t, p.Files[0].Data)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A picture of each kind keeps its colours in all sizes.
func TestColours(t *testing.T) {
	t.Parallel()
	want := []string{"r", "g", "b", "rgb"}
	src := quarters(2400, 600)
	at := func(x, y int) color.RGBA { return src.RGBAAt(x*4, y*4) }
	for kind, data := range map[string][]byte{
		"JPEG":                      asJPEG(src),
		"interlaced PNG":            interlaced(600, 150, 8, at),
		"interlaced PNG in 16 bits": interlaced(600, 150, 16, at),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p, err := Make(t.Context(), bytes.NewReader(data), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range p.Files {
				if got := corners(decoded(t, f.Data)); !slices.Equal(got, want) {
					t.Errorf("%s: got %v, want %v", f.Size, got, want)
				}
			}
		})
	}
	for kind, tc := range map[string]struct {
		data []byte
		want color.NRGBA
	}{
		"lossless WebP":                   {webpFile(vp8l(20, 20, color.NRGBA{10, 120, 230, 255})), color.NRGBA{10, 120, 230, 255}},
		"lossless WebP with transparency": {webpFile(vp8l(20, 20, color.NRGBA{255, 0, 255, 128})), color.NRGBA{255, 0, 255, 128}},
		"CMYK JPEG":                       {flat{w: 20, h: 20, adobe: true, factors: cmyk}.bytes(), color.NRGBA{64, 64, 64, 255}},
	} {
		p, err := Make(t.Context(), bytes.NewReader(tc.data), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if got := color.NRGBAModel.Convert(decoded(t, p.Files[0].Data).At(9, 9)); got != tc.want {
			t.Errorf("%s: got %v, want %v", kind, got, tc.want)
		}
	}
}

func TestAvatar(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		w, h int
		want []int
	}{
		{500, 300, []int{256, 96}},
		{257, 700, []int{256, 96}},
		{256, 256, []int{256, 96}},
		{100, 600, []int{100, 96}},
		{96, 96, []int{96}},
		{1, 5_000, []int{1}},
	} {
		files, err := Avatar(t.Context(), bytes.NewReader(asPNG(photo(tc.w, tc.h))), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for i, f := range files {
			checkFile(t, f)
			if f.Width != f.Height || f.Size != avatarSizes[i].size {
				t.Errorf("%d by %d: %s is %d by %d", tc.w, tc.h, f.Size, f.Width, f.Height)
			}
			got = append(got, f.Width)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%d by %d: want -, got +:\n%s", tc.w, tc.h, diff)
		}
	}
	// The middle of a red, a blue and a red third is blue.
	img := image.NewRGBA(image.Rect(0, 0, 900, 300))
	for i := 0; i < len(img.Pix); i += 4 {
		c := color.RGBA{255, 0, 0, 255}
		if x := i / 4 % 900; x >= 300 && x < 600 {
			c = color.RGBA{0, 0, 255, 255}
		}
		img.SetRGBA(i/4%900, i/4/900, c)
	}
	files, err := Avatar(t.Context(), bytes.NewReader(asPNG(img)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	square := decoded(t, files[0].Data)
	for _, x := range []int{0, 128, 255} {
		if got := name(square.At(x, 128)); got != "b" {
			t.Errorf("column %d: got %s, want b", x, got)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	data := asJPEG(photo(300, 200))
	for _, tc := range []struct {
		l   Limits
		err error
	}{
		{Limits{Side: 300, Pixels: 60_000, Bytes: 107_520}, nil}, // 320 by 224 pixels of 1.5 bytes
		{Limits{Side: 299}, ErrTooManyPixels},
		{Limits{Pixels: 59_999}, ErrTooManyPixels},
		{Limits{Bytes: 107_519}, ErrTooManyPixels},
	} {
		if _, err := Make(t.Context(), bytes.NewReader(data), tc.l); !errors.Is(err, tc.err) {
			t.Errorf("%+v: got %v, want %v", tc.l, err, tc.err)
		}
	}
}

// A reduced picture is the mean of all pixels, and not of some.
func TestScaleReadsEveryPixel(t *testing.T) {
	t.Parallel()
	for stripes, along := range map[string]int{"columns": 1, "rows": 800} {
		img := image.NewGray(image.Rect(0, 0, 800, 800))
		for i := range img.Pix {
			if n := i / along % 800 % 4; n == 1 || n == 2 {
				img.Pix[i] = 255
			}
		}
		small, err := scale(t.Context(), img, img.Rect, 200)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(small.Pix); i += 4 {
			if got := small.Pix[i]; got < 120 || got > 136 {
				t.Fatalf("%s: pixel %d: got %d, want 128", stripes, i/4, got)
			}
		}
	}
}

// endsAfter is a context that says it has ended when it is asked for the nth time, and only then:
// so a step that does not heed it goes on.
type endsAfter struct {
	context.Context
	left *int
}

func (c endsAfter) Err() error {
	if *c.left--; *c.left == -1 {
		return context.DeadlineExceeded
	}
	return nil
}

// The end of the context ends the work at every step, and is no fault of the picture.
func TestContext(t *testing.T) {
	t.Parallel()
	data := asJPEG(photo(2200, 80))
	for _, fn := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := Make(ctx, bytes.NewReader(data), Limits{}); return err },
		func(ctx context.Context) error { _, err := Avatar(ctx, bytes.NewReader(data), Limits{}); return err },
	} {
		many := 1 << 30
		if err := fn(endsAfter{t.Context(), &many}); err != nil {
			t.Fatal(err)
		}
		asked := 1<<30 - many
		if asked < len(data)/4096 {
			t.Errorf("the context is asked %d times for %d bytes", asked, len(data))
		}
		for n := 0; n < asked; n += 1 + asked/20 {
			left := n
			err := fn(endsAfter{t.Context(), &left})
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrCorrupt) {
				t.Errorf("after %d of %d: got %v, want %v", n, asked, err, context.DeadlineExceeded)
			}
		}
	}
}

// failing reads up to an offset, and then fails.
type failing struct {
	*bytes.Reader
	left int
	seek bool
}

var errDisk = errors.New("the disk is gone")

func (f *failing) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, errDisk
	}
	n, err := f.Reader.Read(p)
	f.left -= n
	return n, err
}

func (f *failing) Seek(offset int64, whence int) (int64, error) {
	if f.seek {
		return 0, errDisk
	}
	return f.Reader.Seek(offset, whence)
}

// An upload that cannot be read is no corrupt picture.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	for kind, data := range map[string][]byte{
		"JPEG": asJPEG(photo(200, 200)),
		"PNG":  asPNG(photo(200, 200)),
		"GIF":  asGIF(64, 48, striped(image.Rect(0, 0, 64, 48))),
		"WebP": webpFile(vp8x(0, 64, 48), vp8(64, 48)),
	} {
		for _, r := range []io.ReadSeeker{
			&failing{Reader: bytes.NewReader(data), seek: true, left: len(data)},
			&failing{Reader: bytes.NewReader(data), left: 0},
			&failing{Reader: bytes.NewReader(data), left: 40},
			&failing{Reader: bytes.NewReader(data), left: len(data) + 5},
		} {
			_, err := Make(t.Context(), r, Limits{})
			if !errors.Is(err, errDisk) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotPicture) {
				t.Errorf("%s: got %v, want %v", kind, err, errDisk)
			}
		}
	}
}

// Make begins at the beginning, wherever the reader is.
func TestReadsFromTheBeginning(t *testing.T) {
	t.Parallel()
	r := bytes.NewReader(asJPEG(photo(20, 20)))
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), r, Limits{}); err != nil {
		t.Error(err)
	}
}
