package view

import "riverrun/timelines/exports"

// DataPath is the address of the page of one's own data, and DataFile that of the archive.
const (
	DataPath = "/settings/data"
	DataFile = DataPath + "/archive.zip"
)

// Data is that page.
type Data struct {
	*Base
	exports.Export
	Error FormError
}

// text says how it stands.
func (v Data) text() string {
	switch v.State {
	case exports.Waiting:
		return v.Locale.T("data.waiting")
	case exports.Making:
		return v.Locale.T("data.making", "n", v.Done*100/max(v.Total, 1))
	case exports.Ready:
		return v.Locale.T("data.ready")
	case exports.Failed:
		return v.Locale.T("data.failed")
	}
	return ""
}
