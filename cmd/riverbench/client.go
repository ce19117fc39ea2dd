package main

import (
	"context"
	"errors"
	"path"
	"regexp"
	"strings"

	"riverrun/cmd/riverbench/report"
)

var clientForm = regexp.MustCompile(`<(?:script|link) [^>]*(?:src|href)="([^"]+\.(?:js|css)[^"]*)"`)

// client measures the scripts and styles of a home page.
func client(ctx context.Context, b *bench) ([]report.Figure, error) {
	p := b.people[0]
	text, err := p.Get(ctx, "/")
	if err != nil {
		return nil, err
	}
	bytes := map[string]int{}
	for _, m := range clientForm.FindAllStringSubmatch(text, -1) {
		a, err := p.GetAs(ctx, m[1], "gzip")
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(m[1], "?")
		bytes[path.Ext(name)] += len(a.Body)
	}
	if bytes[".js"] == 0 || bytes[".css"] == 0 {
		return nil, errors.New("the home page names no scripts or no styles")
	}
	return []report.Figure{
		figure("scripts, compressed", "kB", float64(bytes[".js"])/1000, 0),
		figure("styles, compressed", "kB", float64(bytes[".css"])/1000, 0),
	}, nil
}
