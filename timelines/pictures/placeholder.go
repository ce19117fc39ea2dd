package pictures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"

	"github.com/bbrks/go-blurhash"
	"golang.org/x/image/draw"
)

// ErrBadHash says that a string is not a blurhash.
var ErrBadHash = errors.New("not a blurhash")

// hashedSide is the longest side of what a blurhash is made from, and placeholderSide that of a
// placeholder, in pixels: a browser that enlarges a few pixels blurs them.
const (
	hashedSide      = 32
	placeholderSide = 8
)

// blurhashOf returns the blurhash of a picture, on white where it is transparent. Its longer
// side has four components, and the shorter three.
func blurhashOf(img *image.RGBA) (string, error) {
	small, err := scale(context.Background(), img, img.Rect, hashedSide)
	if err != nil {
		return "", err
	}
	onWhite := image.NewRGBA(small.Rect)
	draw.Draw(onWhite, onWhite.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(onWhite, onWhite.Rect, small, image.Point{}, draw.Over)
	x, y := 4, 3
	if onWhite.Rect.Dy() > onWhite.Rect.Dx() {
		x, y = y, x
	}
	hash, err := blurhash.Encode(x, y, onWhite)
	if err != nil {
		return "", fmt.Errorf("make a blurhash: %w", err)
	}
	return hash, nil
}

// Placeholder returns a PNG of some 250 bytes that a blurhash stands for, in the shape of a
// picture of width by height pixels and with a longest side of at most 8 pixels. The error is
// ErrBadHash, whatever the string is, or if width or height is below 1.
func Placeholder(hash string, width, height int) ([]byte, error) {
	if hash == "" || width < 1 || height < 1 {
		return nil, ErrBadHash
	}
	longest := max(width, height)
	shape := image.Point{X: width, Y: height}
	if longest > placeholderSide {
		shape = fit(shape, placeholderSide)
	}
	img, err := blurhash.Decode(hash, shape.X, shape.Y, 1)
	if err != nil {
		return nil, ErrBadHash
	}
	var data bytes.Buffer
	if err := png.Encode(&data, img); err != nil {
		return nil, fmt.Errorf("encode a placeholder: %w", err)
	}
	return data.Bytes(), nil
}
