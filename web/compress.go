package web

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/zstd"
)

// The levels. A home page of 25 entries, 90 kB, becomes 11.0 kB of zstd in 0.4 ms of
// processor time, or 11.9 kB of gzip in 0.6. Higher levels make it less than 10% smaller
// and take up to ten times as long; gzip's lower ones, 0.35 ms, make it 7 to 14% larger
// (go test ./web -run - -bench Compress).
const (
	gzipLevel = 5
	zstdLevel = int(zstd.SpeedFastest)
)

const (
	// leastCompressed is the least size in bytes of an answer that is compressed: a smaller
	// one fits into one packet anyway.
	leastCompressed = 1024
	// maxJitter is how many bytes of padding a compressed answer gets, at most.
	maxJitter = 32
)

// compressedTypes are the types of text. Other answers are compressed already, or tiny.
var compressedTypes = []string{
	"text/html", "text/css", "text/javascript", "text/plain", "image/svg+xml",
	"application/json", "application/atom+xml", "application/feed+json",
}

// compress is the outermost layer of the site: it sends answers as zstd or gzip to clients
// that accept them. It leaves out sockets, answers to HEAD, answers with a Content-Encoding
// and tiny ones. The layers within need not know of it, except for entity tags: these must
// be weak, because they name the content and not the bytes that carry it.
//
// A page holds private content beside content that an attacker may have put there, by a
// post or in the address of a search. An observer of its length could test guesses, because
// a right one compresses better (BREACH). So each compressed answer is padded by 1 to
// maxJitter bytes. The number depends on its first 64 KB, and an observer does not know all
// of those. That makes guessing slow, not impossible; but the session's token, the only
// thing worth it, stands on no page.
func compress(next http.Handler) http.Handler {
	return compressAt(next, gzipLevel, zstdLevel)
}

// compressor compresses the answers of a handler.
func compressor(gzipLevel, zstdLevel int) func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(leastCompressed),
		gzhttp.ContentTypes(compressedTypes),
		gzhttp.CompressionLevel(gzipLevel),
		gzhttp.ZstdCompressionLevel(zstdLevel),
		gzhttp.RandomJitter(maxJitter, 0, false),
	)
	if err != nil {
		panic(err) // only a level that does not exist is refused
	}
	return wrap
}

func compressAt(next http.Handler, gzipLevel, zstdLevel int) http.Handler {
	wrap := compressor(gzipLevel, zstdLevel)
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			next.ServeHTTP(plain, r)
			return
		}
		wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(compressedWriter{w, plain}, r)
		})).ServeHTTP(plain, r)
	})
}

// compressedWriter is gzhttp's writer, with a way to the connection for
// http.ResponseController.
type compressedWriter struct {
	http.ResponseWriter
	plain http.ResponseWriter
}

// Flush sends the bytes compressed so far.
func (w compressedWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func (w compressedWriter) Unwrap() http.ResponseWriter { return w.plain }
