package web

import (
	"strconv"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/web/view"
)

// partOf is the part of a list by name that a request asks for.
func partOf(r *request, path, list string) (view.ListPart, error) {
	p := view.ListPart{Path: path, List: list, After: r.URL.Query().Get(list)}
	if !inDirectory(p.After) {
		return p, errNoPage
	}
	return p, nil
}

// Places in lists that are not by name are written as an instant in microseconds
// and names, with dots between.

func formatPlace(at time.Time, names ...string) string {
	return strings.Join(append([]string{strconv.FormatInt(timelines.Micros(at), 10)}, names...), ".")
}

// parsePlace is the inverse of formatPlace. Any other text is errNoPage.
func parsePlace(text string, names int) (at time.Time, found []string, err error) {
	words := strings.Split(text, ".")
	micros, err := strconv.ParseInt(words[0], 10, 64)
	// Only years that the stores can hold.
	if err != nil || len(words) != names+1 || micros < 0 || micros > 1<<53 {
		return at, nil, errNoPage
	}
	for _, name := range words[1:] {
		if name == "" || !inDirectory(name) {
			return at, nil, errNoPage
		}
	}
	return time.UnixMicro(micros), words[1:], nil
}
