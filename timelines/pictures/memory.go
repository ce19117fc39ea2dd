package pictures

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"

	"golang.org/x/image/riff"
)

// jpegMemory reads the frame header, because image.Config does not say whether a JPEG is
// progressive. Then the decoder holds four bytes for each sample beside the picture.
func jpegMemory(r io.Reader, c image.Config) (int, error) {
	progressive, samples, err := jpegFrame(bufio.NewReader(r))
	if err != nil {
		return 0, err
	}
	pixels := padded(c, 32) // the widest block of a picture with subsampling
	memory := int(samples * float64(pixels))
	if progressive {
		memory *= 5
	}
	if c.ColorModel == color.CMYKModel || c.ColorModel == color.RGBAModel {
		memory += 4 * pixels // its samples are copied into one picture
	}
	return memory, nil
}

// padded returns the pixels of a picture of whole blocks.
func padded(c image.Config, block int) int {
	up := func(n int) int { return (n + block - 1) / block * block }
	return up(c.Width) * up(c.Height)
}

var errNoFrame = errors.New("no frame header")

// jpegFrame returns the coding of a JPEG and its samples in each pixel.
func jpegFrame(r *bufio.Reader) (progressive bool, samples float64, err error) {
	for {
		marker, err := jpegMarker(r)
		if err != nil {
			return false, 0, err
		}
		if marker <= 0x01 || marker >= 0xd0 && marker <= 0xd8 {
			continue // it stands alone
		}
		var length [2]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return false, 0, fmt.Errorf("read a segment: %w", err)
		}
		n := int(length[0])<<8 + int(length[1]) - 2
		switch {
		case n < 0 || marker == 0xda || marker == 0xd9:
			return false, 0, errNoFrame
		case marker >= 0xc0 && marker <= 0xc2:
			segment := make([]byte, n)
			if _, err := io.ReadFull(r, segment); err != nil {
				return false, 0, fmt.Errorf("read the frame header: %w", err)
			}
			samples, err := samplesIn(segment)
			return marker == 0xc2, samples, err
		}
		if _, err := r.Discard(n); err != nil {
			return false, 0, fmt.Errorf("skip a segment: %w", err)
		}
	}
}

// jpegMarker returns the next marker. As the decoder does, it skips what is none.
func jpegMarker(r *bufio.Reader) (byte, error) {
	after := byte(0)
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, fmt.Errorf("find a marker: %w", err)
		}
		if after == 0xff && b != 0xff && b != 0 {
			return b, nil
		}
		after = b
	}
}

// samplesIn returns the samples in each pixel by a frame header: 3 if there are three components,
// and 1.5 if two of them have one sample for four pixels.
func samplesIn(header []byte) (float64, error) {
	if len(header) < 9 || len(header) < 6+3*int(header[5]) {
		return 0, errNoFrame
	}
	samples, most := 0, 1
	for i := range int(header[5]) {
		factors := header[7+3*i]
		n := int(factors>>4) * int(factors&0x0f)
		samples += n
		most = max(most, n)
	}
	return float64(samples) / float64(most), nil
}

// pngMemory reads the depth, and whether the rows are interlaced: then the decoder makes seven
// pictures, which together are as large as the picture, and puts them together.
func pngMemory(r io.Reader, c image.Config) (int, error) {
	var head [29]byte // the header ends with depth, colour type, compression, filter, interlace
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, fmt.Errorf("read the header: %w", err)
	}
	memory := 4 * c.Width * c.Height
	if head[24] == 16 {
		memory *= 2
	}
	if head[28] != 0 {
		memory *= 2
	}
	return memory, nil
}

// gifMemory counts a byte a pixel, and its copy if the rows are interlaced.
func gifMemory(_ io.Reader, c image.Config) (int, error) { return 2 * c.Width * c.Height, nil }

// lossless is the most memory for the Huffman trees of a lossless WebP, or of the
// transparency of a lossy one: 2,600 groups of five trees, which a small file may name.
const lossless = 150_000_000

// webpMemory looks for the chunk with the pixels. A lossy WebP takes 1.5 bytes a pixel.
// Lossless pixels take four, and are copied once. The chunk with the transparency of a lossy
// WebP is decoded as such pixels.
func webpMemory(r io.Reader, c image.Config) (int, error) {
	_, chunks, err := riff.NewReader(r)
	if err != nil {
		return 0, fmt.Errorf("read the header: %w", err)
	}
	for {
		id, _, _, err := chunks.Next()
		if err != nil {
			return 0, fmt.Errorf("find the picture: %w", err)
		}
		switch string(id[:]) {
		case "ANIM", "ANMF":
			return 0, fmt.Errorf("%w: an animated WebP", ErrUnsupported)
		case "VP8 ":
			return 2 * padded(c, 16), nil
		case "ALPH", "VP8L":
			return 8*c.Width*c.Height + lossless, nil
		}
	}
}
