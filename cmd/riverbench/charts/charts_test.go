package charts

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"riverrun/cmd/riverbench/ramps"
)

func run(ramp, figure string, values ...float64) *ramps.Run {
	r := &ramps.Run{}
	for i, v := range values {
		for _, content := range []string{ramps.Linked, ramps.Embedded} {
			r.Points = append(r.Points, ramps.Point{
				Ramp: ramp, Strategy: "timed", Content: content, X: float64(1 + 10*i), Values: map[string]float64{figure: v},
			})
		}
	}
	return r
}

// Each chart is XML, and has a line and a name for each strategy and content.
func TestDraw(t *testing.T) {
	for _, c := range All {
		var b bytes.Buffer
		if err := c.Draw(&b, run(c.Ramp, c.Figure, 3, 0.7, 40_000)); err != nil {
			t.Errorf("%s: %v", c.File, err)
			continue
		}
		text := b.String()
		for _, want := range []string{">timed</text>", ">timed, embedded</text>", "prefers-color-scheme:dark"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", c.File, want)
			}
		}
		if got := strings.Count(text, "<polyline"); got != 2 {
			t.Errorf("%s: got %d lines, want 2", c.File, got)
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s has a place that is no number:\n%s", c.File, text)
		}
		d := xml.NewDecoder(&b)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", c.File, err)
				break
			}
		}
	}
}

// Names of lines that end at one place stand apart.
func TestLabelsDoNotCoverEachOther(t *testing.T) {
	r := &ramps.Run{}
	for i := range 8 {
		r.Points = append(r.Points, ramps.Point{Ramp: "followers", Strategy: fmt.Sprint("s", i), X: 1, Values: map[string]float64{ramps.Rows: 7}})
	}
	var b bytes.Buffer
	if err := (Chart{Ramp: "followers", Figure: ramps.Rows}).Draw(&b, r); err != nil {
		t.Fatal(err)
	}
	at := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, `">s`) {
			_, y, _ := strings.Cut(line, ` y="`)
			y, _, _ = strings.Cut(y, `"`)
			at[y] = true
		}
	}
	if len(at) != 8 {
		t.Errorf("8 names stand at %d heights", len(at))
	}
}

func TestNothingToDraw(t *testing.T) {
	if err := All[0].Draw(io.Discard, &ramps.Run{}); err == nil {
		t.Error("a chart without points: no error")
	}
}

// The charts beside web/doc/strategies.md are drawn from the run beside them.
func TestChartsOfTheDocument(t *testing.T) {
	const dir = "../../../web/doc/strategies/"
	f, err := os.Open(dir + "run.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ramps.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range All {
		want, err := os.ReadFile(dir + c.File)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := c.Draw(&got, r); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is drawn otherwise now (%v): run riverbench charts", c.File, err)
		}
	}
}
