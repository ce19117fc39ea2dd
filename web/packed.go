package web

import (
	"bytes"
	"net/http"

	"riverrun/rivers/bytecache"
	"riverrun/web/view/pieces"
)

// packedBytes bounds the cache of compressed pages.
const packedBytes = 32 << 20

// packedPages compress pages and keep the result, because compressing is half of the work of a page
// (riverbench: home and changed). A page is known by the hashes of its HTML, so nothing can be out of date. It is safe for concurrent use.
type packedPages struct {
	compress func(http.Handler) http.HandlerFunc
	pages    *bytecache.Cache[packedKey, packedPage]
}

// packedKey is the hashes of a page, and what its client accepts.
type packedKey struct {
	page   pieces.Sums
	accept string
}

// longestAccept is the longest Accept-Encoding, in bytes, with which a page is kept. Browsers send a few words.
const longestAccept = 64

type packedPage struct {
	encoding string
	body     []byte
}

// Size implements [bytecache.Value].
func (p packedPage) Size() int { return len(p.body) + longestAccept + 256 }

func newPackedPages() *packedPages {
	return &packedPages{compressor(gzipLevel, zstdLevel), bytecache.New[packedKey, packedPage](packedBytes)}
}

// send answers r with a page. The layer that compresses answers leaves alone what has an encoding.
func (p *packedPages) send(w http.ResponseWriter, r *http.Request, status int, sums pieces.Sums, page *pieces.Page) {
	key := packedKey{sums, r.Header.Get("Accept-Encoding")}
	packed, ok := p.pages.Get(key, nil)
	if !ok {
		made := inMemory{header: http.Header{}}
		p.compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", htmlType)
			_, _ = page.WriteTo(w) // into memory
		})).ServeHTTP(&made, r)
		packed = packedPage{made.header.Get("Content-Encoding"), bytes.Clone(made.body.Bytes())}
		if packed.encoding != "" && len(key.accept) <= longestAccept {
			p.pages.Put(key, packed)
		}
	}
	if packed.encoding != "" {
		w.Header().Set("Content-Encoding", packed.encoding)
	}
	w.WriteHeader(status)
	_, _ = w.Write(packed.body) // the browser is gone
}

// inMemory keeps an answer.
type inMemory struct {
	header http.Header
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (m *inMemory) Header() http.Header { return m.header }

// WriteHeader implements [http.ResponseWriter].
func (m *inMemory) WriteHeader(int) {}

// Write implements [http.ResponseWriter].
func (m *inMemory) Write(b []byte) (int, error) { return m.body.Write(b) }
