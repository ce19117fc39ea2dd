package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// readBatch reads {"no":1,"items":[…]}, whose items are like lines of NDJSON (package formats). It
// reads item by item, so that a body of millions of tiny values costs no more than its bytes. now is
// the time that dates are compared with: a batch that is sent again gives the same lines.
func readBatch(body []byte, now time.Time) (sources.Batch, error) {
	b := sources.Batch{Asked: sha256.Sum256(body)}
	lines, items, err := batchLines(body, &b.No)
	if err != nil || items == 0 {
		return b, err
	}
	return b, addLines(&b, lines, now)
}

// readItems reads one item, or several one after the other, as in NDJSON.
func readItems(body []byte, now time.Time) (sources.Batch, error) {
	b := sources.Batch{Asked: sha256.Sum256(body)}
	var lines bytes.Buffer
	in := json.NewDecoder(bytes.NewReader(body))
	for items := 0; ; items++ {
		var item json.RawMessage
		err := in.Decode(&item)
		switch {
		case errors.Is(err, io.EOF) && items > 0:
			return b, addLines(&b, &lines, now)
		case err != nil || item[0] != '{' || json.Compact(&lines, item) != nil:
			return b, malformedBatch
		case items == sources.MostItems:
			return b, &refusal{status: http.StatusRequestEntityTooLarge, code: "batch_large", most: sources.MostItems}
		}
		lines.WriteByte('\n')
	}
}

// addLines gives a batch the canonical lines of items.
func addLines(b *sources.Batch, items io.Reader, now time.Time) error {
	var canonical bytes.Buffer
	_, err := formats.Canonical(&canonical, items, formats.Options{Format: formats.NDJSON, Charset: "utf-8", Now: now})
	if _, fatal := errors.AsType[*formats.Fatal](err); fatal {
		return malformedBatch
	}
	if err != nil {
		return fmt.Errorf("read a batch: %w", err)
	}
	in, err := formats.ReadCanonical(&canonical, 0)
	if err != nil {
		return fmt.Errorf("read a batch: %w", err)
	}
	for {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read a batch: %w", err)
		}
		b.Lines = append(b.Lines, l.Clone())
	}
	return nil
}

var malformedBatch = &refusal{status: http.StatusUnprocessableEntity, code: "body_invalid"}

// batchLines returns the items of a batch, one a line, and sets its number.
func batchLines(body []byte, no *int64) (*bytes.Buffer, int, error) {
	var lines bytes.Buffer
	in := json.NewDecoder(bytes.NewReader(body))
	items, numbered, listed := 0, false, false
	if !delimited(in, '{') {
		return nil, 0, malformedBatch
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, 0, malformedBatch
		}
		switch {
		case key == "no" && !numbered:
			numbered = true
			if err := in.Decode(no); err != nil {
				return nil, 0, malformedBatch
			}
		case key == "items" && !listed:
			listed = true
			if !delimited(in, '[') {
				return nil, 0, malformedBatch
			}
			for in.More() {
				if items++; items > sources.MostItems {
					return nil, 0, &refusal{status: http.StatusRequestEntityTooLarge, code: "batch_large", most: sources.MostItems}
				}
				var item json.RawMessage
				if err := in.Decode(&item); err != nil || json.Compact(&lines, item) != nil {
					return nil, 0, malformedBatch
				}
				lines.WriteByte('\n')
			}
			if !delimited(in, ']') {
				return nil, 0, malformedBatch
			}
		default: // a misspelt "items" would make a load without any
			return nil, 0, malformedBatch
		}
	}
	if !delimited(in, '}') || !numbered || !listed {
		return nil, 0, malformedBatch
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, 0, malformedBatch
	}
	return &lines, items, nil
}

// delimited reads a sign of JSON, and reports whether it was this one.
func delimited(in *json.Decoder, sign json.Delim) bool {
	t, err := in.Token()
	return err == nil && t == sign
}
