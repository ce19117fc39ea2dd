package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"riverrun/timelines/tokens"
)

// By is how a call proves that it may be made: a security scheme of the document.
type By string

// The ways. A call of a hub has a secret address.
const (
	ByToken  By = "token"
	BySource By = "source"
	ByHub    By = ""
)

// Operation is an operation as the OpenAPI document describes it, for a page.
type Operation struct {
	ID, Method, Path     string
	Summary, Description string
	By                   By
	Scope                tokens.Scope // of ByToken
	// Sent are parameters and fields of the body, Answered are fields of the answer.
	Sent, Answered []Field
}

// Field is a parameter, or a field of a body or an answer.
type Field struct {
	Name string
	// In is where a parameter stands: path, query or header; empty for a field.
	In       string
	Type     string
	Of       string // the name of a Type, if it is made of fields of its own
	Required bool
	Doc      string
}

// Type is what some fields are made of.
type Type struct {
	Name   string
	Fields []Field
}

// Document returns all operations, by scope and path, and the types that their fields have. Routes must have been called.
func (a *API) Document() (ops []Operation, types []Type) {
	d := document{schemas: a.huma.OpenAPI().Components.Schemas}
	for path, item := range a.huma.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
		} {
			if op != nil {
				ops = append(ops, d.operation(method, path, op))
			}
		}
	}
	slices.SortFunc(ops, func(x, y Operation) int {
		return cmp.Or(cmp.Compare(slices.Index(tokens.Scopes, x.Scope), slices.Index(tokens.Scopes, y.Scope)), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Method, y.Method))
	})
	for i := 0; i < len(d.types); i++ { // it grows: types have fields of further types
		d.types[i].Fields = d.fields(d.schemas.Map()[d.types[i].Name])
	}
	slices.SortFunc(d.types, func(x, y Type) int { return cmp.Compare(x.Name, y.Name) })
	return ops, d.types
}

// document reads an OpenAPI document, and notes the types that it meets.
type document struct {
	schemas huma.Registry
	types   []Type
}

func (d *document) operation(method, path string, op *huma.Operation) Operation {
	out := Operation{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: op.Description}
	for _, scheme := range op.Security {
		for by, scopes := range scheme {
			out.By = By(by)
			for _, scope := range scopes {
				out.Scope = tokens.Scope(scope)
			}
		}
	}
	for _, p := range op.Parameters {
		f := d.field(p.Name, p.Schema)
		f.In, f.Required, f.Doc = p.In, p.Required, cmp.Or(p.Description, f.Doc)
		out.Sent = append(out.Sent, f)
	}
	if op.RequestBody != nil {
		out.Sent = append(out.Sent, d.content(op.RequestBody.Content)...)
	}
	for status, answer := range op.Responses {
		if strings.HasPrefix(status, "2") {
			for name, h := range answer.Headers {
				f := d.field(name, h.Schema)
				f.In, f.Doc = "header", cmp.Or(h.Description, f.Doc)
				out.Answered = append(out.Answered, f)
			}
			slices.SortFunc(out.Answered, func(x, y Field) int { return cmp.Compare(x.Name, y.Name) })
			out.Answered = append(out.Answered, d.content(answer.Content)...)
		}
	}
	return out
}

func (d *document) content(content map[string]*huma.MediaType) (fields []Field) {
	for _, m := range content {
		fields = append(fields, d.fields(m.Schema)...)
	}
	return fields
}

// fields are those of an object, in the order of their names. Where lines are one of several objects, each is a field.
func (d *document) fields(s *huma.Schema) (fields []Field) {
	for _, one := range s.OneOf {
		fields = append(fields, d.field("line", one))
	}
	if s.Ref != "" {
		s = d.schemas.SchemaFromRef(s.Ref)
	}
	for name, of := range s.Properties {
		if of.ReadOnly { // the library's own
			continue
		}
		f := d.field(name, of)
		f.Required = slices.Contains(s.Required, name)
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(x, y Field) int { return cmp.Compare(x.Name, y.Name) })
	return fields
}

func (d *document) field(name string, s *huma.Schema) Field {
	f := Field{Name: name, Doc: s.Description}
	many := ""
	if s.Type == huma.TypeArray {
		s, many = s.Items, "[]"
	}
	if s.Ref != "" {
		f.Of = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if !slices.ContainsFunc(d.types, func(t Type) bool { return t.Name == f.Of }) {
			d.types = append(d.types, Type{Name: f.Of})
		}
	}
	f.Type = cmp.Or(f.Of, s.Format, s.Type, "any") + many
	if s.Format == "int64" {
		f.Type = s.Type + many
	}
	if len(s.Enum) > 0 {
		var words []string
		for _, w := range s.Enum {
			words = append(words, fmt.Sprint(w))
		}
		f.Type = strings.Join(words, " | ")
	}
	return f
}
