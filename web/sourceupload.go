package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/web/view"
)

// sourceTime is how long a form with a file of a source may take to arrive. Such a file may be a
// hundred times as large as a file of a post.
const sourceTime = 40 * time.Minute

// opmlField is the field of a form with a list of links.
const opmlField = "opml"

// sourceFile is a file that came with a form.
type sourceFile struct {
	name, mediaType string
	sum             blobs.Sum
	size            int64
	format          formats.Format
	title           string // the title that the feed gives; may be empty
	dry             bool
	// outlines are the links of a list, which is not stored as a file; nil: it is a file of a source.
	outlines []formats.Outline
}

func (f *sourceFile) uploaded() sources.Uploaded {
	return sources.Uploaded{Sum: f.sum, Bytes: f.size, MediaType: f.mediaType, Dry: f.dry}
}

// sourceFileKey is the key of a request's context for its sourceFile.
type sourceFileKey struct{}

// sourceFile returns the file that came with the form, nil if there was none.
func (r *request) sourceFile() *sourceFile {
	f, _ := r.Context().Value(sourceFileKey{}).(*sourceFile)
	return f
}

// withSourceFile does the same as members for a form that may bring a file of a source, or a list of
// links. The file goes to the store of blobs while it arrives, and only if its sender may send it.
func (s sourcePages) withSourceFile(may func(context.Context, *request) error, h handler) http.Handler {
	form := s.members(h)
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		kind, _, err := mime.ParseMediaType(plain.Header.Get("Content-Type"))
		body, bounded := plain.Body.(*boundedBody)
		if err != nil || kind != "multipart/form-data" || !bounded {
			form.ServeHTTP(w, plain)
			return
		}
		r, err := s.sender(w, plain)
		most := s.sources.Limits().FileBytes + maxForm
		if err == nil && !r.viewer.Anonymous() {
			err = may(plain.Context(), r)
		}
		if err == nil && plain.ContentLength > most {
			err = &http.MaxBytesError{Limit: most}
		}
		if err != nil {
			s.refuseUnread(w, r, err)
			return
		}
		if !r.viewer.Anonymous() {
			plain.Body = http.MaxBytesReader(w, body.whole, most)
		}
		if plain, err = s.receiveSource(w, r, plain); err != nil {
			s.refuseUnread(w, r, err)
			return
		}
		form.ServeHTTP(w, plain)
	})
}

func (s sourcePages) mayUpload(ctx context.Context, r *request) error {
	_, err := s.find(ctx, r)
	return err
}

// receiveSource reads a form. It returns the request with its fields, its file, and the fault of the
// file.
func (s sourcePages) receiveSource(w http.ResponseWriter, r *request, plain *http.Request) (*http.Request, error) {
	var file *sourceFile
	var fault error
	until := time.Now().Add(sourceTime)
	if r.viewer.Anonymous() {
		until = time.Now().Add(time.Minute)
	}
	plain, err := s.readForm(w, plain, until, func(ctx context.Context, part *multipart.Part, values url.Values) (bool, error) {
		name := part.FormName()
		if name != fileField && name != opmlField {
			return false, nil
		}
		if part.FileName() == "" || r.viewer.Anonymous() || file != nil {
			return true, nil
		}
		if file, fault = s.takeSource(ctx, r, name, part); fault == nil {
			return true, nil
		}
		if errors.Is(fault, errStorage) { // the form is shown again with it
			s.log.ErrorContext(ctx, "an upload of a source failed", "account", r.viewer.AccountID, "error", fault)
		}
		w.Header().Set("Connection", "close")
		return true, errEnough
	})
	if err != nil {
		return nil, err
	}
	ctx := plain.Context()
	if file != nil {
		file.dry = plain.PostForm.Has("dry")
		ctx = context.WithValue(ctx, sourceFileKey{}, file)
	}
	if fault != nil {
		ctx = context.WithValue(ctx, faultKey{}, fault)
	}
	return plain.WithContext(ctx), nil
}

// takeSource stores a file, or reads a list of links.
func (s sourcePages) takeSource(ctx context.Context, r *request, field string, part *multipart.Part) (*sourceFile, error) {
	key := accountKey(r.viewer.AccountID)
	if err := s.limits.uploads.allow(key); err != nil {
		return nil, err
	}
	defer s.limits.arriving.add(key, -1)
	if s.limits.arriving.add(key, 1) > maxArriving {
		return nil, errLimited
	}
	arriving := &heard{Reader: part}
	f := &sourceFile{name: strings.ToValidUTF8(part.FileName(), ""), mediaType: mediaTypeOf(part)}
	var err error
	if field == opmlField {
		f.outlines, err = formats.ParseOPML(arriving)
		if f.outlines == nil {
			f.outlines = []formats.Outline{}
		}
	} else {
		f.sum, f.size, err = s.blobs.Put(ctx, arriving, s.sources.Limits().FileBytes)
	}
	fatal, isFatal := errors.AsType[*formats.Fatal](err)
	switch {
	case arriving.err != nil:
		return nil, malformedForm(arriving.err)
	case errors.Is(err, blobs.ErrTooLarge):
		return nil, &timelines.InvalidError{Field: field, Code: "source_large", Most: int(s.sources.Limits().FileBytes / 1_000_000)}
	case isFatal:
		return nil, &sourceFileError{field, fatal}
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errStorage, err)
	case field == opmlField:
		return f, nil
	}
	if err = s.look(ctx, f); err != nil {
		if fatal, ok := errors.AsType[*formats.Fatal](err); ok {
			return nil, &sourceFileError{field, fatal}
		}
		return nil, fmt.Errorf("%w: %w", errStorage, err)
	}
	return f, nil
}

// look reads the beginning of a stored file, for its format and its title. It refuses a file that is
// no feed at once.
func (s sourcePages) look(ctx context.Context, f *sourceFile) (err error) {
	stored, err := s.blobs.Open(ctx, f.sum, f.size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	begin := make([]byte, 4096)
	n, err := io.ReadFull(stored, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if f.format, err = formats.Detect(begin[:n], f.mediaType); err != nil {
		return err
	}
	if _, err := stored.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in, err := formats.NewReader(stored, formats.Options{MediaType: f.mediaType})
	if err == nil {
		if _, err = in.Next(); errors.Is(err, io.EOF) {
			err = nil
		}
		f.title = in.Feed().Title
	}
	return err
}

// mediaTypeOf returns the media type that the sender gave. Browsers know little of these formats, and
// the name may tell more.
func mediaTypeOf(part *multipart.Part) string {
	switch strings.ToLower(path.Ext(part.FileName())) {
	case ".csv":
		return "text/csv"
	case ".ndjson", ".jsonl":
		return "application/x-ndjson"
	}
	kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if err != nil || len(kind) > 100 {
		return ""
	}
	return kind
}

// sourceFileError says that a file that came with a form cannot be used, with the codes of package
// formats.
type sourceFileError struct {
	field string
	fatal *formats.Fatal
}

func (e *sourceFileError) Error() string { return e.fatal.Error() }

// newFile loads another file for a source.
func (s sourcePages) newFile(w http.ResponseWriter, r *request) error {
	found, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	if err = s.mayChange(r); err == nil {
		err = r.fault()
	}
	file := r.sourceFile()
	if err == nil && (file == nil || file.outlines != nil) {
		err = &timelines.InvalidError{Field: fileField, Code: "source_file"}
	}
	if err == nil {
		_, err = s.sources.Upload(r.Context(), r.viewer.AccountID, found.Code, file.uploaded())
	}
	if err != nil {
		return s.sourceAgain(w, r, found, err)
	}
	return s.done(w, r, view.SourcePath(found.Code))
}
