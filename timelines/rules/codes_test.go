package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines/rules"
)

// TestCodesAreRows: G6. An error about a field of a post, a comment, a draft, a destination, a file or a
// listing has a code of the table: none is made up where it is checked.
func TestCodesAreRows(t *testing.T) {
	t.Parallel()
	known := map[string][]string{}
	for _, of := range []rules.Thing{rules.Post, rules.Comment, rules.Draft, rules.Destination, rules.File, rules.Listing} {
		for _, r := range rules.For(of) {
			known[r.Field] = append(known[r.Field], r.Code)
		}
	}
	read := 0
	for _, pattern := range []string{"../*.go", "../drafts/*.go", "../files/*.go", "../listings/*.go", "../scheduled/*.go", "../../web/*.go", "../../rivers/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			// The files and places of sources are other things (TestCodesHaveTexts).
			if base := filepath.Base(name); strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "source") {
				continue
			}
			read++
			for _, e := range invalidErrors(t, name) {
				if codes, is := known[e["Field"]]; is && !slices.Contains(codes, e["Code"]) {
					t.Errorf("%s: the field %s has the code %q, which is not in the table", name, e["Field"], e["Code"])
				}
			}
		}
	}
	if read < 100 {
		t.Errorf("read %d files only", read)
	}
}

// invalidErrors are the literals of InvalidError in a file, by the names of their fields.
func invalidErrors(t *testing.T, name string) []map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []map[string]string
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if s, ok := literal.Type.(*ast.SelectorExpr); ok && s.Sel.Name != "InvalidError" {
			return true
		} else if i, ok := literal.Type.(*ast.Ident); ok && i.Name != "InvalidError" {
			return true
		}
		e := map[string]string{}
		for _, element := range literal.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, named := pair.Key.(*ast.Ident)
			if value, ok := pair.Value.(*ast.BasicLit); ok && named && value.Kind == token.STRING {
				e[key.Name], _ = strconv.Unquote(value.Value)
			}
		}
		found = append(found, e)
		return true
	})
	return found
}

// TestRowsStandInTheTable: a rule that is declared is in the table, so that the page and the tests see it.
func TestRowsStandInTheTable(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared, listed []string
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			name := v.Names[0].Name
			switch value := v.Values[0].(type) {
			case *ast.CallExpr:
				declared = append(declared, name)
			case *ast.CompositeLit:
				if name == "Table" {
					for _, e := range value.Elts {
						listed = append(listed, e.(*ast.Ident).Name)
					}
				} else if kind, ok := value.Type.(*ast.Ident); ok && kind.Name == "Rule" {
					declared = append(declared, name)
				}
			}
		}
	}
	if len(declared) != len(rules.Table) || len(declared) < 50 {
		t.Errorf("%d rules are declared, the table has %d", len(declared), len(rules.Table))
	}
	for _, name := range declared {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not in the table", name)
		}
	}
}
