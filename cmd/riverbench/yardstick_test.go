package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riverrun/cmd/riverbench/report"
)

func TestJudge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "baseline.json")
	runOf := func(home ...float64) *report.Run {
		return &report.Run{Figures: []report.Figure{{Row: "home", Name: "p50", Values: []float64{99}}, {Row: "home", Name: inYardsticks, Values: home}}}
	}
	o := &options{baseline: file}
	if err := judge(o, runOf(10), io.Discard); err == nil || !strings.Contains(err.Error(), "-update") {
		t.Errorf("without a file: got %v, want one that names -update", err)
	}
	o.update = true
	if err := judge(o, runOf(9, 10, 30), io.Discard); err != nil {
		t.Fatal(err)
	}
	o.update = false
	if err := judge(o, runOf(1, 15, 40), io.Discard); err != nil {
		t.Errorf("half again as much: %v", err)
	}
	if err := judge(o, runOf(1, 15.1, 40), io.Discard); err == nil {
		t.Error("more than half again as much: no error")
	}
	other := &report.Run{Figures: []report.Figure{{Row: "like", Name: inYardsticks, Values: []float64{3}}}}
	o.update = true
	if err := judge(o, other, io.Discard); err != nil {
		t.Fatal(err)
	}
	o.update = false
	if err := judge(o, other, io.Discard); err != nil {
		t.Errorf("like: %v", err)
	}
	if err := judge(o, runOf(15), io.Discard); err != nil {
		t.Errorf("home, after an update by another row: %v", err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := judge(o, runOf(10), io.Discard); err == nil {
		t.Error("a row that the file lacks: no error")
	}
}
