package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

// TestEveryChangeIsCarried holds that each timelines.Change that is made goes to Carry (tiers.Tiers) with the
// next statement. A change that does not is committed, and the pages of who made it do not show it until its job
// has run; a narrowing would not hold when it is acknowledged. The packages of timelines make changes and
// know no tiers.
func TestEveryChangeIsCarried(t *testing.T) {
	found, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: "../..",
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	carried := 0
	for _, p := range found {
		for _, err := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, err)
		}
		if folder(p.PkgPath) == "timelines" || in(p.PkgPath, uncarriedToo) {
			continue
		}
		n, lost := uncarried(p.Fset, p.Syntax, p.TypesInfo, module+"/timelines")
		carried += n
		for _, l := range lost {
			t.Error(l)
		}
	}
	if carried < 50 {
		t.Errorf("%d changes are carried in %d packages: the test does not see them", carried, len(found))
	}
}

// uncarriedToo are packages whose changes need not be carried: tests do as they like, and riverbench fills a site before
// anybody reads it.
var uncarriedToo = append([]string{"cmd/riverbench"}, harnesses...)

// changeCalls finds the calls of a package that return a Change.
type changeCalls struct {
	info *types.Info
	of   string // the package of Change
}

// uncarried counts the calls whose Change is carried, and describes those whose Change is not. A function may return the
// Change of a call as it is: then the calls of that function are looked at in the same way.
func uncarried(fset *token.FileSet, files []*ast.File, info *types.Info, of string) (carried int, lost []string) {
	cs := changeCalls{info, of}
	for _, file := range files {
		var path []ast.Node // from the file to the node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if call, ok := n.(*ast.CallExpr); ok && cs.makes(call) && !cs.carries(call) {
				switch {
				case cs.isCarried(call, path):
					carried++
				case !cs.isReturned(path):
					lost = append(lost, fmt.Sprintf("%s: the change of %s must go to Carry with the next statement",
						fset.Position(call.Pos()), types.ExprString(call.Fun)))
				}
			}
			path = append(path, n)
			return true
		})
	}
	return carried, lost
}

// makes reports whether a Change is among the results of a call.
func (cs changeCalls) makes(call *ast.CallExpr) bool {
	of := cs.info.Types[call]
	if tuple, ok := of.Type.(*types.Tuple); ok {
		return slices.ContainsFunc(slices.Collect(tuple.Variables()), func(v *types.Var) bool { return cs.isChange(v.Type()) })
	}
	return of.IsValue() && cs.isChange(of.Type)
}

func (cs changeCalls) isChange(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "Change" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == cs.of
}

// carries reports whether a call is one of Carry, or of what a function carry returned: its last parameters are a change
// and an error.
func (cs changeCalls) carries(call *ast.CallExpr) bool {
	sig, ok := cs.info.TypeOf(call.Fun).(*types.Signature)
	if !ok || sig.Params().Len() < 2 || !cs.isChange(sig.Params().At(sig.Params().Len()-2).Type()) {
		return false
	}
	if made, ok := ast.Unparen(call.Fun).(*ast.CallExpr); ok {
		return calledName(made.Fun) == "carry"
	}
	return calledName(call.Fun) == "Carry"
}

// calledName is the name of the function that is called.
func calledName(fn ast.Expr) string {
	switch fn := ast.Unparen(fn).(type) {
	case *ast.Ident:
		return fn.Name
	case *ast.SelectorExpr:
		return fn.Sel.Name
	}
	return ""
}

// isCarried reports whether the results of a call are the arguments of a Carry, or its change and its error are those of the
// Carry in the next statement.
func (cs changeCalls) isCarried(call *ast.CallExpr, path []ast.Node) bool {
	switch around := path[len(path)-1].(type) {
	case *ast.CallExpr:
		return cs.carries(around) && len(around.Args) == 1 && around.Args[0] == call
	case *ast.AssignStmt:
		next := cs.carryOf(following(around, path[len(path)-2]))
		return next != nil && cs.passesOn(around, next.Args)
	}
	return false
}

// passesOn reports whether the last of these expressions are the change and the error that were assigned.
func (cs changeCalls) passesOn(s *ast.AssignStmt, list []ast.Expr) bool {
	at := slices.IndexFunc(s.Lhs, func(x ast.Expr) bool { return cs.isChange(cs.info.TypeOf(x)) })
	return at >= 0 && len(s.Rhs) == 1 && len(list) >= 2 &&
		cs.same(s.Lhs[at], list[len(list)-2]) && cs.same(s.Lhs[len(s.Lhs)-1], list[len(list)-1])
}

// same reports whether two expressions are one variable.
func (cs changeCalls) same(a, b ast.Expr) bool {
	x, ok := a.(*ast.Ident)
	y, ok2 := b.(*ast.Ident)
	return ok && ok2 && cs.info.ObjectOf(x) != nil && cs.info.ObjectOf(x) == cs.info.ObjectOf(y)
}

// carryOf returns the Carry that a statement begins with, or nil.
func (cs changeCalls) carryOf(s ast.Stmt) *ast.CallExpr {
	var first ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		first = s.Rhs[0]
	case *ast.IfStmt:
		return cs.carryOf(s.Init)
	case *ast.ReturnStmt:
		if len(s.Results) > 0 {
			first = s.Results[0]
		}
	}
	if call, ok := first.(*ast.CallExpr); ok && cs.carries(call) {
		return call
	}
	return nil
}

// following returns the statement after s in a list of statements, or nil.
func following(s ast.Stmt, within ast.Node) ast.Stmt {
	var list []ast.Stmt
	switch within := within.(type) {
	case *ast.BlockStmt:
		list = within.List
	case *ast.CaseClause:
		list = within.Body
	case *ast.CommClause:
		list = within.Body
	}
	if i := slices.Index(list, s); i >= 0 && i+1 < len(list) {
		return list[i+1]
	}
	return nil
}

// isReturned reports whether a return statement returns what a call returned, or its change and its error.
func (cs changeCalls) isReturned(path []ast.Node) bool {
	switch around := path[len(path)-1].(type) {
	case *ast.ReturnStmt:
		return len(around.Results) == 1
	case *ast.AssignStmt:
		next, ok := following(around, path[len(path)-2]).(*ast.ReturnStmt)
		return ok && cs.passesOn(around, next.Results)
	}
	return false
}

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
		func work(may bool) (err error) {
			var other error
			_ = other
	`
	for _, tc := range []struct {
		body string
		lost int
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
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", head+tc.body+"\nreturn err }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", tc.body, err)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{}).Check("p", fset, []*ast.File{file}, info); err != nil {
			t.Fatalf("%s: %v", tc.body, err)
		}
		_, lost := uncarried(fset, []*ast.File{file}, info, "p")
		if diff := cmp.Diff(tc.lost, len(lost)); diff != "" {
			t.Errorf("%s: changes that are lost (-want +got):\n%s%s", tc.body, diff, strings.Join(lost, "\n"))
		}
	}
}
