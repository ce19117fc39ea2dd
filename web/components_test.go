package web

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines"
)

// TestComponents holds each page's own parts against the HTML somebody looked at
// last; entries have their own test.
func TestComponents(t *testing.T) {
	s := testRenderer(t)
	nobody := testPresent(t, s, 0, "en")
	me := testPresent(t, s, anna, "en")
	russian := testPresent(t, s, anna, "ru")
	club := me.account(chess)
	club.About = "Openings.\nEvery Thursday."
	closed := club
	closed.Access, closed.Writers = timelines.Private, timelines.WritersAdmins
	half := club
	half.Access = timelines.Protected
	stranger := testPresent(t, s, bob, "ru")
	stranger.sets.Readable = map[int64]struct{}{club.FeedID: {}}
	private := me.account(eve)
	private.Access = timelines.Private

	hidden := me.account(bob)
	hidden.Access = timelines.Protected
	photos := timelines.Subfeed{TimelineID: 300, AccountID: anna, Slug: "photos", Title: "Photos <new>"}
	me.subfeeds[photos.TimelineID] = photos
	pages := feedsView{present: me, saved: true, slug: "photos", act: "delete", wrong: wrong{Field: "slug", Text: "Full."}, feeds: []timelines.OwnFeed{
		{},
		{Subfeed: timelines.Subfeed{Slug: "private"}, Access: timelines.Private, Readers: []timelines.Account{me.account(bob)}, ReadersTotal: 3},
		{Subfeed: photos, Access: timelines.Protected, Empty: true},
	}}

	river := func(p *present, kind rivers.Kind, path string, articles ...string) *riverView {
		n := rivers.Name{UserID: p.viewer.AccountID, Kind: kind, Order: rivers.Fresh}
		for _, a := range p.names {
			if strings.HasPrefix(path+"/", "/"+a.Name+"/") {
				n.TheirID, n.Term = a.ID, strings.TrimPrefix(path, "/"+a.Name+"/")
			}
		}
		for _, l := range p.sets.Lists {
			if path == listPath(l) {
				n.TheirID = l.ID
			}
		}
		shown := *p
		shown.river = n
		v := &riverView{present: &shown, at: pageOfKind(kind), path: path, order: rivers.Fresh, page: &rivers.Page{
			Name: n, River: 99, Sets: p.sets,
		}}
		for _, a := range articles {
			v.articles = append(v.articles, []byte(a))
		}
		return v
	}
	older := river(me, rivers.Everything, "/everything", "<article></article>")
	older.before, older.next, older.order, older.page.More = "5.code", "3.code", rivers.Created, true

	toSomebody, toMyself := directComposer("/filter/directs"), eyesComposer("/filter/eyes")

	listed := *testPresent(t, s, anna, "en")
	friends := timelines.List{ID: 1, Slug: "friends", Title: "Friends & others", Members: []int64{bob}}
	sets := *listed.sets
	sets.Lists = []timelines.List{friends, {ID: 2, Slug: "druzya", Title: "Друзья", Members: []int64{}}}
	listed.sets = &sets

	for name, c := range map[string]templ.Component{
		"home":                     homePage(river(me, rivers.Home, "/", "<article></article>"), newComposer("/"), 2),
		"home_empty_ru":            homePage(river(russian, rivers.Home, "/"), newComposer("/"), 0),
		"welcome":                  welcomePage(nobody),
		"everything":               aggregateList(older),
		"search":                   searchPage(searchView{present: me, text: `"a cat" -dog`, river: river(me, rivers.Search, "/search?q=%22a+cat%22+-dog", "<article></article>")}),
		"search_none_ru":           searchPage(searchView{present: russian, text: "кот", river: river(russian, rivers.Search, "/search?q=%D0%BA%D0%BE%D1%82")}),
		"search_common":            searchPage(searchView{present: me, text: "the", common: true, river: river(me, rivers.Search, "/search?q=the")}),
		"search_wrong":             searchPage(searchView{present: nobody, text: "-cat", wrong: "Say what to look for."}),
		"directs_empty":            plainPage(river(me, rivers.Directs, "/filter/directs"), &toSomebody),
		"account_user":             accountPage(accountView{riverView: river(me, rivers.User, "/bob"), who: me.account(bob)}),
		"account_likes":            accountPage(accountView{riverView: river(nobody, rivers.Likes, "/bob/likes"), who: nobody.account(bob)}),
		"account_group":            accountPage(accountView{riverView: river(me, rivers.Group, "/chess-club"), who: club, members: 2}),
		"account_group_unheard_ru": accountPage(accountView{riverView: river(stranger, rivers.Group, "/chess-club"), who: closed, members: 21}),
		"members_run": membersPage(membersView{
			present: me, who: club, admins: []timelines.Account{me.account(anna), me.account(bob)},
			leads: listPart{path: "/chess-club/members", list: "admins", after: "amy", next: "bob"},
			all:   []timelines.Member{{Account: me.account(dee)}, {Account: me.account(eve), Blocked: true}}, next: "eve",
			wrong: wrong{Field: "name", Text: "A group needs an administrator."},
		}),
		"members_ru": membersPage(membersView{
			present: stranger, who: club, admins: []timelines.Account{me.account(anna)}, leads: listPart{list: "admins"},
			all: []timelines.Member{{Account: me.account(dee)}, {Account: me.account(eve), Blocked: true}},
		}),
		"members_further": membersPage(membersView{present: nobody, who: club, after: "eve", count: 60}),
		"manage": managePage(managing(manageView{
			present: me, who: club, title: club.Title, about: club.About, saved: true,
			requests: requestList{listPart{path: "/chess-club/manage", list: "requests"}, []requestView{{who: me.account(kirill), group: club}}},
		}, me.account(eve))),
		"manage_protected": managePage(managing(manageView{present: me, who: half}, me.account(eve))),
		"manage_wrong": managePage(managing(manageView{
			present: me, who: closed, act: "admit", name: "nobody-here",
			wrong: wrong{Field: "name", Text: "There is nobody called “nobody-here”."},
		})),
		"closed_excluded_ru": closedPage(closedView{present: russian, who: half}),
		"closed_anonym":      closedPage(closedView{present: nobody, who: private}),
		"closed_ask":         closedPage(closedView{present: me, who: private}),
		"closed_asked_ru":    closedPage(closedView{present: russian, who: private, requested: true}),
		"compose_again": composeAgain(me, composer{
			body: "kept <text>", to: []timelines.Account{club}, people: "nobody-here", open: true, key: "k", back: "/",
			wrong: wrong{Field: "to", Text: "There is nobody called “nobody-here”."},
		}),
		"comment_again": commentAgain(me, commentForms{
			address: "/p/x/comments", back: "/p/x", body: "kept", key: "k", wrong: wrong{Field: "body", Text: "Too long."},
		}),
		"edit_post": editPage(me, editView{address: "/p/x", back: "/p/x", body: "Text", change: true, was: "bob", wrong: wrong{Field: "to", Text: "No."}, places: &composer{
			to: []timelines.Account{club}, own: []string{"anna/photos"}, people: "bob",
		}}),
		"remove":    removePage(removal{present: me, code: "x", text: "Another’s\n\ntext", groups: []timelines.Account{club}}),
		"eyes":      plainPage(river(me, rivers.Eyes, "/filter/eyes"), &toMyself),
		"feeds":     feedsPage(pages),
		"feeds_new": feedsPage(feedsView{present: russian, form: feedForm{slug: "я", title: "Я", wrong: wrong{Field: "slug", Text: "Нет."}}}),
		"account_subfeed": accountPage(accountView{
			riverView: river(me, rivers.Subfeed, "/anna/photos"), who: me.account(anna), access: timelines.Protected,
			subfeeds: []openSubfeed{{photos, timelines.Protected}}, subfeed: photos,
		}),
		"closed_subfeed": closedPage(closedView{present: me, who: hidden, subfeed: "garden", subfeeds: []openSubfeed{{photos, timelines.Public}}}),
		"edit_comment":   editPage(me, editView{address: "/p/x/comments/1", back: "/p/x#c-1", body: "Text", comment: true, change: true, wrong: wrong{Field: "body", Text: "No."}}),
		"delete_comment": editPage(russian, editView{address: "/p/x/comments/1", back: "/p/x#c-1", body: "Another’s\n\ntext", comment: true}),
		"lists":          listsPage(listsView{present: &listed}),
		"lists_wrong_ru": listsPage(listsView{present: russian, title: "Друзья", wrong: wrong{Field: "title", Text: "Уже есть."}}),
		"list":           listPage(listView{riverView: river(&listed, rivers.List, "/lists/friends", "<article></article>"), list: friends}),
		"list_empty":     listPage(listView{riverView: river(&listed, rivers.List, "/lists/druzya"), list: sets.Lists[1]}),
		"list_edit":      editListPage(listEdit{present: &listed, list: friends, title: "Others", chosen: []string{"bob"}}),
		"account_placed": accountPage(accountView{riverView: river(&listed, rivers.User, "/bob"), who: listed.account(bob)}),
		"groups":         groupsPage(groupsView{present: me, mine: []timelines.Account{club}, all: []timelines.Account{club, private}, next: "eve"}),
		"groups_wrong": groupsPage(groupsView{present: me, form: groupForm{
			name: "A B", title: "Kept", access: timelines.Private, wrong: wrong{Field: "name", Text: "No name."},
		}}),
		"people": peoplePage(peopleView{present: me, all: []timelines.Account{me.account(bob), private}, requests: requestList{
			listPart{path: "/people", list: "requests", after: "9.dee.anna", next: "10.kirill.chess-club"},
			[]requestView{{who: me.account(finn)}, {who: me.account(kirill), group: club}},
		}}),
		"signup":    signUpPage(nobody, signUpView{back: "/"}),
		"signup_ru": signUpPage(testPresent(t, s, 0, "ru"), signUpView{name: "я", title: "Я", back: "/x", wrong: wrong{Field: "name", Text: "Нет."}}),
		"login":     loginPage(nobody, loginView{back: "/"}),
		"login_kept": loginPage(nobody, loginView{kept: &keptForm{
			address: "/p/x/comments", text: "kept <text>", others: []keptField{{"back", "/p/x"}, {"key", "k"}},
		}}),
		"login_wrong": loginPage(nobody, loginView{name: "anna", back: "/settings", wrong: "Wrong."}),
		"settings": settingsPage(settingsView{
			present: me, title: "Anna Livia", about: "Plurabelle", language: "en", access: timelines.Protected, writers: timelines.WritersMutual,
			groups: []timelines.Account{club}, saved: true,
		}),
		"settings_wrong": settingsPage(settingsView{present: me, wrong: wrong{Field: "present", Text: "Not yours."}}),
		"problem":        problemPage(withCode(nobody), "Nothing here", "There is no such page.", ""),
		"problem_typed":  problemPage(withCode(nobody), "Nothing here", "There is no such page.", "kept <text>"),
	} {
		t.Run(name, func(t *testing.T) { goldenComponent(t, name, c) })
	}
}

// managing fills the lists of a group's page, all with these people.
func managing(v manageView, people ...timelines.Account) manageView {
	v.blocked, v.readers = v.unheard(), []managedList{v.excluded()}
	if v.who.Access == timelines.Private {
		v.readers = []managedList{v.admitted(), v.excluded()}
	}
	v.blocked.people = people
	for i := range v.readers {
		v.readers[i].people, v.readers[i].after, v.readers[i].next = people, "dee", "eve"
	}
	return v
}

func withCode(p *present) *present {
	coded := *p
	coded.code = "ABCD2345"
	return &coded
}

// pageOfKind is the page on which rivers of a kind stand.
func pageOfKind(kind rivers.Kind) riverPage {
	for _, p := range riverPages {
		if p.kind == kind {
			return p
		}
	}
	return riverPage{kind: kind}
}
