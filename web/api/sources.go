package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// SourceCalls serve what programs call that have the token of a source. The site serves them itself: it reads items
// one by one, and streams results.
type SourceCalls struct{ Items, Begin, Batch, Finish, Results http.Handler }

// HubCalls serve what hubs call.
type HubCalls struct{ Confirm, Tell http.Handler }

type (
	bySource struct {
		Code string `path:"code" doc:"the source's code"`
	}
	// Item is an item as a program pushes it. Its schema is made from formats.Fields.
	Item struct{}
	// Batch is some items of a load.
	Batch struct {
		No    int64  `json:"no" doc:"counts the batches from 1; a batch that is sent again has the same number"`
		Items []Item `json:"items"`
	}
	// EndOfLoad ends a load.
	EndOfLoad struct {
		Batches *int64 `json:"batches" required:"true" nullable:"false" doc:"how many batches the load has"`
	}
	// Load says where a load is.
	Load struct {
		Load  int64         `json:"load" doc:"its number"`
		State sources.State `json:"state"`
	}
	// BatchResults answer a batch.
	BatchResults struct {
		Load    int64            `json:"load"`
		Batch   int64            `json:"batch"`
		Results []sources.Result `json:"results" doc:"in the order of the items"`
	}
	// ItemResults answer items that belong to no load.
	ItemResults struct {
		Results []sources.Result `json:"results" doc:"in the order of the items"`
	}
	// LoadResult is a line of the results of a load, of one item.
	LoadResult struct {
		Batch int64 `json:"batch"`
		sources.Result
	}
	// LoadEnd is the last line of the results of a load.
	LoadEnd struct {
		Load     int64         `json:"load"`
		State    sources.State `json:"state"`
		Ended    bool          `json:"ended" doc:"the load does not change any more by itself"`
		Items    int64         `json:"items" doc:"how many came"`
		Added    int64         `json:"added"`
		Changed  int64         `json:"changed"`
		Same     int64         `json:"same"`
		Skipped  int64         `json:"skipped"`
		Removed  int64         `json:"removed"`
		Kept     int64         `json:"kept"`
		Gone     int64         `json:"gone"`
		Errors   int64         `json:"errors"`
		Warnings int64         `json:"warnings"`
	}
	// Refusal is an error of the calls that have the token of a source.
	Refusal struct {
		Error   string          `json:"error" doc:"what is wrong, the same in all versions"`
		Text    string          `json:"text" doc:"the same in words, in the language of Accept-Language"`
		Most    int             `json:"most,omitempty" doc:"the bound that was passed"`
		Missing json.RawMessage `json:"missing,omitempty" doc:"the numbers of batches that did not come (batches_missing)"`
		Request string          `json:"request,omitempty" doc:"names the call in the log of the site"`
	}

	newItems struct {
		Code string `path:"code" doc:"the source's code"`
		Body Item
	}
	newBatch struct {
		Code string `path:"code" doc:"the source's code"`
		No   int64  `path:"no" doc:"the load's number"`
		Body Batch
	}
	endOfLoad struct {
		Code string `path:"code" doc:"the source's code"`
		No   int64  `path:"no" doc:"the load's number"`
		Body EndOfLoad
	}
	resultsAfter struct {
		Code  string `path:"code" doc:"the source's code"`
		No    int64  `path:"no" doc:"the load's number"`
		After int64  `query:"after" minimum:"0" doc:"the last batch that was read"`
	}
	begun struct {
		Location string `header:"Location" doc:"the results of the load"`
		Body     Load
	}
	oneLoad    struct{ Body Load }
	ofBatch    struct{ Body BatchResults }
	ofItems    struct{ Body ItemResults }
	hubAddress struct {
		Code   string `path:"code" doc:"the source's code"`
		Secret string `path:"secret" doc:"what this site gave the hub"`
	}
	hubAsks struct {
		Code      string `path:"code" doc:"the source's code"`
		Secret    string `path:"secret" doc:"what this site gave the hub"`
		Mode      string `query:"hub.mode" enum:"subscribe,denied"`
		Topic     string `query:"hub.topic" doc:"the feed"`
		Challenge string `query:"hub.challenge" doc:"the answer repeats it"`
		Lease     int    `query:"hub.lease_seconds" doc:"how long the hub tells"`
	}
	text struct {
		Body plain
	}
	plain string
)

// ContentType implements huma.ContentTypeFilter.
func (plain) ContentType(string) string { return "text/plain" }

// TransformSchema implements huma.SchemaTransformer.
func (Item) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.AdditionalProperties = true // an unknown field gets a warning
	s.Properties = map[string]*huma.Schema{}
	for _, f := range formats.Fields {
		of := &huma.Schema{Type: huma.TypeString, Description: f.Doc}
		switch f.Kind {
		case formats.KindDegrees:
			of.Type = huma.TypeNumber
		case formats.KindAddress:
			of.Format = "uri"
		}
		if f.Longest > 0 {
			of.Description += fmt.Sprintf(" At most %d characters.", f.Longest)
		}
		if f.Each != "" {
			of = &huma.Schema{Type: huma.TypeArray, Items: of, Description: of.Description + fmt.Sprintf(" At most %d.", f.Most)}
		}
		s.Properties[f.Name] = of
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}

func (a *API) registerSources(c huma.Config, mux Router) {
	const load = "/api/sources/{code}/loads/{no}"
	calls := a.cfg.Sources
	op := a.ofSource(http.MethodPost, "/api/sources/{code}/items", "push-items", "Post an item to a source, or a few", http.StatusForbidden, http.StatusRequestTimeout, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity)
	op.Description = fmt.Sprintf("Items that are there stay. The body is one item, or at most %d one after the other (application/x-ndjson).", sources.MostItems)
	site[newItems, ofItems](c, mux, op, calls.Items)

	op = made(a.ofSource(http.MethodPost, "/api/sources/{code}/loads", "begin-load", "Begin a load, the whole list of a source's items", http.StatusConflict, http.StatusRequestEntityTooLarge))
	op.Description = "If the source was still receiving another load, that one is cancelled."
	site[bySource, begun](c, mux, op, calls.Begin)

	op = a.ofSource(http.MethodPost, load+"/batches", "push-batch", "Send some items of a load", http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity)
	op.Description = fmt.Sprintf("Batches come in any order, each with at most %d items. A batch that is sent again gets the same answer.", sources.MostItems)
	site[newBatch, ofBatch](c, mux, op, calls.Batch)

	op = a.ofSource(http.MethodPost, load+"/finish", "finish-load", "End a load after all its batches", http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity)
	op.Description, op.DefaultStatus = "Items of the source that the load does not have are then removed, if the source is set so.", http.StatusAccepted
	site[endOfLoad, oneLoad](c, mux, op, calls.Finish)

	op = a.ofSource(http.MethodGet, load+"/results", "read-results", "Read what became of the items of a load", http.StatusNotFound, http.StatusUnprocessableEntity)
	op.Description = "One JSON object a line (application/x-ndjson): a LoadResult for each item, and a LoadEnd at the end. An answer without the last line broke off."
	schemas := c.Components.Schemas
	op.Responses["200"] = &huma.Response{Description: "lines", Content: map[string]*huma.MediaType{
		"application/x-ndjson": {Schema: &huma.Schema{OneOf: []*huma.Schema{schemas.Schema(typeOf[LoadResult](), true, ""), schemas.Schema(typeOf[LoadEnd](), true, "")}}},
	}}
	site[resultsAfter, huma.StreamResponse](c, mux, op, calls.Results)

	op = ofHub(http.MethodGet, "confirm-subscription", "Ask whether the site wants to hear of a feed", http.StatusNotFound)
	site[hubAsks, text](c, mux, op, a.cfg.Hubs.Confirm)
	op = ofHub(http.MethodPost, "tell-news", "Say that a feed has something new", http.StatusNotFound, http.StatusGone)
	op.Description, op.DefaultStatus = "The site then fetches the feed. It does not read the body.", http.StatusAccepted
	site[hubAddress, text](c, mux, op, a.cfg.Hubs.Tell)
}

// site registers an operation that a handler of the site serves: its route and its description are made here, and the
// library checks nothing of it.
func site[I, O any](c huma.Config, mux Router, op huma.Operation, handler http.Handler) {
	c.OpenAPIPath = ""
	huma.Register[I, O](humago.New(served{mux, handler}, c), op, nil)
}

// served is a Router that has one handler, whatever the library wants to serve.
type served struct {
	Router
	handler http.Handler
}

func (s served) HandleFunc(pattern string, _ func(http.ResponseWriter, *http.Request)) {
	s.Handle(pattern, s.handler)
}

// ServeHTTP is of the library's own router, which is not used.
func (served) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// ofSource is an operation that the token of a source allows, with the statuses of its refusals besides those of all.
func (a *API) ofSource(method, path, id, summary string, refusals ...int) huma.Operation {
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, DefaultStatus: http.StatusOK,
		Security: []map[string][]string{{string(BySource): {}}}, Responses: map[string]*huma.Response{},
	}
	schema := a.huma.OpenAPI().Components.Schemas.Schema(typeOf[Refusal](), true, "")
	for _, status := range append(refusals, http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status), Content: map[string]*huma.MediaType{"application/json": {Schema: schema}},
		}
	}
	return op
}

// ofHub is an operation that a hub calls (WebSub). Its address is the key.
func ofHub(method, id, summary string, refusals ...int) huma.Operation {
	op := huma.Operation{
		OperationID: id, Method: method, Path: "/api/websub/{code}/{secret}", Summary: summary, DefaultStatus: http.StatusOK, Responses: map[string]*huma.Response{},
	}
	for _, status := range append(refusals, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status)}
	}
	return op
}
