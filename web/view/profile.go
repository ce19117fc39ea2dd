package view

import (
	"strconv"
	"strings"

	"riverrun/timelines"
)

// GroupsBeside is how many groups of a person stand beside the page.
const GroupsBeside = 5

// Profile is what the head of an account's page says of it besides its own words, as far as
// the viewer may know it.
type Profile struct {
	Followers int // or members
	Following int // people
	// FollowsViewer: the account follows the viewer.
	FollowsViewer bool
	// Friends are the followers whom the viewer follows, by title.
	Friends []timelines.Account
	// Groups are those of a person; the number of members is set of the first GroupsBeside.
	Groups []GroupOf
	// Faces are some members of a group, Requests those who wait for its administrators.
	Faces    []timelines.Account
	Requests int
	// Waiting are posts that wait for them.
	Waiting int
}

// GroupOf is a group that a person is in.
type GroupOf struct {
	timelines.Account
	Members int
}

// count is a number with its word, such as "186 followers".
type numbered struct{ number, word, href string }

// counts are the numbers in the head of a page; none is zero.
func (v Account) counts() []numbered {
	var all []numbered
	add := func(key string, n int, href string) {
		if n > 0 {
			number := v.Locale.Number(n)
			_, word, _ := strings.Cut(v.Locale.N(key, n), number)
			all = append(all, numbered{number, strings.TrimSpace(word), href})
		}
	}
	if v.IsGroup() {
		add("members.total", v.Profile.Followers, string(accountURL(v.Who, "members")))
		add("account.requests", v.Profile.Requests, string(accountURL(v.Who, "members")))
		add("account.waiting", v.Profile.Waiting, WaitingPath(v.Who.Name))
		return all
	}
	add("account.followers", v.Profile.Followers, "")
	add("account.following", v.Profile.Following, "")
	add("account.groups", len(v.Profile.Groups), "")
	return all
}

// since is the year in which the account began.
func (v Account) since() string { return strconv.Itoa(v.Who.CreatedAt.UTC().Year()) }

// Suggestion is an account that the viewer may want to follow, with the people who do whom the
// viewer follows.
type Suggestion struct {
	timelines.Account
	Friends []timelines.Account
}

// Suggestions are found when they are rendered.
type Suggestions struct {
	// Version names what they are made of besides the viewer's sets, levels and names.
	Version string
	// Make returns at most n of them. Its errors are logged already.
	Make func(n int) ([]Suggestion, error)
}

// Now returns at most n of them, or none if they cannot be found: no page fails for want of them.
func (s Suggestions) Now(n int) []Suggestion {
	list, err := s.Make(n)
	if err != nil {
		return nil
	}
	return list
}
