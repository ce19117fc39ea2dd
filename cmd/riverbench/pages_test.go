package main

import (
	"slices"
	"testing"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/site"
	"riverrun/cmd/riverbench/town"
)

// The row single asks for every post of every home page, and people take turns.
func TestSinglePages(t *testing.T) {
	ann, bob := &load.Person{Name: "ann"}, &load.Person{Name: "bob"}
	b := &bench{people: []*load.Person{ann, bob}, homes: map[*load.Person]home{
		ann: {page: load.Page{Posts: []string{"a1", "a2", "a3"}}},
		bob: {page: load.Page{Posts: []string{"b1"}}},
	}}
	got := singlePages(b)
	want := []visit{{ann, "/p/a1"}, {bob, "/p/b1"}, {ann, "/p/a2"}, {ann, "/p/a3"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The row user asks for pages of others, and none of them is private.
func TestUserPages(t *testing.T) {
	b := &bench{site: &site.Site{Town: town.New(1, 0.01, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}}
	private := map[string]bool{}
	for _, p := range b.site.Town.People() {
		private["/"+p.Name] = p.Private
		b.people = append(b.people, &load.Person{Name: p.Name})
	}
	all := userPages(b)
	if len(all) != len(b.people) {
		t.Errorf("got %d pages for %d people", len(all), len(b.people))
	}
	for _, v := range all {
		if is, known := private[v.path]; is || !known || v.path == "/"+v.by.Name {
			t.Errorf("%s asks for %s, which is private, their own or nobody's", v.by.Name, v.path)
		}
	}
}
