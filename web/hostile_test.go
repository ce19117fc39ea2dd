package web_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"mime"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// placed stands in the metadata of pictures, and hidden is a script that is in files of all kinds.
const (
	placed = "59.9386N-30.3141E"
	hidden = "<script>alert(1)</script>"
)

// withEXIF is a JPEG with a description that is a place.
func withEXIF(jpeg []byte) []byte {
	le := binary.LittleEndian
	tiff := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x0e\x01\x02\x00")
	tiff = le.AppendUint32(tiff, uint32(len(placed)))
	tiff = append(le.AppendUint32(tiff, 26), 0, 0, 0, 0)
	tiff = append(append([]byte("Exif\x00\x00"), tiff...), placed...)
	head := binary.BigEndian.AppendUint16([]byte("\xff\xd8\xff\xe1"), uint16(len(tiff)+2))
	return bytes.Join([][]byte{head, tiff, jpeg[2:]}, nil)
}

// pngChunk is a chunk of a PNG.
func pngChunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// pngOf is a PNG that says it has this size, with these chunks and nothing else.
func pngOf(w, h uint32, chunks ...[]byte) []byte {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	b := append([]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", append(size, 8, 2, 0, 0, 0))...)
	return append(b, bytes.Join(chunks, nil)...)
}

// TestHostileUploads: whatever comes as a file of a post, the form comes again and says what is
// wrong with it, or the post has it as something that does nothing to who opens it.
func TestHostileUploads(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v, other := s.Person("anna").Visitor(), s.Visitor()
	jpeg := webtest.Photo(100, 60)
	var encoded, packed bytes.Buffer
	deflate := zlib.NewWriter(&packed)
	_, err := deflate.Write(make([]byte, 20_000_000))
	for _, err := range []error{err, deflate.Close(), png.Encode(&encoded, image.NewGray(image.Rect(0, 0, 100, 60)))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const firstChunk = 8 + 25
	good := encoded.Bytes()
	packedText := pngChunk("zTXt", append([]byte("a\x00\x00"), packed.Bytes()...))
	damaged := bytes.Clone(good)
	damaged[len(damaged)-20] ^= 0xff // in the pixels

	const (
		picture, failed, download = "alt=\"Picture: ", "this picture can’t be read", " download>"
	)
	for _, tc := range []struct {
		name    string
		content []byte
		refused string // what the form says that comes again
		becomes string // else what the post has
	}{
		{"vast.png", pngOf(1<<31-1, 1<<31-1, pngChunk("IDAT", nil)), "“vast.png” is a picture in a form", ""},
		{"high.png", pngOf(1, 1_000_000, pngChunk("IDAT", nil)), "“high.png” has too many pixels", ""},
		{"vast.gif", []byte("GIF89a\xff\xff\xff\xff\x80\x00\x00abcdef,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00;"), "“vast.gif” has too many pixels", ""},
		{"none.png", pngOf(0, 0), "“none.png” is damaged", ""},
		{"short.webp", []byte("RIFF\x10\x00\x00\x00WEBPVP8 \xff\xff\xff\xff1234"), "“short.webp” is damaged", ""},
		{"cut.jpg", withEXIF(jpeg)[:len(jpeg)-100], "", failed},
		{"spoilt.png", damaged, "", failed},
		{"more.png", pngOf(9, 9, pngChunk("IDAT", packed.Bytes()), pngChunk("IEND", nil)), "", failed},
		{"there.jpg", withEXIF(jpeg), "", picture},
		{"behind.jpg", append(bytes.Clone(jpeg), hidden+"PK\x03\x04"...), "", picture},
		{"packed.png", bytes.Join([][]byte{good[:firstChunk], packedText, pngChunk("tEXt", []byte("a\x00"+hidden)), good[firstChunk:]}, nil), "", picture},
		{"drawn.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg">` + hidden + `</svg>`), "", download},
		{"page.html", []byte("<!DOCTYPE html>" + hidden), "", download},
		{"named.png", []byte("%PDF-1.7\n" + hidden), "", download},
		{"before.jpg", append([]byte(hidden), jpeg...), "", download},
		{"archive.zip", []byte("PK\x03\x04\x14\x00\x00\x00\x08\x00" + hidden), "", download},
	} {
		answer := v.PostFiles("/posts", []webtest.Upload{{Name: tc.name, Content: tc.content}}, "body", "With "+tc.name)
		if tc.refused != "" {
			answer.Wants(422).Has("With "+tc.name, tc.refused)
			continue
		}
		answer.Wants(303)
		s.MakePictures()
		page := other.Get("/p/"+v.Get("/anna").Wants(200).Code()).Wants(200).Has("With "+tc.name, tc.becomes).Lacks(hidden)
		found := filesOn(page.Body)
		if (len(found) == 0) != (tc.becomes == failed) {
			t.Errorf("%s: files %q", tc.name, found)
		}
		for _, address := range found {
			reply := other.Get(address).Wants(200)
			h := reply.Header
			if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasSuffix(h.Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%s: %v", tc.name, h)
			}
			if tc.becomes == picture {
				if !strings.HasPrefix(h.Get("Content-Type"), "image/") || strings.Contains(reply.Body, placed) || strings.Contains(reply.Body, hidden) {
					t.Errorf("%s: %s has more than a picture", tc.name, address)
				}
			} else if h.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment;") {
				t.Errorf("%s: %v", tc.name, h)
			}
		}
	}
}

// rawForm sends what no browser sends.
func rawForm(v *webtest.Visitor, body io.Reader) *webtest.Answer {
	v.T.Helper()
	r, err := http.NewRequestWithContext(v.T.Context(), http.MethodPost, v.Base+"/posts", body)
	if err != nil {
		v.T.Fatal(err)
	}
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	response, err := v.Client.Do(r)
	if err != nil {
		v.T.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		v.T.Fatal(err)
	}
	return &webtest.Answer{T: v.T, What: "POST /posts", Status: response.StatusCode, Header: response.Header, Body: string(answer)}
}

const (
	bodyPart = "--x\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\nWritten with care\r\n"
	filePart = "--x\r\nContent-Disposition: form-data; name=\"file\"; "
	endPart  = "\r\n--x--\r\n"
)

// TestNamesOfUploads: a name that is a path, or no text, is shortened to what may stand on a page
// and in a header.
func TestNamesOfUploads(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Person("anna").Visitor()
	for _, tc := range []struct{ name, shown string }{
		{`filename="../../etc/passwd"`, "passwd"},
		{`filename="/etc/passwd"`, "passwd"},
		{`filename*=UTF-8''..%2F..%2Fetc%2Fpasswd`, "passwd"},
		{`filename="..\\..\\boot.ini"`, "boot.ini"},
		{"filename=\"a\xff\xfeb.txt\"", ".txt"},
		{`filename*=UTF-8''a%00b%0d%0aSet-Cookie:%20x=y.txt`, ""}, // nobody can say what it is
		{`filename=".."`, ""},
		{`filename="` + strings.Repeat("n", 100_000) + `.txt"`, "nnn"},
	} {
		answer := rawForm(v, strings.NewReader(bodyPart+filePart+tc.name+"\r\n\r\nnotes"+endPart))
		answer.Wants(303)
		page := v.Get("/p/"+v.Get("/anna").Wants(200).Code()).Wants(200).Has("Written with care", tc.shown).Lacks("../", `..\`)
		if len(page.Body) > 100_000 {
			t.Errorf("%.40s: the page has %d bytes", tc.name, len(page.Body))
		}
		for _, address := range filesOn(page.Body) {
			h := v.Get(address).Wants(200).Header
			_, fields, err := mime.ParseMediaType(h.Get("Content-Disposition"))
			if err != nil || strings.ContainsAny(fields["filename"], "/\\\x00\r\n") || h.Get("Set-Cookie") != "" {
				t.Errorf("%.40s: %q, %v", tc.name, h, err)
			}
		}
	}
}

// repeated gives the same bytes for ever.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		read := copy(p[n:], r.text[r.at:])
		n, r.at = n+read, (r.at+read)%len(r.text)
	}
	return n, nil
}

// endless is a form that begins so and goes on so for ever.
func endless(begins, goesOn string) io.Reader {
	return io.MultiReader(strings.NewReader(begins), &repeated{text: goesOn})
}

// TestEndlessForms: a form that never ends is refused, and none of it is held in memory. It is not
// parallel, since it measures what is allocated.
func TestEndlessForms(t *testing.T) {
	s := webtest.New(t, nil)
	v := s.Person("anna").Visitor()
	for _, tc := range []struct {
		name   string
		body   io.Reader
		status int
		most   uint64 // bytes that are allocated, freed or not
	}{
		{"a file", endless(bodyPart+filePart+"filename=\"a\"\r\n\r\n", "no end "), 413, 5_000_000},
		{"files", endless(bodyPart, filePart+"filename=\"a\"\r\n\r\na\r\n"), 422, 40_000_000}, // nobody may have as many loose ones
		{"fields", endless(bodyPart, "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\na\r\n"), 413, 40_000_000},
		{"a field", endless("--x\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\n", "no end "), 413, 10_000_000},
		{"what is before the first part", endless("", "no end\r\n"), 413, 5_000_000},
		{"a part's headers", endless(filePart+"filename=\"a\"\r\n", "X-A: b\r\n"), 400, 10_000_000},
		{"a part's header", endless(filePart+"filename=\"a\"\r\nX-A: ", "no end "), 400, 100_000_000},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answer := rawForm(v, tc.body).Wants(tc.status)
		runtime.ReadMemStats(&after)
		if !strings.Contains(answer.Body, "<h1") {
			t.Errorf("%s: no page says what is wrong: %.300s", tc.name, answer.Body)
		}
		got := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d kB", tc.name, got/1000)
		if got > tc.most {
			t.Errorf("%s: it takes %d bytes, want at most %d", tc.name, got, tc.most)
		}
	}
	v.Get("/anna").Wants(200).Lacks("Written with care")
}
