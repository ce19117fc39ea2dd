package pictures

import (
	"bytes"
	"fmt"
	"image"
	"io"

	"github.com/bep/imagemeta"
	"golang.org/x/image/riff"
)

func jpegOrientation(u *upload) (int, error) { return orientationIn(u, imagemeta.JPEG) }

func pngOrientation(u *upload) (int, error) { return orientationIn(u, imagemeta.PNG) }

// webpOrientation finds the EXIF itself: the library loses its way behind a chunk of an odd
// length.
func webpOrientation(u *upload) (int, error) {
	_, chunks, err := riff.NewReader(u)
	if err != nil {
		return 0, fmt.Errorf("read the header: %w", err)
	}
	for {
		id, _, data, err := chunks.Next()
		if err != nil {
			return 0, fmt.Errorf("find EXIF: %w", err)
		}
		if string(id[:]) != "EXIF" {
			continue
		}
		tiff, err := io.ReadAll(io.LimitReader(data, 1<<16)) // as long as in JPEG
		if err != nil {
			return 0, fmt.Errorf("read EXIF: %w", err)
		}
		return orientationIn(bytes.NewReader(bytes.TrimPrefix(tiff, []byte("Exif\x00\x00"))), imagemeta.TIFF)
	}
}

// orientationIn returns the EXIF orientation in a file, or 1 if it has none.
func orientationIn(r io.ReadSeeker, kind imagemeta.ImageFormat) (int, error) {
	orientation := 1
	_, err := imagemeta.Decode(imagemeta.Options{
		R:           r,
		ImageFormat: kind,
		Sources:     imagemeta.EXIF,
		// An orientation has two bytes. With long values a hostile file lists thousands of
		// places to look for more tags.
		LimitTagSize: 8,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool {
			return tag.Namespace == "IFD0" && tag.Tag == "Orientation"
		},
		HandleTag: func(tag imagemeta.TagInfo) error {
			if n, ok := tag.Value.(uint16); ok {
				orientation = int(n)
			}
			return imagemeta.ErrStopWalking
		},
	})
	if err != nil {
		return 0, fmt.Errorf("read EXIF: %w", err)
	}
	return orientation, nil
}

// upright turns and mirrors img, which begins at 0, 0, as an EXIF orientation says. An
// orientation beside 2 to 8 changes nothing.
func upright(img *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation > 8 {
		return img
	}
	right, bottom := img.Rect.Dx()-1, img.Rect.Dy()-1
	size := img.Rect.Size()
	if orientation >= 5 {
		size.X, size.Y = size.Y, size.X
	}
	dst := image.NewRGBA(image.Rectangle{Max: size})
	for y := range bottom + 1 {
		for x := range right + 1 {
			var to int
			switch orientation {
			case 2:
				to = dst.PixOffset(right-x, y)
			case 3:
				to = dst.PixOffset(right-x, bottom-y)
			case 4:
				to = dst.PixOffset(x, bottom-y)
			case 5:
				to = dst.PixOffset(y, x)
			case 6:
				to = dst.PixOffset(bottom-y, x)
			case 7:
				to = dst.PixOffset(bottom-y, right-x)
			case 8:
				to = dst.PixOffset(y, right-x)
			}
			copy(dst.Pix[to:to+4], img.Pix[img.PixOffset(x, y):])
		}
	}
	return dst
}
