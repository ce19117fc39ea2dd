package pictures

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// format is how one kind of picture is read.
type format struct {
	// prefix begins each file of the kind. A question mark stands for any byte.
	prefix       string
	decodeConfig func(io.Reader) (image.Config, error)
	decode       func(io.Reader) (image.Image, error)
	// memory returns the most bytes that decode takes, beside a few for its buffers.
	memory func(io.Reader, image.Config) (int, error)
	// exif is how the orientation is found, and nil if there is none.
	exif func(*upload) (int, error)
}

var formats = []format{
	{"\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode, jpegMemory, jpegOrientation},
	{"\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode, pngMemory, pngOrientation},
	{"GIF8?a", gif.DecodeConfig, gif.Decode, gifMemory, nil},
	{"RIFF????WEBP", webp.DecodeConfig, webp.Decode, webpMemory, webpOrientation},
}

// upload reads an upload for the decoders, and remembers why that failed: the decoders report
// any error as they like.
type upload struct {
	r     io.ReadSeeker
	ended func() error
	err   error
	// memory is the most bytes that decoding takes, once it is known to be within the limits.
	memory int
}

func (u *upload) Read(p []byte) (int, error) {
	if err := u.ended(); err != nil {
		u.err = err
		return 0, err
	}
	n, err := u.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		u.err = err
	}
	return n, err
}

func (u *upload) Seek(offset int64, whence int) (int64, error) {
	n, err := u.r.Seek(offset, whence)
	if err != nil && whence == io.SeekStart && offset == 0 {
		u.err = err
	}
	return n, err
}

// fromStart returns u at its beginning. If it cannot go there, u.err says so, and nothing is
// read.
func (u *upload) fromStart() io.Reader {
	if _, err := u.Seek(0, io.SeekStart); err != nil {
		return bytes.NewReader(nil)
	}
	return u
}

// verdict returns why a step failed: what u could not read, or what the decoder said.
func (u *upload) verdict(err error) error {
	if u.err != nil {
		return fmt.Errorf("read a picture: %w", u.err)
	}
	var inJPEG jpeg.UnsupportedError
	var inPNG png.UnsupportedError
	if errors.As(err, &inJPEG) || errors.As(err, &inPNG) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if err == nil || errors.Is(err, ErrUnsupported) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// decode returns a picture within the limits, and its EXIF orientation.
func decode(u *upload, l Limits) (image.Image, int, error) {
	f, config, err := examine(u, l)
	if err != nil {
		return nil, 0, err
	}
	orientation := 1
	if f.exif != nil {
		u.fromStart()
		if n, err := f.exif(u); err == nil {
			orientation = n // otherwise the picture is shown as it is stored, as browsers do
		}
	}
	img, err := f.decode(u.fromStart())
	if err = u.verdict(err); err != nil {
		return nil, 0, err
	}
	screen := image.Rect(0, 0, config.Width, config.Height)
	if frame, ok := img.(*image.Paletted); ok && frame.Rect != screen {
		return onScreen{frame, screen}, orientation, nil
	}
	return img, orientation, nil
}

// examine returns the format and the header of an upload within the limits.
func examine(u *upload, l Limits) (format, image.Config, error) {
	f, err := recognise(u)
	if err != nil {
		return f, image.Config{}, err
	}
	config, err := f.decodeConfig(u.fromStart())
	if err = u.verdict(err); err != nil {
		return f, config, err
	}
	if err := l.check(config); err != nil {
		return f, config, err
	}
	memory, err := f.memory(u.fromStart(), config)
	if err = u.verdict(err); err != nil {
		return f, config, err
	}
	if memory > l.Bytes {
		return f, config, fmt.Errorf("%w: it is %d by %d and decoding takes up to %d MB", ErrTooManyPixels, config.Width, config.Height, memory/1e6)
	}
	u.memory = memory
	return f, config, nil
}

// recognise returns the format of an upload.
func recognise(u *upload) (format, error) {
	head := make([]byte, 12)
	n, err := io.ReadFull(u.fromStart(), head)
	if u.err != nil {
		return format{}, u.verdict(err)
	}
	for _, f := range formats {
		if matches(head[:n], f.prefix) {
			return f, nil
		}
	}
	return format{}, ErrNotPicture
}

func matches(head []byte, prefix string) bool {
	if len(head) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if prefix[i] != '?' && prefix[i] != head[i] {
			return false
		}
	}
	return true
}

func (l Limits) check(c image.Config) error {
	if c.Width < 1 || c.Height < 1 {
		return fmt.Errorf("%w: it is %d by %d", ErrCorrupt, c.Width, c.Height)
	}
	if c.Width > l.Side || c.Height > l.Side || c.Width > l.Pixels/c.Height {
		return fmt.Errorf("%w: it is %d by %d", ErrTooManyPixels, c.Width, c.Height)
	}
	return nil
}

// onScreen is a frame of a GIF on its logical screen, which is transparent elsewhere.
type onScreen struct {
	*image.Paletted
	screen image.Rectangle
}

func (s onScreen) Bounds() image.Rectangle { return s.screen }

func (s onScreen) At(x, y int) color.Color { return s.RGBA64At(x, y) }

func (s onScreen) RGBA64At(x, y int) color.RGBA64 {
	if !(image.Point{X: x, Y: y}).In(s.Rect) {
		return color.RGBA64{}
	}
	return s.Paletted.RGBA64At(x, y)
}

// Opaque hides that of the frame.
func (s onScreen) Opaque() bool { return false }
