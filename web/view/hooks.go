package view

import (
	"net/url"

	"riverrun/timelines/admin"
	"riverrun/timelines/hooks"
)

// HooksPath is the address of the page of the viewer's webhooks.
const HooksPath = "/settings/hooks"

// Hooks is that page.
type Hooks struct {
	*Base
	All    []hooks.Hook
	Form   hooks.New
	Secret string // of a new webhook, which is shown once
	Saved  string
	Error  FormError
}

// SentHook reads the form for a new webhook as it was sent.
func SentHook(sent url.Values) hooks.New {
	return hooks.New{URL: sent.Get("url"), WholeSite: sent.Has("whole_site")}
}

// administers reports whether the viewer may make a webhook that gets the whole site.
func (v Hooks) administers() bool { return v.Sets.Role == admin.Administrator }

// wrong says why a webhook is not sent, or when its delivery is tried again; "" if nothing is wrong.
func (v Hooks) wrong(h hooks.Hook) string {
	stopped := h.State == hooks.Stopped
	if !stopped && h.Failed == 0 {
		return ""
	}
	text := v.Locale.T("hooks.code."+h.Code, "status", h.Status)
	if stopped {
		return text
	}
	return text + " " + v.Locale.T("hooks.next", "when", In(v.Locale, h.Next.Sub(v.Now)))
}
