package view

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/doors"
	"riverrun/timelines/drafts"
	"riverrun/timelines/exports"
	"riverrun/timelines/hooks"
	"riverrun/timelines/site"
	"riverrun/timelines/snapshot"
	"riverrun/timelines/sources"
	"riverrun/timelines/tokens"
	"riverrun/web/api"
	"riverrun/web/view/pieces"
)

// TestComponents holds each page's own parts against the HTML somebody looked at
// last; entries have their own test.
func TestComponents(t *testing.T) {
	s := testRenderer(t)
	nobody := testPresent(t, s, 0, "en")
	me := testPresent(t, s, anna, "en")
	russian := testPresent(t, s, anna, "ru")
	alone := Suggestions{Make: func(int) ([]Suggestion, error) { return nil, nil }}
	club := me.Account(chess)
	club.About = "Openings.\nEvery Thursday."
	closed := club
	closed.Access, closed.Writers = timelines.Private, timelines.WritersAdmins
	half := club
	half.Access = timelines.Protected
	stranger := testPresent(t, s, bob, "ru")
	stranger.Sets.Readable = access.NewIDs(club.FeedID)
	private := me.Account(eve)
	private.Access = timelines.Private

	hidden := me.Account(bob)
	hidden.Access = timelines.Protected
	photos := timelines.Subfeed{TimelineID: 300, AccountID: anna, Slug: "photos", Title: "Photos <new>"}
	me.subfeeds[photos.TimelineID] = photos
	me.audiences = map[string]audience{"anna": {timelines.Public, "readers of your page", "Everybody can read this"}}
	pages := Feeds{Base: me, Saved: true, Slug: "photos", Act: "delete", Error: FormError{Field: "slug", Text: "Full."}, Feeds: []timelines.OwnFeed{
		{},
		{Subfeed: timelines.Subfeed{Slug: "private"}, Access: timelines.Private, Readers: []timelines.Account{me.Account(bob)}, ReadersTotal: 3},
		{Subfeed: photos, Access: timelines.Protected, Empty: true},
	}}

	river := func(p *Base, kind rivers.Kind, path string, articles ...string) *River {
		n := rivers.Name{UserID: p.Viewer.AccountID, Kind: kind, Order: rivers.Fresh}
		for _, a := range p.Names {
			if strings.HasPrefix(path+"/", "/"+a.Name+"/") {
				n.TheirID, n.Term = a.ID, strings.TrimPrefix(path, "/"+a.Name+"/")
			}
		}
		for _, l := range p.Sets.Lists {
			if path == ListPath(l) {
				n.TheirID = l.ID
			}
		}
		shown := *p
		shown.RiverName = n
		v := &River{Base: &shown, At: pageOfKind(kind), Path: path, Order: rivers.Fresh, Page: &rivers.Page{
			Name: n, River: 99, Sets: p.Sets,
		}}
		for _, a := range articles {
			v.Articles = append(v.Articles, pieces.Keep([]byte(a)))
		}
		return v
	}
	older := river(me, rivers.Everything, "/everything", "<article></article>")
	older.Before, older.Next, older.Order, older.Page.More = "5.code", "3.code", rivers.Created, true

	toSomebody, toMyself := directComposer("/filter/messages"), eyesComposer("/filter/only-me")

	listed := *testPresent(t, s, anna, "en")
	friends := timelines.List{ID: 1, Slug: "friends", Title: "Friends & others", Members: []int64{bob}}
	sets := *listed.Sets
	sets.Lists = []timelines.List{friends, {ID: 2, Slug: "druzya", Title: "Друзья", Members: []int64{}}}
	listed.Sets = &sets

	alerting := []sources.Alerting{
		{Code: "0000000001", Title: "Boats <list>", OwnerID: anna, Alert: sources.AlertAsks, At: me.Now.Add(-time.Hour).UnixMicro()},
		{Code: "0000000002", Title: "Tides", OwnerID: chess, Alert: sources.AlertFails, At: me.Now.Add(-26 * time.Hour).UnixMicro()},
		{Code: "0000000003", Title: "Moons", OwnerID: anna, Alert: sources.AlertGone, At: me.Now.Add(-time.Minute).UnixMicro()},
	}
	seen := *me.Sets
	seen.AlertsSeen = alerting[1].At
	looked := *me
	looked.Sets = &seen
	told := func(p *Base) templ.Component { return alerts(Notifications{River: &River{Base: p}, Alerts: alerting}) }

	owned := *nobody
	owned.Site = site.Site{
		Name: "The <Club>", Mark: "RC", Purpose: "Rowing", About: "We *row*.", Rules: "Be kind.\n\nBe ||quick||.", RulesVersion: 2, Contact: "desk@club.example",
	}
	owned.Public = &Public{Title: "The post", Description: "A <heron>", Type: "article", Address: "https://club.example/p/1", Picture: "https://club.example/files/1"}
	russianClub := owned
	russianClub.Locale, russianClub.Public = LocaleOf("ru"), nil

	flows := sourceComponents(me, russian, club)
	for name, c := range map[string]templ.Component{
		"about":             AboutPage(&owned, []timelines.Account{me.Account(anna)}),
		"about_nothing_ru":  AboutPage(russian, nil),
		"tokens":            TokensPage(Tokens{Base: me, Form: NewTokenForm(), All: someTokens(me.Now)}),
		"tokens_made_ru":    TokensPage(Tokens{Base: russian, Form: NewTokenForm(), All: someTokens(me.Now), Made: "rr_" + strings.Repeat("a", 43)}),
		"hooks":             HooksPage(Hooks{Base: me, All: someHooks(me.Now)}),
		"hooks_made_ru":     HooksPage(Hooks{Base: russian, All: someHooks(me.Now), Secret: "rrwh_" + strings.Repeat("a", 43)}),
		"hooks_wrong":       HooksPage(Hooks{Base: me, Form: hooks.New{URL: "ftp://<a>"}, Error: FormError{Field: "url", Text: "No."}}),
		"help_api":          APIHelpPage(testAPIHelp(me)),
		"help_api_ru":       APIHelpPage(testAPIHelp(russian)),
		"data":              DataPage(Data{Base: me}),
		"data_making_ru":    DataPage(Data{Base: russian, Export: exports.Export{State: exports.Making, Done: 30, Total: 120}}),
		"data_ready":        DataPage(Data{Base: me, Export: madeExport(me.Now)}),
		"data_failed":       DataPage(Data{Base: me, Export: exports.Export{State: exports.Failed}}),
		"agree":             AgreePage(&owned, Agree{Back: "/people", Error: FormError{Field: "rules", Text: "Agree."}}),
		"agree_kept_ru":     AgreePage(&russianClub, Agree{Kept: &KeptForm{Address: "/posts", Text: "My <words>", Others: []KeptField{{"to", "anna"}}}}),
		"signup_rules":      SignUpPage(&owned, SignUp{Name: "carol", Back: "/"}),
		"problem_contact":   ProblemPage(&owned, "No", "No page.", ""),
		"sources":           flows.list,
		"sources_group_ru":  flows.group,
		"sources_wrong":     flows.wrong,
		"source_loading":    flows.loading,
		"source_failed_ru":  flows.failed,
		"source_held":       flows.held,
		"source_preview_ru": flows.preview,
		"source_push":       flows.push,
		"source_wrong":      flows.rules,
		"source_feeds_ru":   flows.feeds,
		"load":              flows.load,
		"load_partner_ru":   flows.partner,
		"alerts":            told(&looked),
		"alerts_ru":         told(russian),
		"alerts_held": heldAlerts(Notifications{River: &River{Base: &looked}, Approvals: []timelines.Account{club}, Refused: []timelines.Refused{
			{Code: "0000000001", Beginning: "Cheap <oars>", GroupID: chess, Reason: "Not <here>.", At: me.Now.Add(-time.Hour)},
			{Code: "0000000002", At: me.Now.Add(-48 * time.Hour), Reason: "Spam."},
		}}),
		"waiting": WaitingPage(Waiting{Base: me, Group: club, Next: "0000000002", Posts: []timelines.WaitingPost{
			{Code: "0000000001", AuthorID: bob, Body: "Look: <a> *lake*", Markup: true, CreatedAt: me.Now.Add(-time.Hour), Others: 2, Pictures: []snapshot.Attached{{Code: "abc", Title: "lake.jpg", Width: 600, Height: 500}}},
			{Code: "0000000002", AuthorID: eve, Body: strings.Repeat("Long. ", 300), CreatedAt: me.Now.Add(-time.Minute)},
		}, Code: "0000000001", Reason: "kept <reason>", Error: FormError{Field: "reason", Text: "Too long."}}),
		"waiting_none_ru":          WaitingPage(Waiting{Base: russian, Group: club, Done: AnswerPublished}),
		"home":                     HomePage(river(me, rivers.Home, "/", "<article></article>"), NewComposer("/"), 2, alone),
		"home_empty_ru":            HomePage(river(russian, rivers.Home, "/"), NewComposer("/"), 0, alone),
		"welcome":                  WelcomePage(nobody),
		"welcome_you":              WelcomeYouPage(me, Steps{Here: WelcomeYou}, ProfileForm{Of: timelines.Account{ID: anna, Name: "anna", Kind: timelines.User}, Title: "Anna", Error: FormError{Field: "about", Text: "Too long."}}),
		"welcome_people_ru":        WelcomePeoplePage(russian, Steps{Here: WelcomePeople, You: true}, []Suggestion{{Account: russian.Account(eve), Friends: []timelines.Account{russian.Account(bob)}}}),
		"welcome_post":             WelcomePostPage(me, Steps{Here: WelcomePost, You: true, People: true}, Composer{Key: "KEY", Back: "/", Open: true}),
		"everything":               AggregateList(older),
		"search":                   SearchPage(Search{Base: me, Text: `"a cat" -dog`, River: river(me, rivers.Search, "/search?q=%22a+cat%22+-dog", "<article></article>")}),
		"search_none_ru":           SearchPage(Search{Base: russian, Text: "кот", River: river(russian, rivers.Search, "/search?q=%D0%BA%D0%BE%D1%82")}),
		"search_common":            SearchPage(Search{Base: me, Text: "the", Common: true, River: river(me, rivers.Search, "/search?q=the")}),
		"search_wrong":             SearchPage(Search{Base: nobody, Text: "-cat", Error: "Say what to look for."}),
		"directs_empty":            PlainPage(river(me, rivers.Directs, "/filter/messages"), &toSomebody),
		"account_user":             AccountPage(Account{River: river(me, rivers.User, "/bob"), Who: me.Account(bob)}),
		"account_likes":            AccountPage(Account{River: river(nobody, rivers.Likes, "/bob/likes"), Who: nobody.Account(bob)}),
		"account_group":            AccountPage(Account{River: river(me, rivers.Group, "/chess-club"), Who: club, Profile: Profile{Followers: 2, Requests: 1, Friends: []timelines.Account{me.Account(bob)}, Faces: []timelines.Account{me.Account(bob)}}}),
		"account_group_unheard_ru": AccountPage(Account{River: river(stranger, rivers.Group, "/chess-club"), Who: closed, Profile: Profile{Followers: 21}}),
		"members_run": MembersPage(Members{
			Base: me, Who: club, Admins: []timelines.Account{me.Account(anna), me.Account(bob)},
			Leads: ListPart{Path: "/chess-club/members", List: "admins", After: "amy", Next: "bob"},
			All:   []timelines.Member{{Account: me.Account(dee)}, {Account: me.Account(eve), Blocked: true}}, Next: "eve",
			Error: FormError{Field: "name", Text: "A group needs an administrator."},
		}),
		"members_ru": MembersPage(Members{
			Base: stranger, Who: club, Admins: []timelines.Account{me.Account(anna)}, Leads: ListPart{List: "admins"},
			All: []timelines.Member{{Account: me.Account(dee)}, {Account: me.Account(eve), Blocked: true}},
		}),
		"members_further": MembersPage(Members{Base: nobody, Who: club, After: "eve", Count: 60}),
		"manage": ManagePage(managing(Manage{
			Base: me, Who: club, Profile: ProfileForm{Of: club, Title: club.Title, About: club.About}, Saved: true,
			Requests: Requests{ListPart{Path: "/chess-club/manage", List: "requests"}, []Request{{Who: me.Account(kirill), Group: club}}},
		}, me.Account(eve))),
		"manage_protected": ManagePage(managing(Manage{Base: me, Who: half, Profile: ProfileForm{Of: half}}, me.Account(eve))),
		"manage_wrong": ManagePage(managing(Manage{
			Base: me, Who: closed, Profile: ProfileForm{Of: closed}, Act: "admit", Name: "nobody-here",
			Error: FormError{Field: "name", Text: "Nobody here is called “nobody-here”."},
		})),
		"closed_excluded_ru": ClosedPage(Closed{Base: russian, Who: half}),
		"closed_anonym":      ClosedPage(Closed{Base: nobody, Who: private}),
		"closed_ask":         ClosedPage(Closed{Base: me, Who: private}),
		"closed_asked_ru":    ClosedPage(Closed{Base: russian, Who: private, Requested: true}),
		"compose_again": ComposeAgain(me, Composer{
			Body: "kept <text>", To: []timelines.Account{club}, People: "nobody-here", Open: true, Key: "k", Back: "/",
			Error: FormError{Field: "to", Text: "Nobody here is called “nobody-here”."},
		}),
		"comment_again": CommentAgain(me, CommentForms{
			Address: "/p/x/comments", Back: "/p/x", Body: "kept", Key: "k", Error: FormError{Field: "body", Text: "Too long."},
		}),
		"edit_post": EditPage(me, Edit{Address: "/p/x", Back: "/p/x", Body: "Text", Change: true, Was: "bob", Error: FormError{Field: "to", Text: "No."}, Places: &Composer{
			To: []timelines.Account{club}, Own: []string{"anna/photos"}, People: "bob",
		}}),
		"remove":    RemovePage(Removal{Base: me, Code: "x", Text: "Another’s\n\ntext", Groups: []timelines.Account{club}}),
		"eyes":      PlainPage(river(me, rivers.Eyes, "/filter/only-me"), &toMyself),
		"feeds":     FeedsPage(pages),
		"feeds_new": FeedsPage(Feeds{Base: russian, Form: FeedForm{Slug: "я", Title: "Я", Error: FormError{Field: "slug", Text: "Нет."}}}),
		"account_subfeed": AccountPage(Account{
			River: river(me, rivers.Subfeed, "/anna/photos"), Who: me.Account(anna), Access: timelines.Protected,
			Subfeeds: []OpenSubfeed{{photos, timelines.Protected}}, Subfeed: photos,
		}),
		"closed_subfeed": ClosedPage(Closed{Base: me, Who: hidden, Subfeed: "garden", Subfeeds: []OpenSubfeed{{photos, timelines.Public}}}),
		"edit_comment":   EditPage(me, Edit{Address: "/p/x/comments/1", Back: "/p/x#c-1", Body: "Text", Comment: true, Change: true, Error: FormError{Field: "body", Text: "No."}}),
		"delete_comment": EditPage(russian, Edit{Address: "/p/x/comments/1", Back: "/p/x#c-1", Body: "Another’s\n\ntext", Comment: true}),
		"lists":          ListsPage(Lists{Base: &listed}),
		"lists_wrong_ru": ListsPage(Lists{Base: russian, Title: "Друзья", Error: FormError{Field: "title", Text: "Уже есть."}}),
		"list":           ListPage(List{River: river(&listed, rivers.List, "/lists/friends", "<article></article>"), List: friends}),
		"list_empty":     ListPage(List{River: river(&listed, rivers.List, "/lists/druzya"), List: sets.Lists[1]}),
		"list_edit":      EditListPage(ListEdit{Base: &listed, List: friends, Title: "Others", Chosen: []string{"bob"}}),
		"account_placed": AccountPage(Account{River: river(&listed, rivers.User, "/bob"), Who: listed.Account(bob)}),
		"groups":         GroupsPage(Groups{Base: me, Mine: []timelines.Account{club}, Directory: Directory{All: []timelines.Account{club, private}, Next: "eve"}}),
		"groups_wrong": GroupsPage(Groups{Base: me, Form: GroupForm{
			Name: "A B", Title: "Kept", Access: timelines.Private, Error: FormError{Field: "name", Text: "No name."},
		}}),
		"people": PeoplePage(People{Base: me, Directory: Directory{All: []timelines.Account{me.Account(bob), private}}, Requests: Requests{
			ListPart{Path: "/people", List: "requests", After: "9.dee.anna", Next: "10.kirill.chess-club"},
			[]Request{{Who: me.Account(finn)}, {Who: me.Account(kirill), Group: club}},
		}}),
		"signup":       SignUpPage(nobody, SignUp{Back: "/"}),
		"signup_ru":    SignUpPage(testPresent(t, s, 0, "ru"), SignUp{Name: "я", Title: "Я", Back: "/x", Error: FormError{Field: "name", Text: "Нет."}}),
		"signup_asks":  SignUpPage(nobody, SignUp{Back: "/", Door: site.ByApproval, Sentence: "<b>", Error: FormError{Field: "sentence", Text: "No."}}),
		"signup_spent": SignUpPage(nobody, SignUp{Back: "/", Door: site.ByInvitation, Bad: doors.Spent}),
		"login":        LoginPage(nobody, Login{Back: "/"}),
		"login_kept": LoginPage(nobody, Login{Kept: &KeptForm{
			Address: "/p/x/comments", Text: "kept <text>", Others: []KeptField{{"back", "/p/x"}, {"key", "k"}},
		}}),
		"login_visitor": LoginPage(nobody, Login{Back: WritePath, Visitor: true}),
		"visitor": VisitorPage(nobody, Visitor{
			Composer: Composer{Body: "Half a thought", Place: "/", Key: "KEY"}, JustKept: true,
			Others: []drafts.VisitorDraft{{Draft: drafts.Draft{Place: "/chess-club", Body: "Another"}}, {Draft: drafts.Draft{Place: "/", Body: "Put aside"}, Parked: true}},
		}),
		"login_wrong": LoginPage(nobody, Login{Name: "anna", Back: "/settings", Error: "Wrong."}),
		"settings": SettingsPage(Settings{
			Base: me, Profile: ProfileForm{Of: me.Account(anna), Title: "Anna Livia", About: "Plurabelle"}, Language: "en", Access: timelines.Protected, Writers: timelines.WritersMutual,
			Groups: []timelines.Account{club}, Saved: true,
		}),
		"settings_wrong": SettingsPage(Settings{Base: me, Error: FormError{Field: "present", Text: "Not yours."}}),
		"problem":        ProblemPage(withCode(nobody), "Page not found", "There is no such page.", ""),
		"problem_typed":  ProblemPage(withCode(nobody), "Page not found", "There is no such page.", "kept <text>"),
	} {
		t.Run(name, func(t *testing.T) { goldenComponent(t, name, c) })
	}
}

// managing fills the lists of a group's page, all with these people.
func managing(v Manage, people ...timelines.Account) Manage {
	v.Blocked, v.Readers = v.Unheard(), []ManagedList{v.Excluded()}
	if v.Who.Access == timelines.Private {
		v.Readers = []ManagedList{v.Admitted(), v.Excluded()}
	}
	v.Blocked.People = people
	for i := range v.Readers {
		v.Readers[i].People, v.Readers[i].After, v.Readers[i].Next = people, "dee", "eve"
	}
	return v
}

func withCode(p *Base) *Base {
	coded := *p
	coded.Code = "ABCD2345"
	return &coded
}

// someTokens are one that was never used and one that was.
func someTokens(now time.Time) []tokens.Token {
	used := now.Add(-2 * time.Hour)
	return []tokens.Token{
		{ID: 8, Name: "An <indexer>", Scopes: []tokens.Scope{tokens.Read, tokens.Changes}, WholeSite: true, Made: now.Add(-time.Hour), Ends: now.Add(7 * 24 * time.Hour)},
		{ID: 7, Name: "A bot", Scopes: []tokens.Scope{tokens.Write}, Made: now.Add(-5 * 24 * time.Hour), Ends: now.Add(25 * 24 * time.Hour), Used: &used},
	}
}

// someHooks are one that fails, one that works, one that is new and one that was stopped.
func someHooks(now time.Time) []hooks.Hook {
	arrived := now.Add(-2 * time.Hour)
	return []hooks.Hook{
		{ID: 8, URL: "https://a.example/?a=<b>", State: hooks.Active, Failed: 3, Code: "status", Status: 500, Next: now.Add(4 * time.Minute), Made: arrived, Arrived: &arrived, Behind: &arrived},
		{ID: 7, URL: "https://b.example/hook", State: hooks.Active, Made: now.Add(-5 * 24 * time.Hour), Arrived: &arrived},
		{ID: 6, URL: "https://c.example/hook", WholeSite: true, State: hooks.Active, Made: now.Add(-time.Hour)},
		{ID: 5, URL: "https://d.example/hook", State: hooks.Stopped, Code: "password", Made: now.Add(-9 * 24 * time.Hour), Arrived: &arrived, Behind: &arrived},
	}
}

// testAPIHelp is the page with one operation and one type.
func testAPIHelp(p *Base) *APIHelp {
	return &APIHelp{Base: p, Site: "https://river.example", Operations: []api.Operation{{
		ID: "read-post", Method: "GET", Path: "/api/posts/{code}", Summary: "Read a <post>", Description: "As its page has it.", Scope: tokens.Read,
		Sent:     []api.Field{{Name: "code", In: "path", Type: "string", Required: true, Doc: "the post's code"}},
		Answered: []api.Field{{Name: "post", Type: "Post", Of: "Post"}},
	}}, Types: []api.Type{{Name: "Post", Fields: []api.Field{{Name: "code", Type: "string", Doc: "its code"}}}}}
}

// madeExport is an archive that was made some days before.
func madeExport(now time.Time) exports.Export {
	made, end := now.Add(-3*24*time.Hour), now.Add(4*24*time.Hour)
	return exports.Export{State: exports.Ready, FinishedAt: &made, ExpiresAt: &end, Bytes: 3_400_000}
}

// pageOfKind is the page on which rivers of a kind stand.
func pageOfKind(kind rivers.Kind) Page {
	for _, p := range Pages {
		if p.Kind == kind {
			return p
		}
	}
	return Page{Kind: kind}
}
