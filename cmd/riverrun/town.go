package main

import (
	"bufio"
	"cmp"
	_ "embed" // the town's talk
	"fmt"
	"strconv"
	"strings"
	"time"

	"riverrun/timelines"
)

//go:embed town.txt
var townTalk string

// townspeople are the people of the demo and whom they follow.
var townspeople = []struct {
	name, title, about string
	private            bool
	follows            string // people and groups
}{
	{"nell", "Nell Farrow", "Runs the ferry. Both banks.", false, "gus hugo tobias dasha wren marta river-watch old-mill night-ferry"},
	{"tobias", "Tobias Reed", "Teaches the ten-year-olds, third row included.", false, "sam gus nell wren ines owen river-watch old-mill"},
	{"ines", "Inês Moura", "Bees, honey, opinions.", false, "wren dasha priya gus tobias marta river-watch"},
	{"gus", "Gus Halloran", "Keeps the lock. 1.42 m, mostly.", false, "tobias nell owen lev dasha river-watch old-mill night-ferry"},
	{"marta", "Марта Орлова", "Врач. Варенье и аптечка.", false, "lev dasha ines nell priya night-ferry old-mill"},
	{"lev", "Лев Соколов", "Переплётчик. Всё когда-нибудь было книгой.", false, "marta dasha gus hugo tobias old-mill"},
	{"priya", "Priya Nair", "The bakery. Ask before seven.", false, "hugo ines sam nell marta lev old-mill"},
	{"owen", "Owen Pike", "Fishes, puts them back.", false, "nell gus wren dasha hugo river-watch old-mill"},
	{"dasha", "Даша Ветрова", "Птицы, плёнка, рассветы.", false, "lev marta nell ines gus wren river-watch"},
	{"hugo", "Hugo Lind", "Builds boats. Lately also a mill.", false, "lev nell sam priya gus old-mill night-ferry river-watch"},
	{"wren", "Wren Castell", "Fewer words.", true, "ines dasha nell owen tobias"},
	{"sam", "Sam Okoye", "Town clerk. It is in the minutes.", false, "gus nell hugo priya tobias lev marta old-mill river-watch"},
}

var townGroups = []struct {
	name, title, about, admin string
	private                   bool
}{
	{"river-watch", "River Watch", "Levels, floods, birds, fish and what else goes by.", "gus", false},
	{"old-mill", "Friends of the Old Mill", "The wheel, the stones, and whether they will turn again.", "hugo", false},
	{"night-ferry", "Night Ferry Committee", "Lamps, tea, socks. Members only.", "nell", true},
}

// townAccounts are all of them, in the form of an import.
func townAccounts() map[string]timelines.ImportedAccount {
	all := map[string]timelines.ImportedAccount{}
	for _, p := range townspeople {
		all[p.name] = timelines.ImportedAccount{
			ExternalID: p.name, Kind: timelines.User, Name: p.name, Title: p.title, About: p.about, Private: p.private,
		}
	}
	for _, g := range townGroups {
		all[g.name] = timelines.ImportedAccount{
			ExternalID: g.name, Kind: timelines.Group, Name: g.name, Title: g.title, About: g.about, Private: g.private, Admin: g.admin,
		}
	}
	return all
}

// townPosts reads the town's posts; now is the present.
func townPosts(now time.Time) ([]timelines.Imported, error) {
	t := &townReader{accounts: townAccounts(), now: now}
	lines := bufio.NewScanner(strings.NewReader(townTalk))
	for n := 1; lines.Scan(); n++ {
		if err := t.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("town.txt:%d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return t.posts, nil
}

// townReader reads town.txt, whose format stands at its head.
type townReader struct {
	accounts map[string]timelines.ImportedAccount
	now      time.Time
	posts    []timelines.Imported
	within   bool // a post
	talked   bool // its comments or likes have begun
}

func (t *townReader) line(s string) error {
	switch {
	case strings.HasPrefix(s, "#"):
		return nil
	case strings.HasPrefix(s, "@"):
		t.within, t.talked = true, false
		return t.post(s[1:])
	case !t.within:
		if s != "" {
			return fmt.Errorf("%q stands outside of a post", s)
		}
		return nil
	}
	p := &t.posts[len(t.posts)-1]
	switch {
	case strings.HasPrefix(s, "- "):
		t.talked = true
		return t.comment(p, s[2:])
	case strings.HasPrefix(s, "+ "):
		t.talked = true
		return t.likes(p, strings.Fields(s[2:]))
	case t.talked && s != "":
		return fmt.Errorf("%q stands after the talk", s)
	case t.talked:
		t.within = false
	case p.Body == "":
		p.Body = s
	default:
		p.Body += "\n" + s
	}
	return nil
}

// post reads "WHO AGO > DESTINATION...".
func (t *townReader) post(s string) error {
	head, to, _ := strings.Cut(s, " > ")
	who, ago, _ := strings.Cut(head, " ")
	author, err := t.person(who)
	if err != nil {
		return err
	}
	age, err := span(ago)
	if err != nil {
		return err
	}
	p := timelines.Imported{
		ExternalID: "post-" + strconv.Itoa(len(t.posts)+1), CreatedAt: t.now.Add(-age), Author: author,
	}
	for _, name := range strings.Fields(to) {
		direct := strings.HasPrefix(name, "!")
		name = strings.TrimPrefix(name, "!")
		if name == "self" {
			name = who
		}
		a, ok := t.accounts[name]
		switch {
		case !ok:
			return fmt.Errorf("nobody is called %q", name)
		case direct:
			p.Direct = append(p.Direct, a)
		default:
			p.To = append(p.To, a)
		}
	}
	t.posts = append(t.posts, p)
	return nil
}

// comment reads "WHO +AFTER: text".
func (t *townReader) comment(p *timelines.Imported, s string) error {
	head, text, _ := strings.Cut(s, ": ")
	who, after, _ := strings.Cut(head, " +")
	author, err := t.person(who)
	if err != nil {
		return err
	}
	later, err := span(after)
	if err != nil {
		return err
	}
	p.Comments = append(p.Comments, timelines.ImportedComment{
		ExternalID: p.ExternalID + "-" + strconv.Itoa(len(p.Comments)+1), Body: text, CreatedAt: p.CreatedAt.Add(later), Author: author,
	})
	return nil
}

// likes come at intervals after the post.
func (t *townReader) likes(p *timelines.Imported, names []string) error {
	for i, name := range names {
		account, err := t.person(name)
		if err != nil {
			return err
		}
		p.Likes = append(p.Likes, timelines.ImportedLike{
			CreatedAt: p.CreatedAt.Add(time.Duration(i*i+i+7) * time.Minute), Account: account,
		})
	}
	return nil
}

func (t *townReader) person(name string) (timelines.ImportedAccount, error) {
	a, ok := t.accounts[name]
	if !ok || a.Kind != timelines.User {
		return a, fmt.Errorf("nobody is called %q", name)
	}
	return a, nil
}

// span is a time as in 3d4h20m.
func span(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		days, rest = "0", s
	}
	n, err := strconv.Atoi(days)
	if err != nil {
		return 0, fmt.Errorf("%q is no time as in 3d4h20m", s)
	}
	d, err := time.ParseDuration(cmp.Or(rest, "0s"))
	if err != nil {
		return 0, fmt.Errorf("%q is no time as in 3d4h20m", s)
	}
	return time.Duration(n)*24*time.Hour + d, nil
}
