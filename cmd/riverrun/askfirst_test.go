package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unaskedToo are the functions of the web that carry a change without asking first whether its sender may make one, with
// the reason.
var unaskedToo = map[string]string{
	"web.Server.agreeTo":             "nothing else may be done before it, and it changes something once for each version of the rules",
	"web.Server.begun":               "a sign-in comes before it, and sign-ins have limits of their own",
	"web.invitations.carryOwn":       "its callers make the change, and ask first",
	"web.notifications.seenAlerts":   "a page does it as it is shown, once for each alert",
	"web.pushAPI.apply":              "the program of a source has limits of its own, of requests and of bytes",
	"web.reporting.own":              "a page does it as it is shown, once for each answer",
	"web.signing.choosePassword":     "nobody is signed in yet, and the address has the limit of sign-ins",
	"web.signing.keep":               "nobody is signed in, and the link can be used once",
	"web.signing.logout":             "one may always sign out",
	"web.signing.signUp":             "nobody has the account yet, and the address has a limit of sign-ups",
	"web.sourcePages.tellOf":         "its caller asks first, and it belongs to what the caller did",
	"web/api.API.registerModeration": "the programs of moderators give more opinions than people write; each token has its limit of calls",
}

// unasked returns the functions that carry a change, and in which no call of mayChange or one like it must have come before
// that. Such a call takes one from the limit of changes, and refuses a form that was only to be shown again. A function
// that carries a change that it was given is not meant: its caller made the change.
func (cs changeCalls) unasked(files []*ast.File) map[string]token.Position {
	found := map[string]token.Position{}
	cs.calls(files, func(call *ast.CallExpr, path []ast.Node) {
		isGiven := len(call.Args) >= 2 && cs.isParameter(call.Args[len(call.Args)-2])
		if cs.carries(call) && !isGiven && !cs.isAsked(path) {
			found[cs.functionName(path)] = cs.fset.Position(call.Pos())
		}
	})
	return found
}

// isAsked reports whether a statement that asks comes before the end of path, in the same function or, for a closure, in one
// around it, and runs whenever that does.
func (cs changeCalls) isAsked(path []ast.Node) bool {
	for i := len(path) - 1; i > 0; i-- {
		switch around := path[i-1].(type) {
		case *ast.IfStmt:
			if around.Init != path[i] && cs.asks(around.Init, append(path[:i:i], around.Init)) {
				return true
			}
		default:
			for _, s := range statementsIn(around) {
				if s == path[i] {
					break
				}
				if _, another := s.(*ast.CaseClause); !another && cs.asks(s, append(path[:i:i], s)) {
					return true
				}
			}
		}
	}
	return false
}

// asks reports whether a statement, at the end of path, begins with a call that asks, and whether something takes the
// answer. It does not look at what follows a refusal.
func (cs changeCalls) asks(s ast.Stmt, path []ast.Node) bool {
	switch s := s.(type) {
	case *ast.IfStmt:
		return cs.asks(s.Init, append(slices.Clip(path), s.Init))
	case *ast.AssignStmt:
		call, ok := s.Rhs[0].(*ast.CallExpr)
		return ok && slices.Contains([]string{"mayChange", "MayChange", "mayWrite", "MayWrite"}, calledName(call.Fun)) && errorIsTaken(path)
	}
	return false
}

// functionName is the name of the declared function on a path, as in web/adminpages.Pages.claim.
func (cs changeCalls) functionName(path []ast.Node) string {
	for _, n := range path {
		decl, ok := n.(*ast.FuncDecl)
		if !ok {
			continue
		}
		fn := cs.info.Defs[decl.Name].(*types.Func)
		name := fn.Name()
		if recv := fn.Signature().Recv(); recv != nil {
			of := recv.Type()
			if p, ok := of.(*types.Pointer); ok {
				of = p.Elem()
			}
			name = types.TypeString(of, func(*types.Package) string { return "" }) + "." + name
		}
		return strings.TrimPrefix(fn.Pkg().Path(), module+"/") + "." + name
	}
	return "a variable" // a closure that is no part of a function
}

func TestChangesCarriedUnaskedAreFound(t *testing.T) {
	const head = `package p
		type Change struct{}
		type server struct{}
		func (server) mayChange() error { return nil }
		func (server) mayWrite() (int, error) { return 0, nil }
		func (server) Carry(c Change, err error) (Change, error) { return c, err }
		func (s server) carry(n int) func(Change, error) (Change, error) {
			return func(c Change, err error) (Change, error) { return s.Carry(c, err) }
		}
		func (server) like() (Change, error) { return Change{}, nil }
		func (s *server) handle(may bool) (err error) {
	`
	for _, tc := range []struct {
		body  string
		asked bool
	}{
		{`if err := s.mayChange(); err != nil { return err }; _, err = s.carry(1)(s.like())`, true},
		{`if err = s.mayChange(); err == nil { _, err = s.carry(1)(s.like()) }`, true},
		{`err = s.mayChange(); switch { case err != nil: case may: _, err = s.carry(1)(s.like()) }`, true},
		{`_, err = s.mayWrite(); if err == nil { c, err := s.like(); _, err = s.Carry(c, err); return err }`, true},
		{`err = s.mayChange(); if err == nil { func() { _, err = s.Carry(Change{}, err) }() }`, true},
		{`return func() error { if err := s.mayChange(); err != nil { return err }; _, err := s.carry(1)(s.like()); return err }()`, true},
		{`_, err = s.carry(1)(s.like())`, false},
		{`_, err = s.Carry(Change{}, err)`, false},
		{`_, err = s.carry(1)(s.like()); if err == nil { err = s.mayChange() }`, false},
		{`if may { if err := s.mayChange(); err != nil { return err } }; _, err = s.carry(1)(s.like())`, false},
		{`switch { case may: if err := s.mayChange(); err != nil { return err }; default: _, err = s.carry(1)(s.like()) }`, false},
		{`ask := func() error { err := s.mayChange(); return err }; _ = ask; _, err = s.carry(1)(s.like())`, false},
		{`s.mayChange(); _, err = s.carry(1)(s.like())`, false},
		{`_ = s.mayChange(); _, err = s.carry(1)(s.like())`, false},
	} {
		cs, files := read(t, head+tc.body+"\nreturn err }")
		want := []string{"p.server.handle"}
		if tc.asked {
			want = nil
		}
		if diff := cmp.Diff(want, slices.Collect(maps.Keys(cs.unasked(files)))); diff != "" {
			t.Errorf("%s: functions that do not ask first (-want +got):\n%s", tc.body, diff)
		}
	}
}
