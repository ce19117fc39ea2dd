package view

// ResumeField marks a form that such a page sent.
const ResumeField = "resume"

// KeptForm is a form that came without a session.
type KeptForm struct {
	Address string // where it goes
	Text    string
	Others  []KeptField
}

type KeptField struct{ Name, Value string }
