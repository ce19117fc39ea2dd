package adminpages

import (
	"testing"

	"riverrun/timelines/files"
	"riverrun/timelines/storage"
	"riverrun/web/view"
)

// Each part of what takes the room has its name in all languages.
func TestStorageHasItsTexts(t *testing.T) {
	for _, lang := range []string{"en", "ru"} {
		texts := view.LocaleOf(lang).Texts
		for _, kind := range files.UsageKinds {
			if texts["storage.files."+kind] == "" {
				t.Errorf("%s: no text for the files of kind %q", lang, kind)
			}
		}
		for _, group := range storage.Groups {
			if texts["storage.group."+string(group)] == "" {
				t.Errorf("%s: no text for the tables of group %q", lang, group)
			}
		}
	}
}
