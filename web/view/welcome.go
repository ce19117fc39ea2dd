package view

// The pages of the introduction, in their order.
const (
	WelcomeYou    = "/welcome/you"
	WelcomePeople = "/welcome/people"
	WelcomePost   = "/welcome/post"
)

// SuggestedFirst is how many accounts the introduction suggests.
const SuggestedFirst = 12

// Steps are the steps of the introduction: which page this is, and which are done.
type Steps struct {
	Here              string
	You, People, Post bool
}

// Next returns the page of the first step that is not done, or that of people: there are
// always more of them.
func (s Steps) Next() string {
	switch {
	case !s.You:
		return WelcomeYou
	case s.People && !s.Post:
		return WelcomePost
	}
	return WelcomePeople
}

// step is a step as it is shown.
type step struct {
	href, label string
	done        bool
}

func (s Steps) all(loc *Locale) []step {
	return []step{
		{WelcomeYou, loc.T("welcome.step.you"), s.You},
		{WelcomePeople, loc.T("welcome.step.people"), s.People},
		{WelcomePost, loc.T("welcome.step.post"), s.Post},
	}
}
