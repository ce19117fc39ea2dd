package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// tagged gives the answers to GET a tag, unless they have their own, and answers 304 where the caller has that one. A stream of changes has none.
func tagged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path == changesPath {
			next.ServeHTTP(w, r)
			return
		}
		held := &heldAnswer{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(held, r)
		h := w.Header()
		if held.status == http.StatusOK {
			tag := h.Get("ETag")
			if tag == "" {
				sum := sha256.Sum256(held.body.Bytes())
				tag = `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"` // weak: compression does not change it
				h.Set("ETag", tag)
			}
			h.Set("Cache-Control", "private, no-cache")
			if has(r.Header.Get("If-None-Match"), tag) {
				h.Del("Content-Type")
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.WriteHeader(held.status)
		_, _ = w.Write(held.body.Bytes()) // the caller is gone
	})
}

func has(header, tag string) bool {
	for had := range strings.SplitSeq(header, ",") {
		if strings.TrimSpace(had) == tag {
			return true
		}
	}
	return false
}

// heldAnswer keeps an answer until it is complete.
type heldAnswer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (h *heldAnswer) WriteHeader(status int)      { h.status = status }
func (h *heldAnswer) Write(b []byte) (int, error) { return h.body.Write(b) }
