package view

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines/bulk"
	"riverrun/timelines/kinds"
	"riverrun/timelines/listings"
	"riverrun/timelines/publishing"
)

// Addresses of what the viewer wrote.
const (
	MinePath         = "/filter/mine"
	MineProgressPath = MinePath + "/progress"
)

// MineNumbers are the numbers at the tabs.
type MineNumbers struct {
	publishing.Numbers
	Drafts, Scheduled int64
}

// Mine is a page of what the viewer wrote.
type Mine struct {
	*Base
	Preset  publishing.Preset
	Posts   []publishing.Post
	Next    string // the code of the post below which the next page begins
	Numbers MineNumbers
	Work    bulk.Work
	// Until is the id of the newest post that All counts.
	Until int64
	Saved string
	Sells bool // the list has a listing that can be closed
	// To is what was typed as destinations, and Error what is wrong with the form.
	To    string
	Error FormError
}

// MineDelete asks whether posts are to be deleted: the chosen ones, or all of the preset.
type MineDelete struct {
	*Base
	Preset publishing.Preset
	All    bool
	Codes  []string
	Count  int
	// Until is the id of the newest post that Count counts, with All.
	Until int64
	// Beginning is that of the only post.
	Beginning string
}

// mineTab is a tab of what the viewer wrote.
type mineTab struct {
	name, address string
	stays         bool // even if nothing is there
}

var mineTabs = func() []mineTab {
	var tabs []mineTab
	for _, p := range publishing.Presets {
		tabs = append(tabs, mineTab{string(p), MineAddress(p), p == publishing.PresetAll || p == publishing.PresetPublished})
		if p == publishing.PresetPublished {
			tabs = append(tabs, mineTab{"drafts", "/drafts", true}, mineTab{"scheduled", ScheduledPath, true})
		}
	}
	return tabs
}()

// of returns the number at a tab.
func (n MineNumbers) of(t mineTab) int64 {
	switch t.name {
	case "drafts":
		return n.Drafts
	case "scheduled":
		return n.Scheduled
	}
	return n.Posts[publishing.Preset(t.name)]
}

// tabs are the tabs on the page of that address.
func (n MineNumbers) tabs(here string) []mineTab {
	return slices.DeleteFunc(slices.Clone(mineTabs), func(t mineTab) bool {
		return !t.stays && n.of(t) == 0 && t.address != here
	})
}

// MineAddress is the address of a preset.
func MineAddress(p publishing.Preset) string {
	if p == publishing.PresetAll {
		return MinePath
	}
	return MinePath + "?show=" + string(p)
}

func (v Mine) address() string { return MineAddress(v.Preset) }

// again is where the page asks how far the work is. Its end brings the list and the numbers with it.
func (v Mine) again() string {
	return MineProgressPath + "?" + url.Values{"show": {string(v.Preset)}}.Encode()
}

func (v Mine) next() string {
	return MinePath + "?" + url.Values{"show": {string(v.Preset)}, "before": {v.Next}}.Encode()
}

func (v Mine) empty() string { return v.Locale.T("mine.none." + string(v.Preset)) }

// beginning is how a post begins.
func (v Mine) beginning(post publishing.Post) string { return BeginningOf(v.Locale, post.Beginning) }

// BeginningOf is how the text of a post begins, or, without text, that it has files.
func BeginningOf(loc *Locale, text string) string {
	if strings.TrimSpace(text) == "" {
		return loc.T("entry.files")
	}
	return ShortText(Unturned(text), 200)
}

// wrong is what is wrong with the form as a whole. It stands above the list, where the page opens.
func (v Mine) wrong() string { return cmp.Or(v.Error.at(""), v.Error.at("post")) }

// status is the text of a badge, empty for a post like most.
func (v Mine) status(post publishing.Post) string {
	if post.Status == publishing.Published {
		return ""
	}
	return "mine.status." + []string{"published", "waiting", "blocked", "expired", "closed"}[post.Status]
}

// places says where a post stands.
func (v Mine) places(post publishing.Post) string {
	var names []string
	for _, at := range post.Stands {
		name := at.Title
		own := at.Name == v.me().Name
		switch {
		case at.Kind == kinds.Eyes:
			name = v.Locale.T("compose.to.eyes")
		case at.Kind == kinds.Directs && own:
			continue // a message stands with its sender too
		case at.Kind == kinds.Directs:
			name = v.Locale.T("drafts.message.to", "who", "@"+at.Name)
		case at.Kind == kinds.Subfeed:
			name = v.slugTitle(at.Term)
		case own:
			name = v.Locale.T("compose.to.own")
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return v.Locale.T("mine.somewhere")
	}
	return Unturned(strings.Join(names, ", "))
}

// slugTitle is the title of one of the viewer's sub-feeds.
func (v Mine) slugTitle(slug string) string {
	for _, f := range v.mySubfeeds() {
		if f.Slug == slug {
			return v.subfeedTitle(f)
		}
	}
	return slug
}

// notes say from where a post is, and what it has.
func (v Mine) notes(post publishing.Post) string {
	var notes []string
	if l := post.Listing; l != nil {
		if price := priceOf(v.Locale, (*rivers.Listing)(l)); price != "" {
			notes = append(notes, price)
		}
		if l.State != string(listings.Closed) {
			notes = append(notes, v.Locale.T("listings.until", "day", v.Locale.lastDay(l.Until)))
		}
	}
	if post.Imported {
		note := v.Locale.T("mine.imported")
		if post.Via != "" {
			note = v.Locale.T("mine.imported.via", "via", Unturned(post.Via))
		}
		notes = append(notes, note)
	}
	if post.Files > 0 {
		notes = append(notes, v.Locale.N("mine.files", int(post.Files)))
	}
	if post.EditedAt != nil {
		notes = append(notes, v.Locale.T("mine.edited"))
	}
	return strings.Join(notes, " · ")
}

// earned says what the viewer's listings came to.
func (v Mine) earned() string {
	if v.Numbers.ClosedEver == 0 {
		return ""
	}
	said := v.Locale.N("mine.closed", int(v.Numbers.ClosedEver))
	for _, currency := range slices.Sorted(maps.Keys(v.Numbers.Earned)) {
		said += " · " + v.Locale.T("mine.earned", "price", v.Locale.Price(v.Numbers.Earned[currency], currency))
	}
	return said
}

// workText says how far the work on several posts is.
func (v Mine) workText() string {
	key := map[bulk.Act]string{bulk.Delete: "mine.work.delete.", bulk.Move: "mine.work.move.", bulk.Close: "mine.work.close."}[v.Work.Act]
	return v.Locale.T(key+string(v.Work.State), "done", v.Locale.Number(int(v.Work.Done)), "total", v.Locale.Number(int(v.Work.Total)))
}

// problem says why posts were skipped, as far as people can do something about it.
func (v Mine) problem() string {
	key := "mine.problem." + v.Work.Problem
	if text := v.Locale.T(key); text != key {
		return text
	}
	return v.Locale.T("mine.problem.other")
}
