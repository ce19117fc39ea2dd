package view

import "riverrun/timelines"

// Tags is the page on which a person, or an administrator of a group, says which words give a post
// which tags, with the text as it was sent if it had an error.
type Tags struct {
	*Base
	Who   timelines.Account // the viewer or the group
	Words string
	Saved bool
	Error FormError
}

// OwnTagsPath is the address of the viewer's own.
const OwnTagsPath = "/settings/tags"

// Path is the address of the page.
func (v Tags) Path() string {
	if v.ofGroup() {
		return groupTagsPath(v.Who.Name)
	}
	return OwnTagsPath
}

func groupTagsPath(group string) string { return "/" + group + "/tags" }

func (v Tags) ofGroup() bool { return v.Who.Kind == timelines.Group }

func (v Tags) lead() string {
	if v.ofGroup() {
		return v.Locale.T("tags.lead.group")
	}
	return v.Locale.T("tags.lead")
}
