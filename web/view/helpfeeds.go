package view

import (
	"maps"
	"slices"
	"strings"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// FeedHelpPath is the page for people who make feeds. A code of a problem stands there at #code-CODE.
const FeedHelpPath = "/help/feeds"

// FeedHelp is that page.
type FeedHelp struct {
	*Base
	// Site is the site's address, for the examples.
	Site string
	// Limits are those of the site.
	Limits sources.Limits
}

func (v *FeedHelp) limits() string {
	n := v.Locale.Number
	return v.Locale.T("feedhelp.limits", "mb", n(int(v.Limits.FileBytes/1_000_000)), "items", n(v.Limits.Items), "minutes", n(int(v.Limits.Soonest.Minutes())))
}

// PushStep is an example of a request to the push API.
type PushStep struct {
	Method, Path, Body string
	// Answer is the answer that comes.
	Answer string
}

// PushItem is the example of a single item; CODE stands for the code of its post.
var PushItem = PushStep{
	"POST", "/items", `{"id":"harbour-17","title":"The harbour opens again"}`, `{"results":[{"id":"harbour-17","result":"added","post":"SITE/p/CODE"}]}`,
}

// PushSteps are the examples of a whole load, the first one of a source.
var PushSteps = []PushStep{
	{"POST", "", "", `{"load":1,"state":"receiving"}`},
	{
		"POST", "/1/batches", `{"no":1,"items":[{"id":"harbour-17","title":"The harbour opens again"},{"id":"harbour-18","date":"soon"}]}`,
		`{"load":1,"batch":1,"results":[{"id":"harbour-17","result":"added"},{"id":"harbour-18","result":"rejected","codes":["date_invalid","title_and_text_missing"]}]}`,
	},
	{"POST", "/1/finish", `{"batches":1}`, `{"load":1,"state":"finishing"}`},
	{
		"GET", "/1/results", "", `{"batch":1,"id":"harbour-17","result":"added"}
{"batch":1,"id":"harbour-18","result":"rejected","codes":["date_invalid","title_and_text_missing"]}
{"load":1,"state":"done","ended":true,"items":2,"added":1,"changed":0,"same":0,"skipped":1,"removed":0,"kept":0,"gone":0,"errors":1,"warnings":1}`,
	},
}

// curl is a step as a command, with its answer.
func (f *FeedHelp) curl(step int) string {
	s := PushSteps[step]
	s.Path = "/loads" + s.Path
	return f.command(s)
}

// item is PushItem as a command, with its answer.
func (f *FeedHelp) item() string {
	s := PushItem
	s.Answer = strings.ReplaceAll(s.Answer, "SITE", f.Site)
	return f.command(s)
}

func (f *FeedHelp) command(s PushStep) string {
	command := "curl"
	if s.Method == "POST" && s.Body == "" {
		command += " -X POST"
	}
	command += ` -H "Authorization: Bearer $TOKEN"`
	if s.Body != "" {
		command += " \\\n  -d '" + s.Body + "'"
	}
	return command + " \\\n  " + f.Site + "/api/sources/$SOURCE" + s.Path + "\n\n" + s.Answer
}

// fieldText says what a field is.
func fieldText(l *Locale, f formats.Field) string {
	text := fieldTexts[f.Name].en
	if l.Lang == "ru" {
		text = fieldTexts[f.Name].ru
	}
	if f.Longest > 0 {
		text += " " + l.T("feedhelp.most", "n", l.Number(f.Longest))
	}
	if f.Most > 0 {
		text += " " + l.T("feedhelp.several", "n", l.Number(f.Most))
	}
	return text
}

// codesOf are the codes of a level, in the order of their table.
func codesOf(level formats.Level) []string {
	var list []string
	for _, c := range formats.Codes {
		if c.Level == level {
			list = append(list, string(c.Code))
		}
	}
	return list
}

// codesOfLinks are those of links that files have not.
func codesOfLinks() []string {
	var list []string
	for _, p := range sources.Problems {
		if !slices.ContainsFunc(formats.Codes, func(c formats.CodeInfo) bool { return string(c.Code) == string(p) }) {
			list = append(list, string(p))
		}
	}
	return list
}

// told is a word that programs get, and the key of its text.
type told struct{ word, text string }

var (
	toldResults = []told{
		{sources.ResultAdded, "feedhelp.added"},
		{sources.ResultChanged, "feedhelp.changed"},
		{sources.ResultSame, "feedhelp.same"},
		{sources.ResultSkipped, "feedhelp.skipped"},
		{sources.ResultRejected, "feedhelp.rejected"},
	}
	toldStates = []told{
		{string(sources.Receiving), "feedhelp.receiving"},
		{string(sources.Finishing), "feedhelp.finishing"},
		{string(sources.Sweeping), "feedhelp.sweeping"},
		{string(sources.Held), "feedhelp.held"},
		{string(sources.Done), "feedhelp.done"},
		{string(sources.Failed), "feedhelp.failed"},
		{string(sources.Cancelled), "feedhelp.cancelled"},
	}
)

// refusals are the codes of the API's refusals.
func refusals() []string { return slices.Sorted(maps.Keys(callTexts)) }

// formatName is how people write the name of one of our own formats.
func formatName(f formats.Format) string { return strings.ToUpper(string(f)) }
