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
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/pictures"
	"riverrun/timelines/rules"
	"riverrun/web/view"
)

// Forms that may bring files are read while they arrive: each file goes to the store of blobs at
// once, and none is held in memory. Its sender must be signed in before a byte of it is read. For
// the form's handler each file has become a field "upload" with its code, as if it had been
// uploaded before. If a file is refused, the form is shown again with its text and with the
// other files.

// uploadTime is how long a form with files may take to arrive.
const uploadTime = 10 * time.Minute

// maxArriving is how many files of one account may arrive at a time.
const maxArriving = 4

// partOverhead is about how many bytes a part of a form takes in memory besides its name and value.
const partOverhead = 200

// maxNamed is how many files of a form are looked at; no setting allows a post as many.
const maxNamed = 200

// fileField is the field of a form that brings files, and uploadField has the codes of files that
// were uploaded before.
const (
	fileField   = "file"
	uploadField = "upload"
	// filesField says that the form names all files that are to stay.
	filesField = "files"
)

// errStorage says that the store of blobs failed.
var errStorage = errors.New("the store of files failed")

// boundedBody is a body that gives no more than a form may have, unless all of it is asked for.
type boundedBody struct {
	io.ReadCloser
	whole *arriving
}

// arriving is a body that knows when it was read last; nil if it was not.
type arriving struct {
	io.ReadCloser
	last atomic.Pointer[time.Time]
}

func (b *arriving) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	now := time.Now()
	b.last.Store(&now)
	return n, err
}

// faultKey is the key of a request's context under which the errors of its files stand.
type faultKey struct{}

// withFiles is members for a form that may bring files.
func (s *Server) withFiles(h handler) http.Handler {
	return s.withPicture(func(context.Context, *request) (int64, error) { return 0, nil }, h)
}

// withPicture is withFiles for a form that brings the picture of an account, which of says.
func (s *Server) withPicture(of func(context.Context, *request) (int64, error), h handler) http.Handler {
	form := s.members(h)
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		kind, _, err := mime.ParseMediaType(plain.Header.Get("Content-Type"))
		body, bounded := plain.Body.(*boundedBody)
		if err != nil || kind != "multipart/form-data" || !bounded {
			form.ServeHTTP(w, plain)
			return
		}
		r, fault := s.sender(w, plain)
		if plain.ContentLength > s.maxUpload() {
			s.refuseUnread(w, r, &http.MaxBytesError{Limit: s.maxUpload()})
			return
		}
		account := int64(0)
		if fault == nil && !r.viewer.Anonymous() {
			if account, err = of(plain.Context(), r); err != nil {
				s.refuseUnread(w, r, err)
				return
			}
		}
		plain.Body = http.MaxBytesReader(w, body.whole, s.maxUpload())
		if plain, err = s.receiveFiles(w, r, plain, account, fault); err != nil {
			s.refuseUnread(w, r, err)
			return
		}
		form.ServeHTTP(w, plain)
	})
}

// refuseUnread answers a request whose body is not read, or not to its end. The connection ends
// with the answer: nobody reads the rest to be able to use it again.
func (s *Server) refuseUnread(w http.ResponseWriter, r *request, err error) {
	w.Header().Set("Connection", "close")
	s.fail(w, r, err)
}

// maxUpload is the most bytes of a form with files.
func (s *Server) maxUpload() int64 {
	return s.fileSize*int64(max(s.timelines.Files.MostOfPost(), 1)) + maxForm
}

// sender identifies the sender of a request whose body is not read yet.
func (s *Server) sender(w http.ResponseWriter, plain *http.Request) (*request, error) {
	bounded, cancel := s.bounded(plain)
	defer cancel()
	r := s.newRequest(bounded)
	err := s.refreshAccess(w, r)
	r.Request = plain
	return r, err
}

// receiveFiles reads a form, and returns the request with its fields. If there is a fault
// already, or the sender is not known, the fields are read and the files are not.
//
// A form that is no larger than one without files is read to its end whatever is refused, and is
// shown again with all its fields. In a larger form, reading stops at the first file that will be
// refused: the answer holds the text that came before.
func (s *Server) receiveFiles(w http.ResponseWriter, r *request, plain *http.Request, account int64, fault error) (*http.Request, error) {
	until := time.Now().Add(uploadTime)
	if r.viewer.Anonymous() {
		until = time.Now().Add(time.Minute)
	}
	small := plain.ContentLength >= 0 && plain.ContentLength <= maxForm
	var refused []error // files; the form goes on
	plain, err := s.readForm(w, plain, until, func(ctx context.Context, part *multipart.Part, values url.Values) (bool, error) {
		if part.FormName() != fileField {
			return false, nil
		}
		if part.FileName() == "" { // nothing was chosen
			return true, nil
		}
		err := fault
		if err == nil {
			err = s.admitSender(r, values)
		}
		if err == nil {
			var release func()
			if release, err = s.admitUpload(ctx, r.viewer.AccountID, account); err == nil {
				defer release()
			}
		}
		if err != nil {
			if !small {
				return true, err
			}
			if !r.viewer.Anonymous() {
				fault = err
			}
			return true, nil
		}
		code, err := s.upload(ctx, r.viewer, account, part)
		_, invalid := errors.AsType[*timelines.InvalidError](err)
		switch {
		case err == nil:
			values.Add(uploadField, code)
		case invalid && len(refused) < s.timelines.Files.MostOfPost():
			refused = append(refused, err)
		default:
			fault = err
		}
		if errors.Is(err, errStorage) { // the form is shown again with it
			s.log.ErrorContext(ctx, "an upload failed", "account", r.viewer.AccountID, "error", err)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if fault == nil {
		fault = errors.Join(refused...)
	}
	if fault != nil {
		plain = plain.WithContext(context.WithValue(plain.Context(), faultKey{}, fault))
	}
	return plain, nil
}

// admitSender returns an error if nobody is signed in, or somebody else than the form says.
func (s *Server) admitSender(r *request, values url.Values) error {
	if r.viewer.Anonymous() {
		return errFilesSignIn
	}
	if values.Has(viewerField) && values.Get(viewerField) != r.me.Name {
		return errOtherViewer
	}
	return nil
}

// errEnough is returned by what takes the parts of a form when the rest is not to be read.
var errEnough = errors.New("the rest of the form is not read")

// readForm reads a form until then, and returns the request with its fields. take takes the parts
// that are no fields, as they arrive.
func (s *Server) readForm(w http.ResponseWriter, plain *http.Request, until time.Time,
	take func(ctx context.Context, part *multipart.Part, values url.Values) (taken bool, err error),
) (*http.Request, error) {
	controller := http.NewResponseController(w)
	if err := errors.Join(controller.SetReadDeadline(until), controller.SetWriteDeadline(until.Add(time.Minute))); err != nil {
		return nil, fmt.Errorf("extend the time of an upload: %w", err)
	}
	ctx, cancel := context.WithDeadline(plain.Context(), until)
	defer cancel()
	plain.Body = &paced{ReadCloser: plain.Body, grace: s.uploadGrace, until: until, deadline: controller.SetReadDeadline}
	reader, err := plain.MultipartReader()
	if err != nil {
		return nil, malformedForm(err)
	}
	values, room := url.Values{}, int64(maxForm)
	// Even one that is refused has the fields that came.
	defer func() {
		plain.PostForm, plain.Form, plain.MultipartForm = values, url.Values{}, &multipart.Form{Value: values}
		for _, from := range []url.Values{values, plain.URL.Query()} {
			for name, all := range from {
				plain.Form[name] = append(plain.Form[name], all...)
			}
		}
	}()
	for {
		part, err := reader.NextPart()
		if err == io.EOF { // one that is wrapped says that the body ended too soon
			break
		}
		if err != nil {
			return nil, malformedForm(err)
		}
		name := part.FormName()
		// Each part counts, however little it holds: a form of nothing but names is one too.
		if room -= int64(len(name)) + partOverhead; room < 0 {
			return nil, &http.MaxBytesError{Limit: maxForm}
		}
		taken, err := take(ctx, part, values)
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return nil, err
		}
		if taken {
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, room+1))
		if err != nil {
			return nil, malformedForm(err)
		}
		if room -= int64(len(value)); room < 0 {
			return nil, &http.MaxBytesError{Limit: maxForm}
		}
		values.Add(name, string(value))
	}
	return plain, nil
}

// fault returns the errors of files of the form that were refused.
func (r *request) fault() error {
	err, _ := r.Context().Value(faultKey{}).(error)
	return err
}

// upload stores a file and records it. It will be the picture of the account, if that is not 0.
func (s *Server) upload(ctx context.Context, v timelines.Viewer, account int64, part *multipart.Part) (code string, err error) {
	name := part.FileName()
	arriving := &heard{Reader: part}
	sum, size, err := s.blobs.Put(ctx, arriving, s.fileSize)
	switch {
	case errors.Is(err, blobs.ErrTooLarge):
		return "", rules.FileLarge.With(int(s.fileSize / 1_000_000)).Broken(shortName(name))
	case arriving.err != nil:
		return "", malformedForm(arriving.err) // and so is the rest of the form
	case err != nil:
		return "", fmt.Errorf("%w: %w", errStorage, err)
	case size == 0:
		return "", rules.FileEmpty.Broken(shortName(name))
	}
	picture, err := s.isPicture(ctx, sum, size, name)
	if err != nil {
		return "", err
	}
	if account != 0 && !picture {
		return "", rules.PictureForm.Broken(shortName(name))
	}
	ctx, cancel := context.WithTimeout(ctx, s.databaseTimeout)
	defer cancel()
	return s.timelines.Files.Add(ctx, files.New{
		Owner: v.AccountID, Account: account, Name: name, Sum: sum, Bytes: size, Picture: picture,
	})
}

// admitUpload reports whether a file may come, before a byte of it is read or stored: a stored one
// that is refused stays for hours. release must be called when the file has come.
func (s *Server) admitUpload(ctx context.Context, owner, account int64) (release func(), err error) {
	key := accountKey(owner)
	if err := s.limits.uploads.allow(key); err != nil {
		return nil, err
	}
	release = func() { s.limits.arriving.add(key, -1) }
	if s.limits.arriving.add(key, 1) > maxArriving {
		err = errLimited
	} else {
		ctx, cancel := context.WithTimeout(ctx, s.databaseTimeout)
		defer cancel()
		err = s.timelines.Files.MayAdd(ctx, owner, account)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// isPicture reports whether an upload begins like a picture that can be made. A picture that
// cannot is refused at once, as far as its header tells.
func (s *Server) isPicture(ctx context.Context, sum blobs.Sum, size int64, name string) (bool, error) {
	stored, err := s.blobs.Open(ctx, sum, size)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errStorage, err)
	}
	err = pictures.Check(ctx, stored, pictures.Limits{})
	if closing := stored.Close(); closing != nil {
		return false, fmt.Errorf("%w: %w", errStorage, closing)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, pictures.ErrUnsupported):
		return false, rules.FileForm.Broken(shortName(name))
	case errors.Is(err, pictures.ErrNotPicture):
		return false, nil
	case errors.Is(err, pictures.ErrTooManyPixels):
		return false, rules.FilePixels.Broken(shortName(name))
	case errors.Is(err, pictures.ErrCorrupt):
		return false, rules.FileDamaged.Broken(shortName(name))
	}
	return false, fmt.Errorf("%w: %w", errStorage, err)
}

// heard remembers the error of a reader.
type heard struct {
	io.Reader
	err error
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		h.err = err
	}
	return n, err
}

// shortName is the name of a file in a message.
func shortName(name string) string { return view.ShortText(strings.ToValidUTF8(name, ""), 60) }

// attachments are the files that a form names, with what it says of them.
func (r *request) attachments() []files.Attachment {
	var list []files.Attachment
	seen := map[string]struct{}{}
	for _, code := range r.PostForm[uploadField] {
		code, ok := timelines.ParseCode(code)
		if _, again := seen[code]; !ok || again {
			continue
		}
		if len(list) == maxNamed {
			break // more than any post may have
		}
		seen[code] = struct{}{}
		list = append(list, files.Attachment{Code: code, Alt: strings.TrimSpace(r.PostForm.Get("alt." + code))})
	}
	return list
}

// shownAgain are the files of a form, as the form shows them when it is shown again.
func (s *Server) shownAgain(r *request) ([]files.File, error) {
	list := r.attachments()
	found, err := s.timelines.Files.Owned(r.Context(), r.viewer.AccountID, files.Codes(list))
	for i := range found {
		if at := slices.IndexFunc(list, func(a files.Attachment) bool { return a.Code == found[i].Code }); at >= 0 {
			found[i].Alt = list[at].Alt
		}
	}
	return found, err
}
