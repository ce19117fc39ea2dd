package pictures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"runtime/debug"
)

var (
	// ErrNotPicture says that an upload is none of the kinds that are read. It may be kept
	// as a plain download.
	ErrNotPicture = errors.New("not a JPEG, PNG, GIF or WebP picture")
	// ErrUnsupported says that an upload is a picture in a form of its kind that is not
	// read. It is an ErrNotPicture too.
	ErrUnsupported = fmt.Errorf("a form of picture that is not read: %w", ErrNotPicture)
	// ErrTooManyPixels says that a picture is beyond the Limits.
	ErrTooManyPixels = errors.New("the picture has too many pixels")
	// ErrCorrupt says that a picture is cut short, damaged or empty.
	ErrCorrupt = errors.New("the picture is damaged")
)

// Limits bound the pictures that are decoded. A field of 0 means its default.
type Limits struct {
	// Side is the most pixels of the width and of the height, 65,535 by default.
	Side int
	// Pixels is the most pixels of width times height, 50 million by default.
	Pixels int
	// Bytes is the most memory for the decoded picture and the decoder, 300 million by
	// default.
	Bytes int
}

func (l Limits) orDefault() Limits {
	if l.Side == 0 {
		l.Side = 65_535
	}
	if l.Pixels == 0 {
		l.Pixels = 50_000_000
	}
	if l.Bytes == 0 {
		l.Bytes = 300_000_000
	}
	return l
}

// Size names a size of a picture.
type Size string

// The sizes of Make by their longest side, and of Avatar by their side, in pixels.
const (
	Full        Size = "full"         // at most 2048
	Medium      Size = "medium"       // 1024
	Thumb       Size = "thumb"        // 400
	AvatarLarge Size = "avatar-large" // at most 256
	AvatarSmall Size = "avatar-small" // 96
)

type dimension struct {
	size Size
	side int
}

var (
	pictureSizes = []dimension{{Full, 2048}, {Medium, 1024}, {Thumb, 400}}
	avatarSizes  = []dimension{{AvatarLarge, 256}, {AvatarSmall, 96}}
)

// quality is of JPEG, from 1 to 100.
const quality = 85

// Picture is a picture that is ready to show.
type Picture struct {
	// Files has the sizes from the largest to the smallest. The first is always Full.
	Files []File
	// Blurhash is a placeholder of the picture (https://blurha.sh), for Placeholder.
	Blurhash string
}

// File is one size of a picture.
type File struct {
	Size Size
	// Width and Height are in pixels.
	Width, Height int
	// Type is the media type: image/jpeg or image/png.
	Type string
	Data []byte
}

// Make reads a picture from the beginning of r and returns it in its sizes. Nothing is
// enlarged: Full is as large as the picture if that is smaller than the size's name says, and
// Medium and Thumb exist if the picture is larger than they are.
//
// The error is ErrNotPicture, ErrUnsupported, ErrTooManyPixels or ErrCorrupt, or it wraps that
// of r or ctx. These two say nothing of the picture, and Make may be tried again.
func Make(ctx context.Context, r io.ReadSeeker, l Limits) (Picture, error) {
	img, err := load(ctx, r, l, pictureSizes[0].side, false)
	if err != nil {
		return Picture{}, err
	}
	hash, err := blurhashOf(img)
	if err != nil {
		return Picture{}, err
	}
	files, err := encodeSizes(ctx, img, pictureSizes)
	if err != nil {
		return Picture{}, err
	}
	return Picture{Files: files, Blurhash: hash}, nil
}

// Avatar reads a picture from the beginning of r and returns the square in its middle:
// AvatarLarge, which is as large as the square if that is under 256 pixels, and AvatarSmall if
// the square is larger than 96 pixels. The errors are those of Make.
func Avatar(ctx context.Context, r io.ReadSeeker, l Limits) ([]File, error) {
	img, err := load(ctx, r, l, avatarSizes[0].side, true)
	if err != nil {
		return nil, err
	}
	return encodeSizes(ctx, img, avatarSizes)
}

// Check looks at a picture's header, and returns the errors of Make that it tells. It takes little
// time and memory, whatever the upload is.
func Check(ctx context.Context, r io.ReadSeeker, l Limits) error {
	_, _, err := examine(&upload{r: r, ended: ctx.Err}, l.orDefault())
	return err
}

// load decodes a picture, and returns it upright, with its longest side at most side. square
// cuts the square out of its middle first.
func load(ctx context.Context, r io.ReadSeeker, l Limits, side int, square bool) (*image.RGBA, error) {
	u := &upload{r: r, ended: ctx.Err}
	img, err := reduced(ctx, u, l, side, square)
	if u.memory > freeOver {
		debug.FreeOSMemory()
	}
	return img, err
}

// freeOver is the memory of the decoder, in bytes, from which on it is given back at once, whatever
// became of the picture. The collector lets as much garbage gather as is in use, and so the next
// large picture would come on top of the last ones. It costs a few milliseconds, and a picture of
// that size takes half a second.
const freeOver = 50_000_000

func reduced(ctx context.Context, u *upload, l Limits, side int, square bool) (*image.RGBA, error) {
	src, orientation, err := decode(u, l.orDefault())
	if err != nil {
		return nil, err
	}
	part := src.Bounds()
	if square {
		part = middle(part)
	}
	img, err := scale(ctx, src, part, side)
	if err != nil {
		return nil, err
	}
	return upright(img, orientation), nil
}

// encodeSizes encodes img as the first of sizes, and reduced as those of the others that are
// smaller.
func encodeSizes(ctx context.Context, img *image.RGBA, sizes []dimension) ([]File, error) {
	lossless := !img.Opaque() || isGraphic(img)
	var files []File
	for i, s := range sizes {
		if i > 0 {
			if max(img.Rect.Dx(), img.Rect.Dy()) <= s.side {
				continue
			}
			var err error
			if img, err = scale(ctx, img, img.Rect, s.side); err != nil {
				return nil, err
			}
		}
		if err := ended(ctx); err != nil {
			return nil, err
		}
		f := File{Size: s.size, Width: img.Rect.Dx(), Height: img.Rect.Dy(), Type: "image/jpeg"}
		var data bytes.Buffer
		var err error
		if lossless {
			f.Type = "image/png"
			err = png.Encode(&data, img)
		} else {
			err = jpeg.Encode(&data, img, &jpeg.Options{Quality: quality})
		}
		if err != nil {
			return nil, fmt.Errorf("encode the %s picture: %w", s.size, err)
		}
		f.Data = data.Bytes()
		files = append(files, f)
	}
	return files, nil
}

// isGraphic reports whether img has so few colours that JPEG would only blur it. A grey photo
// has more.
func isGraphic(img *image.RGBA) bool {
	const most = 64
	colours := make(map[[4]byte]struct{}, most)
	for i := 0; i < len(img.Pix); i += 4 {
		colours[[4]byte(img.Pix[i:])] = struct{}{}
		if len(colours) > most {
			return false
		}
	}
	return true
}

func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("make a picture: %w", err)
	}
	return nil
}
