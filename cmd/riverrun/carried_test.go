package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestEveryChangeIsCarried holds that each timelines.Change that is made goes to Carry (tiers.Tiers) with the
// next statement, and that something takes the error of Carry. Otherwise the change is committed, and the pages of its
// actor do not show it until its job has run; a narrowing would not hold when it is acknowledged. The packages of
// timelines know no tiers: they return their changes, and those of their functions that are given a Carry are held to
// the same. On the web, a check comes before each change too (askfirst_test.go).
func TestEveryChangeIsCarried(t *testing.T) {
	found, err := packages.Load(&packages.Config{
		Context: t.Context(), Dir: "../..",
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	carried, given, unasked := 0, 0, map[string]token.Position{}
	for _, p := range found {
		for _, err := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, err)
		}
		if in(p.PkgPath, uncarriedToo) {
			continue
		}
		cs := changeCalls{fset: p.Fset, info: p.TypesInfo, of: module + "/timelines", given: folder(p.PkgPath) == "timelines"}
		n, lost := cs.uncarried(p.Syntax)
		if cs.given {
			given += n
		} else {
			carried += n
		}
		for _, l := range lost {
			t.Error(l)
		}
		if in(p.PkgPath, []string{"web"}) {
			maps.Copy(unasked, cs.unasked(p.Syntax))
		}
	}
	if carried < 50 || given == 0 {
		t.Errorf("%d changes are carried in %d packages, and %d by functions that are given a Carry: the test does not see them", carried, len(found), given)
	}
	for name, at := range unasked {
		if _, known := unaskedToo[name]; !known {
			t.Errorf("%s: %s carries a change and does not ask first, by mayChange, MayChange or mayWrite, whether its sender may", at, name)
		}
	}
	for name, why := range unaskedToo {
		if _, still := unasked[name]; !still {
			t.Errorf("%s need not be an exception (%s): it asks first, or carries no change", name, why)
		}
	}
}

// uncarriedToo are packages whose changes need not be carried: tests do as they like, and riverbench fills a site before
// anybody reads it.
var uncarriedToo = append([]string{"cmd/riverbench"}, harnesses...)

// changeCalls finds the calls of a package that return a Change.
type changeCalls struct {
	fset *token.FileSet
	info *types.Info
	of   string // the package of Change
	// given: look only into functions that have a Carry as a parameter.
	given bool
}

// uncarried counts the calls whose Change is carried, and describes those whose Change is not, and the calls of Carry whose
// error nothing takes. A function may return the Change of a call as it is: then the calls of that function are looked at
// in the same way.
func (cs changeCalls) uncarried(files []*ast.File) (carried int, lost []string) {
	cs.calls(files, func(call *ast.CallExpr, path []ast.Node) {
		switch {
		case cs.given && !cs.isGivenCarry(path):
		case cs.carries(call):
			if !errorIsTaken(path) {
				lost = append(lost, fmt.Sprintf("%s: nothing takes the error of %s", cs.fset.Position(call.Pos()), types.ExprString(call.Fun)))
			}
		case !cs.makes(call):
		case cs.isCarried(call, path):
			carried++
		case !cs.isReturned(path):
			lost = append(lost, fmt.Sprintf("%s: the change of %s must go to Carry with the next statement",
				cs.fset.Position(call.Pos()), types.ExprString(call.Fun)))
		}
	})
	return carried, lost
}

// calls calls do for each call in these files. path is the way from the file to the call.
func (cs changeCalls) calls(files []*ast.File, do func(call *ast.CallExpr, path []ast.Node)) {
	for _, file := range files {
		var path []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				path = path[:len(path)-1]
				return true
			}
			if call, ok := n.(*ast.CallExpr); ok {
				do(call, path)
			}
			path = append(path, n)
			return true
		})
	}
}

// errorIsTaken reports whether the last result of a call, an error, goes to a variable, a call or a return. path is the
// way from the file to the call. staticcheck finds a variable that nothing reads afterwards.
func errorIsTaken(path []ast.Node) bool {
	switch around := path[len(path)-1].(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt, *ast.ValueSpec:
		return false
	case *ast.AssignStmt:
		err, ok := around.Lhs[len(around.Lhs)-1].(*ast.Ident)
		return !ok || err.Name != "_"
	}
	return true
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

// isCarry reports whether something of this type may be a Carry: it is a function whose last parameters are a change and an
// error.
func (cs changeCalls) isCarry(t types.Type) bool {
	if t == nil {
		return false
	}
	sig, ok := t.Underlying().(*types.Signature)
	return ok && sig.Params().Len() >= 2 && cs.isChange(sig.Params().At(sig.Params().Len()-2).Type())
}

// carries reports whether a call is one of Carry, of a Carry that the function was given, or of what a function carry
// returned.
func (cs changeCalls) carries(call *ast.CallExpr) bool {
	if !cs.isCarry(cs.info.TypeOf(call.Fun)) {
		return false
	}
	switch fn := ast.Unparen(call.Fun).(type) {
	case *ast.CallExpr:
		return calledName(fn.Fun) == "carry"
	case *ast.Ident:
		return cs.isParameter(fn)
	}
	return calledName(call.Fun) == "Carry"
}

// isParameter reports whether an expression is a parameter of a function.
func (cs changeCalls) isParameter(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := cs.info.ObjectOf(id).(*types.Var)
	return ok && v.Kind() == types.ParamVar
}

// isGivenCarry reports whether a function on the path has a Carry as a parameter.
func (cs changeCalls) isGivenCarry(path []ast.Node) bool {
	return slices.ContainsFunc(path, func(n ast.Node) bool {
		fn := functionType(n)
		return fn != nil && slices.ContainsFunc(fn.Params.List, func(f *ast.Field) bool { return cs.isCarry(cs.info.TypeOf(f.Type)) })
	})
}

// functionType returns the type of a function that is declared, or is a closure; nil: it is neither.
func functionType(n ast.Node) *ast.FuncType {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Type
	case *ast.FuncLit:
		return n.Type
	}
	return nil
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

// statementsIn returns the list of statements that a block or a case holds.
func statementsIn(within ast.Node) []ast.Stmt {
	switch within := within.(type) {
	case *ast.BlockStmt:
		return within.List
	case *ast.CaseClause:
		return within.Body
	case *ast.CommClause:
		return within.Body
	}
	return nil
}

// following returns the statement after s in a list of statements, or nil.
func following(s ast.Stmt, within ast.Node) ast.Stmt {
	list := statementsIn(within)
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
