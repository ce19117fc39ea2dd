package main

import (
	"go/ast"
	"go/types"
	"slices"
)

// errorIsRead reports whether something reads the last result of a call, an error, before it is gone. path is the way from
// the file to the call.
func (cs changeCalls) errorIsRead(path []ast.Node) bool {
	switch around := path[len(path)-1].(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt, *ast.ValueSpec:
		return false
	case *ast.AssignStmt:
		err, ok := around.Lhs[len(around.Lhs)-1].(*ast.Ident)
		return !ok || err.Name != "_" && cs.isReadAfter(path, cs.info.ObjectOf(err))
	}
	return true // it is an argument or a result
}

// isReadAfter reports whether a variable is read after the statement at the end of path, before it is written again. Where
// that depends on a condition, the first place in the text counts.
func (cs changeCalls) isReadAfter(path []ast.Node, v types.Object) bool {
	for i := len(path) - 1; i > 0; i-- {
		for _, n := range comesAfter(path[i], path[i-1]) {
			if read, found := cs.firstUse(n, v); found {
				return read
			}
			if end, ok := n.(*ast.ReturnStmt); ok {
				return len(end.Results) == 0 && cs.isResult(v, path[:i])
			}
		}
		if functionType(path[i-1]) != nil {
			return false
		}
	}
	return false
}

// comesAfter returns what may run after a node within the one around it.
func comesAfter(n, around ast.Node) []ast.Node {
	var after []ast.Node
	switch around := around.(type) {
	case *ast.IfStmt:
		if around.Init == n {
			after = append(after, around.Cond, around.Body)
			if around.Else != nil {
				after = append(after, around.Else)
			}
		}
	case *ast.ForStmt, *ast.RangeStmt:
		after = append(after, around) // the next round
	default:
		list := statementsIn(around)
		at := slices.IndexFunc(list, func(s ast.Stmt) bool { return s == n })
		if _, another := n.(*ast.CaseClause); at < 0 || another {
			return nil
		}
		for _, s := range list[at+1:] {
			after = append(after, s)
		}
	}
	return after
}

// firstUse finds the first place in a node where a variable is read or written.
func (cs changeCalls) firstUse(within ast.Node, v types.Object) (read, found bool) {
	ast.Inspect(within, func(n ast.Node) bool {
		if found {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Rhs {
				if read, found = cs.firstUse(x, v); found {
					return false
				}
			}
			found = slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool {
				id, ok := x.(*ast.Ident)
				return ok && cs.info.ObjectOf(id) == v
			})
			return !found
		case *ast.Ident:
			found = cs.info.ObjectOf(n) == v
			read = found && cs.info.Uses[n] == v
		}
		return true
	})
	return read, found
}

// isResult reports whether a variable is a named result of the function at the end of path.
func (cs changeCalls) isResult(v types.Object, path []ast.Node) bool {
	for _, n := range slices.Backward(path) {
		fn := functionType(n)
		if fn == nil {
			continue
		}
		return fn.Results != nil && slices.ContainsFunc(fn.Results.List, func(f *ast.Field) bool {
			return slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return cs.info.Defs[id] == v })
		})
	}
	return false
}
