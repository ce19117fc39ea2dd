package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUncarriedChangesAreFound shows small functions to the rules of TestEveryChangeIsCarried.
func TestUncarriedChangesAreFound(t *testing.T) {
	const head = `package p
		type Change struct{}
		type tiers struct{}
		func (tiers) Carry(n int, c Change, err error) (Change, error) { return c, err }
		var t tiers
		func carry(n int) func(Change, error) (Change, error) {
			return func(c Change, err error) (Change, error) { return t.Carry(n, c, err) }
		}
		func like() (Change, error) { return Change{}, nil }
		func wrap() (Change, error) { return like() }
		func posted() (Change, error) { _, c, err := post(); return c, err }
		func post() (int, Change, error) { return 0, Change{}, nil }
		func bare() Change { return Change{} }
		type carrying func(Change, error) (Change, error)
		func step(do func(carrying) error) error { return do(carry(1)) }
		func work(may bool) (err error) {
			var other error
			_ = other
	`
	for _, tc := range []struct {
		body string
		lost int // those that are lost, and those whose error is
	}{
		{`c, err := like(); _, err = t.Carry(1, c, err); return err`, 0},
		{`c, err := wrap(); c, err = t.Carry(1, c, err); return err`, 0},
		{`c, err := like(); if _, err := t.Carry(1, c, err); err != nil { return err }`, 0},
		{`_, err = carry(1)(like()); return err`, 0},
		{`_, c, err := post(); _, err = t.Carry(1, c, err); return err`, 0},
		{`switch { case may: c, err := like(); _, err = carry(1)(c, err); return err }`, 0},
		{`made := func() (Change, error) { return like() }; _, err = carry(1)(made())`, 0},
		{`_, err = carry(1)(Change{}, nil)`, 0},
		{`_, err = like(); return err`, 1},
		{`like()`, 1},
		{`go wrap()`, 1},
		{`posted()`, 1},
		{`made := func() (Change, error) { _, err := like(); return Change{}, err }; _, err = carry(1)(made())`, 1},
		{`bare()`, 1},
		{`c, err := like(); if err != nil { return err }; _, err = t.Carry(1, c, err)`, 1},
		{`c, err := like(); may = true; _, err = t.Carry(1, c, err)`, 1},
		{`c, err := like(); _, err = t.Carry(1, c, other)`, 1},
		{`c, err := like(); c, err = wrap(); _, err = t.Carry(1, c, err)`, 1},
		{`_, _, err = post()`, 1},
		{`made := func() (Change, error) { return like() }; _, err = made()`, 1},

		{`carry(1)(like())`, 1},
		{`go carry(1)(like())`, 1},
		{`defer carry(1)(like())`, 1},
		{`_, _ = carry(1)(like())`, 1},
		{`var _, _ = carry(1)(like())`, 1},
		{`c, err := like(); _, _ = t.Carry(1, c, err)`, 1},
		{`c, err := like(); c, _ = t.Carry(1, c, err)`, 1},

		{`return func(carry func(Change, error) (Change, error)) error { _, err := carry(like()); return err }(carry(1))`, 0},
		{`return step(func(carry carrying) error { c, err := like(); _, err = carry(c, err); return err })`, 0},
		{`return step(func(carry carrying) error { _, err := like(); return err })`, 1},
		{`return step(func(carry carrying) error { c, err := like(); may = true; _, err = carry(c, err); return err })`, 1},
		{`return step(func(carry carrying) error { carry(like()); return nil })`, 1},
		{`return step(func(carried carrying) error { carry := func(c Change, err error) (Change, error) { return c, err }; _, err := carry(like()); return err })`, 2},
	} {
		cs, files := read(t, head+tc.body+"\nreturn err }")
		_, lost := cs.uncarried(files)
		if diff := cmp.Diff(tc.lost, len(lost)); diff != "" {
			t.Errorf("%s: changes that are lost (-want +got):\n%s%s", tc.body, diff, strings.Join(lost, "\n"))
		}
	}
}

// TestUncarriedChangesAreFoundWhereCarryIsGiven does the same for a package that is looked at only where a function is
// given a Carry.
func TestUncarriedChangesAreFoundWhereCarryIsGiven(t *testing.T) {
	const head = `package p
		type Change struct{}
		type carrying func(Change, error) (Change, error)
		func like() (Change, error) { return Change{}, nil }
	`
	for _, tc := range []struct {
		function string
		carried  int
		lost     int
	}{
		{`func step() error { _, err := like(); return err }`, 0, 0},
		{`func step(made func() (Change, error)) error { _, err := made(); return err }`, 0, 0},
		{`func step(carry carrying) error { c, err := like(); _, err = carry(c, err); return err }`, 1, 0},
		{`func step(carry func(Change, error) (Change, error)) error { _, err := carry(like()); return err }`, 1, 0},
		{`func step(carry carrying) error { _, err := like(); return err }`, 0, 1},
		{`func step(carry carrying) { func() { like() }() }`, 0, 1},
		{`func step(carry carrying) { carry(like()) }`, 1, 1},
	} {
		cs, files := read(t, head+tc.function)
		cs.given = true
		carried, lost := cs.uncarried(files)
		if carried != tc.carried || len(lost) != tc.lost {
			t.Errorf("%s: got %d carried and %d lost, want %d and %d\n%s", tc.function, carried, len(lost), tc.carried, tc.lost, strings.Join(lost, "\n"))
		}
	}
}

// read reads a package p of one file, which has a Change.
func read(t *testing.T, source string) (changeCalls, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{}).Check("p", fset, []*ast.File{file}, info); err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return changeCalls{fset: fset, info: info, of: "p"}, []*ast.File{file}
}
