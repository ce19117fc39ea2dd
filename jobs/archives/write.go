package archives

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"riverrun/timelines/blobs"
	"riverrun/timelines/exports"
)

const (
	// postsAtOnce is how many posts are read at a time, and uploadsAtOnce how many rows of uploads.
	postsAtOnce   = 50
	uploadsAtOnce = 100
)

// writer writes one archive.
type writer struct {
	Maker
	wish  exports.Wish
	zip   *zip.Writer
	posts []int64 // the ids of all posts, the newest first
	done  int64   // steps; see Wish
}

func (m Maker) write(ctx context.Context, wish exports.Wish, out io.Writer) error {
	w := &writer{Maker: m, wish: wish, zip: zip.NewWriter(out)}
	var err error
	if w.posts, err = w.Exports.PostIDs(ctx, wish.AccountID); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{w.data, w.pages, w.files} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return w.zip.Close()
}

// entry begins a file of the archive.
func (w *writer) entry(name string, at time.Time, method uint16) (io.Writer, error) {
	return w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: at.UTC()})
}

func (w *writer) progress(ctx context.Context, steps int) error {
	w.done += int64(steps)
	return w.Exports.Progress(ctx, w.wish.ID, w.done)
}

// data writes data.json: an object of the profile, and of a list for each kind of things, one a line.
func (w *writer) data(ctx context.Context) error {
	file, err := w.entry("data.json", w.wish.Begun, zip.Deflate)
	if err != nil {
		return err
	}
	out := &jsonWriter{to: file}
	profile, err := w.Exports.Profile(ctx, w.wish.AccountID)
	if err != nil {
		return err
	}
	out.raw("{\n\"made_at\": ").value(w.wish.Begun).raw(",\n\"profile\": ").value(profile)
	if err := w.list(out, "posts", func(next func()) error {
		return w.eachPost(ctx, steps{
			begin: func(p exports.Post) error {
				next()
				text := out.text(p)
				out.raw(string(bytes.TrimSuffix(text, []byte("}")))).raw(", \"comments\": [")
				out.first = true
				return out.err
			},
			comment: func(c exports.Comment) error {
				if !out.first {
					out.raw(", ")
				}
				out.first = false
				return out.value(c).err
			},
			end: func() error { return out.raw("]}").err },
		})
	}); err != nil {
		return err
	}
	for _, section := range exports.Sections {
		err := w.list(out, section.Name, func(next func()) error {
			return w.Exports.Rows(ctx, w.wish.AccountID, section, func(row json.RawMessage) error {
				next()
				return out.value(row).err
			})
		})
		if err != nil {
			return err
		}
	}
	return out.raw("\n}\n").err
}

// list writes a list of the object. fill calls next before each row.
func (w *writer) list(out *jsonWriter, name string, fill func(next func()) error) error {
	out.raw(",\n").value(name).raw(": [")
	between := "\n"
	if err := fill(func() { out.raw(between); between = ",\n" }); err != nil {
		return err
	}
	return out.raw("\n]").err
}

// steps are those of a walk through all posts, as Posts of package exports calls them.
type steps struct {
	begin   func(exports.Post) error
	comment func(exports.Comment) error
	end     func() error
}

func (w *writer) eachPost(ctx context.Context, do steps) error {
	for from := 0; from < len(w.posts); from += postsAtOnce {
		ids := w.posts[from:min(from+postsAtOnce, len(w.posts))]
		if err := w.Exports.Posts(ctx, w.wish.AccountID, ids, do.begin, do.comment, do.end); err != nil {
			return err
		}
		if err := w.progress(ctx, len(ids)); err != nil {
			return err
		}
	}
	return nil
}

// pages writes a page for each year, and index.html, which leads to them.
func (w *writer) pages(ctx context.Context) error {
	var years []year
	var out io.Writer
	end := func() error {
		if out == nil {
			return nil
		}
		return w.render(out, "year-end", nil)
	}
	err := w.eachPost(ctx, steps{
		begin: func(p exports.Post) error {
			if n := p.At.UTC().Year(); len(years) == 0 || years[len(years)-1].N != n {
				if err := end(); err != nil {
					return err
				}
				y := year{N: n, File: strconv.Itoa(n) + ".html"}
				years = append(years, y)
				var err error
				if out, err = w.entry(y.File, w.wish.Begun, zip.Deflate); err != nil {
					return err
				}
				if err := w.render(out, "year", y); err != nil {
					return err
				}
			}
			years[len(years)-1].Posts++
			return w.render(out, "post", p)
		},
		comment: func(c exports.Comment) error { return w.render(out, "comment", c) },
		end:     func() error { return w.render(out, "post-end", nil) },
	})
	if err == nil {
		err = end()
	}
	if err != nil {
		return err
	}
	if out, err = w.entry("index.html", w.wish.Begun, zip.Deflate); err != nil {
		return err
	}
	return w.render(out, "index", years)
}

// files writes the uploads. One whose blob is lost is left out: the others are not to be lost with it.
func (w *writer) files(ctx context.Context) error {
	for after := int64(0); ; {
		found, err := w.Exports.Uploads(ctx, w.wish.AccountID, after, uploadsAtOnce)
		if err != nil {
			return err
		}
		for _, u := range found {
			switch err := w.file(ctx, u); {
			case errors.Is(err, blobs.ErrNotFound), errors.Is(err, blobs.ErrDamaged):
				w.Log.WarnContext(ctx, "an upload is not in an archive", "account", w.wish.AccountID, "file", u.ID, "error", err)
			case err != nil:
				return fmt.Errorf("upload %d: %w", u.ID, err)
			}
			after = u.ID
		}
		if err := w.progress(ctx, len(found)); err != nil {
			return err
		}
		if len(found) < uploadsAtOnce {
			return nil
		}
	}
}

func (w *writer) file(ctx context.Context, u exports.Upload) error {
	content, err := w.Blobs.Open(ctx, u.Sum(), u.Bytes)
	if err != nil {
		return err
	}
	out, err := w.entry(u.Path, u.At, zip.Store) // pictures do not become smaller
	if err == nil {
		_, err = io.Copy(out, content)
	}
	return errors.Join(err, content.Close())
}

// jsonWriter writes JSON in pieces. After an error it writes nothing.
type jsonWriter struct {
	to    io.Writer
	err   error
	first bool // no comment of the post is written yet
}

func (j *jsonWriter) raw(text string) *jsonWriter {
	if j.err == nil {
		_, j.err = io.WriteString(j.to, text)
	}
	return j
}

// text returns a value as JSON. People read it: < stays what it is.
func (j *jsonWriter) text(value any) []byte {
	if j.err != nil {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	j.err = e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (j *jsonWriter) value(value any) *jsonWriter {
	text := j.text(value)
	return j.raw(string(text))
}
