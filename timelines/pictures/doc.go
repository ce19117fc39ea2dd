// Package pictures makes uploaded pictures safe and ready to show.
//
// It reads JPEG, PNG, GIF and WebP, which it recognises by their content and never by a name
// or a declared type. Nothing of an upload reaches a reader as it was: every picture is
// decoded and encoded again. So a file that is also a script or an archive becomes a picture
// alone, and EXIF with its GPS place, XMP, IPTC, comments, embedded thumbnails and colour
// profiles are gone. The EXIF orientation of JPEG, PNG and WebP is applied first.
//
// # Formats
//
// An animation shows its first frame. An animated WebP, and a JPEG in 12 bits, arithmetic or
// lossless coding, is not read (ErrUnsupported). Make writes PNG if the picture is transparent
// anywhere, or is a graphic: it has at most 64 colours in its largest size. It writes JPEG
// otherwise. All sizes of one picture have the same type. A file of Make is at most about 17
// MB, and a photo is seldom over 1 MB.
//
// Colours are taken for sRGB. A photo in Display P3, as many phones take, or in Adobe RGB
// comes out a little paler than it was, and CMYK is converted by the plain formula. We reject
// keeping the profile, because it is the uploader's data in the reader's colour engine.
//
// # Limits
//
// Limits are checked by the picture's header before anything is decoded. Besides width, height
// and their product there is a limit of the bytes that the decoder takes, because that is 1.5
// bytes a pixel for a usual JPEG, but 15 for a progressive one without chroma subsampling. By
// default such a JPEG may have 20 megapixels, and a lossless WebP 18.
//
// The memory of a call, with what is freed meanwhile, so that its peak is not more
// (TestMemoryOfACall, BenchmarkMake12MegapixelJPEG):
//
//	JPEG of 12 megapixels                      41 MB
//	JPEG of 50 megapixels                     156 MB
//	PNG of 50 megapixels                      281 MB
//	progressive JPEG of 18 megapixels, 4:4:4  327 MB, the most that was measured
//
// The encoded files of the result are part of that. The upload is not, but for a WebP. The
// limit counts 150 MB for the Huffman trees that a hostile lossless WebP may name.
//
// The memory of a large picture is given back to the system before its sizes are encoded. So a
// process that makes any number of them, one after the other, takes 380 MB at most, and 40 MB
// afterwards; with the limits of cards 110 MB (go test ./timelines/pictures -run
// TestMemoryOfAProcess -v).
//
// Processor time grows with the pixels, and with the number of scans of a progressive JPEG,
// which the size of the file alone limits. So the caller's context should have a deadline: it
// is checked at every read of the upload and between the steps.
//
// A call uses one processor at most. How many pictures are made at a time is the caller's
// business. Everything here is safe for concurrent use, on different readers.
package pictures
