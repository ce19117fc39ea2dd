package pictures

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
)

// These functions build uploads, byte by byte where no encoder makes such files.

// must is for encoders that write into memory.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func asJPEG(img image.Image) []byte {
	var b bytes.Buffer
	must(jpeg.Encode(&b, img, &jpeg.Options{Quality: 92}))
	return b.Bytes()
}

func asPNG(img image.Image) []byte {
	var b bytes.Buffer
	must(png.Encode(&b, img))
	return b.Bytes()
}

// photo is a picture of many colours.
func photo(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := uint32(1)
	for i := 0; i < len(img.Pix); i += 4 {
		noise = noise*1664525 + 1013904223
		x, y := i/4%w, i/4/w
		img.Pix[i] = byte(x * 255 / w)
		img.Pix[i+1] = byte(y * 255 / h)
		img.Pix[i+2] = byte(x+y) ^ byte(noise>>28)
		img.Pix[i+3] = 255
	}
	return img
}

// seeThrough is a picture that is transparent on its left.
func seeThrough(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{byte(x), byte(y), 200, byte(255 * min(1, 2*x/w))})
		}
	}
	return img
}

func gray(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i % w * 255 / w)
	}
	return img
}

func deep(w, h int) *image.NRGBA64 {
	img := image.NewNRGBA64(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA64(x, y, color.NRGBA64{uint16(x * 600), uint16(y * 600), 3000, 0xffff})
		}
	}
	return img
}

var twoColours = color.Palette{color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}}

func striped(r image.Rectangle) *image.Paletted {
	img := image.NewPaletted(r, twoColours)
	for i := range img.Pix {
		img.Pix[i] = byte(i / 8 % 2)
	}
	return img
}

// asGIF is an animation whose frames are offset in a screen of w by h.
func asGIF(w, h int, frames ...*image.Paletted) []byte {
	var b bytes.Buffer
	must(gif.EncodeAll(&b, &gif.GIF{
		Image: frames, Delay: make([]int, len(frames)),
		Config: image.Config{Width: w, Height: h, ColorModel: twoColours},
	}))
	return b.Bytes()
}

// gifHeader is a GIF that has a screen of w by h, and a frame of fw by fh with no data.
func gifHeader(w, h, fw, fh int) []byte {
	b := []byte("GIF89a")
	for _, n := range []int{w, h} {
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	b = append(b, 0x80, 0, 0, 255, 0, 0, 0, 0, 255, ',', 0, 0, 0, 0)
	for _, n := range []int{fw, fh} {
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	return append(b, 0, 2, 0, ';')
}

// flat is a JPEG in one colour that needs two bits a block.
type flat struct {
	w, h        int
	progressive bool
	adobe       bool   // its colours are not transformed: CMYK, or RGB
	factors     []byte // of each component: 0x22 has two samples by two
	scans       int    // of a progressive one, in addition
}

func segment(marker byte, data ...byte) []byte {
	return append([]byte{0xff, marker, byte((len(data) + 2) >> 8), byte(len(data) + 2)}, data...)
}

func (f flat) bytes() []byte {
	b := []byte{0xff, 0xd8}
	if f.adobe {
		b = append(b, segment(0xee, append([]byte("Adobe"), 0, 100, 0, 0, 0, 0, 0)...)...)
	}
	b = append(b, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	// One code of one bit, for the symbol 0.
	table := append([]byte{1}, make([]byte, 16)...)
	b = append(b, segment(0xc4, append([]byte{0}, table...)...)...)
	b = append(b, segment(0xc4, append([]byte{0x10}, table...)...)...)
	sof := []byte{8, byte(f.h >> 8), byte(f.h), byte(f.w >> 8), byte(f.w), byte(len(f.factors))}
	sos := []byte{byte(len(f.factors))}
	most, blocks := 1, 0
	for i, hv := range f.factors {
		sof = append(sof, byte(i+1), hv, 0)
		sos = append(sos, byte(i+1), 0)
		n := int(hv>>4) * int(hv&15)
		most, blocks = max(most, n), blocks+n
	}
	marker, end := byte(0xc0), []byte{0, 63, 0}
	if f.progressive {
		marker, end = 0xc2, []byte{0, 0, 0}
	}
	b = append(b, segment(marker, sof...)...)
	b = append(b, segment(0xda, append(sos, end...)...)...)
	b = append(b, make([]byte, (f.w/8+4)*(f.h/8+4)*blocks/4+8)...)
	for range f.scans {
		// It ends a band of every block, with runs of 2^14 blocks and more.
		b = append(b, segment(0xc4, append([]byte{0x10, 1}, append(make([]byte, 15), 0xe0)...)...)...)
		b = append(b, segment(0xda, 1, 1, 0, 1, 63, 0)...)
		b = append(b, make([]byte, f.w*f.h/64/16384*2+2)...)
	}
	return append(b, 0xff, 0xd9)
}

// insert puts segments behind the beginning of a JPEG.
func insert(data []byte, segments ...[]byte) []byte {
	out := append([]byte{}, data[:2]...)
	for _, s := range segments {
		out = append(out, s...)
	}
	return append(out, data[2:]...)
}

// secret stands in every piece of metadata.
const secret = "59.9386N-30.3141E"

// exif is a TIFF with an orientation, a description and a GPS place.
func exif(orientation int) []byte {
	le := binary.LittleEndian
	b := append([]byte("II*\x00"), 8, 0, 0, 0)
	entry := func(tag, kind uint16, count, value uint32) {
		b = le.AppendUint16(b, tag)
		b = le.AppendUint16(b, kind)
		b = le.AppendUint32(b, count)
		b = le.AppendUint32(b, value)
	}
	const ifd0, gps = 8, 8 + 2 + 3*12 + 4
	const text = gps + 2 + 2*12 + 4
	b = le.AppendUint16(b, 3)
	entry(0x010e, 2, uint32(len(secret)), text)
	entry(0x0112, 3, 1, uint32(orientation))
	entry(0x8825, 4, 1, gps)
	b = append(b, 0, 0, 0, 0)
	b = le.AppendUint16(b, 2)
	entry(1, 2, 2, 'N')
	entry(2, 5, 3, text)
	b = append(b, 0, 0, 0, 0)
	b = append(b, secret...)
	return append(b, make([]byte, 16)...)
}

func app1(tiff []byte) []byte { return segment(0xe1, append([]byte("Exif\x00\x00"), tiff...)...) }

// chunk is a chunk of a PNG.
func chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func ihdr(w, h int, depth, kind, interlace byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(w))
	b = binary.BigEndian.AppendUint32(b, uint32(h))
	return chunk("IHDR", append(b, depth, kind, 0, 0, interlace))
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write(data)
	must(err)
	must(z.Close())
	return b.Bytes()
}

func pngFile(chunks ...[]byte) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), bytes.Join(chunks, nil)...)
}

// afterIHDR puts chunks into a PNG.
func afterIHDR(data []byte, chunks ...[]byte) []byte {
	const end = 8 + 25
	return bytes.Join([][]byte{data[:end], bytes.Join(chunks, nil), data[end:]}, nil)
}

// interlaced is a PNG of RGB, 8 or 16 bits deep, in seven passes.
func interlaced(w, h int, depth byte, at func(x, y int) color.RGBA) []byte {
	var rows []byte
	for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		if p[0] >= w {
			continue
		}
		for y := p[1]; y < h; y += p[3] {
			rows = append(rows, 0)
			for x := p[0]; x < w; x += p[2] {
				c := at(x, y)
				for _, v := range []byte{c.R, c.G, c.B} {
					rows = append(rows, v)
					if depth == 16 {
						rows = append(rows, v)
					}
				}
			}
		}
	}
	return pngFile(ihdr(w, h, depth, 2, 1), chunk("IDAT", deflate(rows)), chunk("IEND", nil))
}

// riffChunk is a chunk of a WebP.
func riffChunk(id string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(data)))
	b = append(b, data...)
	if len(data)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func webpFile(chunks ...[]byte) []byte {
	return riffChunk("RIFF", append([]byte("WEBP"), bytes.Join(chunks, nil)...))
}

// vp8x is the header of a WebP with more than pixels.
func vp8x(flags byte, w, h int) []byte {
	w, h = w-1, h-1
	return riffChunk("VP8X", []byte{flags, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)})
}

// vp8 is a lossy frame in one colour.
func vp8(w, h int) []byte {
	first := 1000 + (w/16+1)*(h/16+1) // of modes
	size := first<<5 | 1<<4
	b := []byte{byte(size), byte(size >> 8), byte(size >> 16), 0x9d, 0x01, 0x2a, byte(w), byte(w >> 8), byte(h), byte(h >> 8)}
	return riffChunk("VP8 ", append(b, make([]byte, first+(w/16+1)*(h/16+1)*32)...))
}

// vp8l is a lossless frame in one colour.
func vp8l(w, h int, c color.NRGBA) []byte {
	var b []byte
	free := 0
	put := func(value, bits int) {
		for range bits {
			if free == 0 {
				b, free = append(b, 0), 8
			}
			b[len(b)-1] |= byte(value&1) << (8 - free)
			value, free = value>>1, free-1
		}
	}
	put(0x2f, 8)
	put(w-1, 14)
	put(h-1, 14)
	put(0, 1+3) // transparency is a hint alone; version
	put(0, 1+1+1)
	for _, v := range []byte{c.G, c.R, c.B, c.A, 0} {
		put(1, 2) // a simple tree of one symbol
		put(1, 1)
		put(int(v), 8)
	}
	return riffChunk("VP8L", append(b, make([]byte, 16)...))
}
