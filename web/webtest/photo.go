package webtest

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
)

// Photo is a JPEG of many colours, of that many pixels.
func Photo(w, h int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), uint8(x ^ y), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err) // memory takes all of it
	}
	return b.Bytes()
}
