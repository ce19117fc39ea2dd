package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"

	"riverrun/web/view"
)

//go:embed static
var staticFS embed.FS

// staticFiles are the site's own files. Each is served under a name that holds
// the hash of its content, so a browser may keep it for ever and a new version
// has a new address.
type staticFiles struct {
	names map[string]string // "site.css" -> "/static/site.1a2b3c4d.css"
	files map[string]staticFile
}

type staticFile struct {
	content     []byte
	gzipped     []byte // nil where it gains nothing
	contentType string
}

// staticTypes are written out, because the system's tables differ between machines, and a
// wrong type stops a module under nosniff.
var staticTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".png": "image/png",
}

// loadStatic reads, minifies and compresses them, once in a process: they are part of the program.
var loadStatic = sync.OnceValues(func() (*staticFiles, error) {
	smaller := minify.New()
	smaller.AddFunc(".css", css.Minify)
	smaller.AddFunc(".js", js.Minify)
	listed, err := staticFS.ReadDir("static")
	if err != nil {
		return nil, fmt.Errorf("static files: %w", err)
	}
	s := &staticFiles{names: map[string]string{}, files: map[string]staticFile{}}
	add := func(name string, content []byte) error {
		ext := path.Ext(name)
		if ext == ".js" { // names within a function can be made short
			content = slices.Concat([]byte("(()=>{"), content, []byte("\n})()"))
		}
		if ext == ".css" || ext == ".js" { // what is written for people to read is sent without that
			if content, err = smaller.Bytes(ext, content); err != nil {
				return fmt.Errorf("static files: %s: %w", name, err)
			}
		}
		if ext == ".css" { // the icons come before it
			content = bytes.ReplaceAll(content, []byte("icons.svg"), []byte(s.names["icons.svg"]))
		}
		sum := sha256.Sum256(content)
		hashed := "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		s.names[name] = hashed
		file := staticFile{content: content, contentType: staticTypes[ext]}
		if ext != ".png" {
			if file.gzipped, err = gzipped(content); err != nil {
				return fmt.Errorf("static files: %s: %w", name, err)
			}
		}
		s.files[hashed] = file
		return nil
	}
	for _, f := range listed {
		if _, ok := staticTypes[path.Ext(f.Name())]; !ok {
			continue
		}
		content, err := staticFS.ReadFile("static/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("static files: %w", err)
		}
		if err := add(f.Name(), content); err != nil {
			return nil, err
		}
	}
	for _, loc := range view.Locales {
		name, content, err := view.ScriptTexts(loc)
		if err != nil {
			return nil, err
		}
		if err := add(name, content); err != nil {
			return nil, err
		}
	}
	return s, nil
})

// gzipped compresses a file once, as far as gzip can. Answers are compressed less, since each is
// compressed anew.
func gzipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// url returns a file's address, or "" if there is no such file.
func (s *staticFiles) url(name string) string { return s.names[name] }

func (s *Server) routeStatic(mux router) {
	missing := s.page(func(http.ResponseWriter, *request) error { return errNoPage })
	// A file is the same for everybody, and is kept by caches: no session is looked at.
	mux.HandleFunc("GET /static/{file}", func(w http.ResponseWriter, r *http.Request) {
		file, ok := s.static.files[r.URL.Path]
		if !ok {
			missing.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", file.contentType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		content := file.content
		if accepts := r.Header.Get("Accept-Encoding"); file.gzipped != nil && strings.Contains(accepts, "gzip") && !strings.Contains(accepts, "gzip;q=0") {
			content = file.gzipped
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Vary", "Accept-Encoding")
		}
		_, _ = w.Write(content) // the client is gone
	})
}
