package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"riverrun/timelines"
)

// A listPart is one page of a list on a page that may have several. Its address has the
// list's name for a parameter, which says after what it begins, and for a fragment:
// the list's section has it for an id.
type listPart struct {
	path, list  string
	after, next string // where this part begins and the next one does; "" is the beginning, or none
}

// at is the address of the part that begins there.
func (p listPart) at(after string) string {
	if after == "" {
		return p.path
	}
	return p.path + "?" + url.Values{p.list: {after}}.Encode() + "#" + p.list
}

// here is where forms of the part lead back to.
func (p listPart) here() string { return p.at(p.after) }

// further is where the rest of the list is.
func (p listPart) further() string { return p.at(p.next) }

// partOf is the part of a list by name that a request asks for.
func partOf(r *request, path, list string) (listPart, error) {
	p := listPart{path: path, list: list, after: r.URL.Query().Get(list)}
	if !inDirectory(p.after) {
		return p, errNoPage
	}
	return p, nil
}

// cut takes off what was read beyond the part: of one more than directoryPage.
func (p *listPart) cut(list []timelines.Account) []timelines.Account {
	list, p.next = firstPage(list)
	return list
}

// Places in lists that are not by name are written as an instant in microseconds
// and names, with dots between.

func formatPlace(at time.Time, names ...string) string {
	return strings.Join(append([]string{strconv.FormatInt(timelines.Micros(at), 10)}, names...), ".")
}

// parsePlace is the inverse of formatPlace; what it made no address of ours has.
func parsePlace(text string, names int) (at time.Time, found []string, err error) {
	words := strings.Split(text, ".")
	micros, err := strconv.ParseInt(words[0], 10, 64)
	// Years that the stores know.
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
