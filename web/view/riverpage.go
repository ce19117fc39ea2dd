package view

import (
	"encoding/json"
	"fmt"
	"net/url"

	"riverrun/rivers"
	"riverrun/web/view/pieces"
)

// River is a page of a river as components see it.
type River struct {
	*Base
	At       Page
	Page     *rivers.Page
	Path     string        // the page's path, with what names its river in the query
	Order    rivers.Order  // of the river
	Mode     string        // what the address says of the mode, "" if there are none
	Token    string        // what it was decided with, sealed
	Still    bool          // it is not live: a reload renews it
	Before   string        // the cursor the page begins after, "" at the top
	Next     string        // the cursor older entries begin after, "" if there are none
	Articles []pieces.Kept // whole entries
	rows     []gathered    // how they stand
}

// Top reports whether the page begins with the newest entries: only then does
// it follow what happens.
func (v *River) Top() bool { return v.Before == "" }

// Address is the page's own, at its top.
func (v *River) Address() string { return RiverAddress(v.Path, v.Order, v.Mode, "") }

// title is what the page is called, empty what stands in place of entries.
func (v *River) title() string { return v.TitleOf(v.At) }

func (v *River) empty() string { return v.text(v.At.Empty) }

func OrderOf(q url.Values) rivers.Order {
	if q.Get("order") == string(rivers.Created) {
		return rivers.Created
	}
	return rivers.Fresh
}

// CodeAt is the code of the entry the next page begins after: the last one
// shown, "" if it begins elsewhere.
func CodeAt(p *rivers.Page) string {
	if n := len(p.Items); n > 0 && p.Items[n-1].PostID == p.Next.PostID {
		return p.Items[n-1].Fold.Text.Code
	}
	return ""
}

// news are the forms of the text that counts what is new above the page.
func (v *River) news() forms {
	if v.Page.Name.Kind == rivers.Notifications {
		return v.Locale.counted["news.notices"]
	}
	return v.Locale.counted["news"]
}

// ScriptTexts is a script with the texts that river.js and upload.js write themselves. It is the
// same on all pages of a language, so it is a file.
func ScriptTexts(loc *Locale) (name string, script []byte, err error) {
	texts := map[string]any{"files": uploadTexts(loc), "dates": loc.dates()}
	for name, key := range map[string]string{
		"older": "river.older", "end": "river.end", "offline": "script.offline", "unsent": "script.unsent", "ended": "script.ended", "left": "script.left",
		"hide": "script.hidden", "mute": "script.muted", "login": "login.do", "undo": "script.undo", "like": "script.liked", "unlike": "script.unliked", "save": "script.saved", "unsave": "script.unsaved", "draft": "script.draft", "kept": "drafts.kept", "replaced": "drafts.replaced", "discard": "drafts.discard", "lost": "script.lost", "names": "script.names",
		"now": "time.now", "minutes": "time.minutes", "hours": "time.hours",
	} {
		texts[name] = loc.T(key)
	}
	away := loc.counted["away"]
	texts["away.one"], texts["away.few"], texts["away.many"], texts["away.other"] = away.one, away.few, away.many, away.other
	list, err := json.Marshal(texts)
	if err != nil {
		return "", nil, fmt.Errorf("texts of scripts: %w", err)
	}
	return scriptTexts(loc), append([]byte("window.texts="), list...), nil
}

// scriptTexts is the name of the file of ScriptTexts.
func scriptTexts(loc *Locale) string { return "texts." + loc.Lang + ".js" }

// digit is a truth as a data attribute has it.
func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
