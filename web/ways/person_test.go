package ways_test

import (
	"archive/zip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/doors"
	"riverrun/timelines/reports"
	"riverrun/timelines/site"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// Somebody comes by an invitation, writes as much as a newcomer may, reports what is wrong, looks after
// their sessions and their data, leaves and stays.
func TestAPersonsWay(t *testing.T) {
	onEach(t, func(s *webtest.Site, d device) {
		mia, bob, eve := s.Person("mia"), s.Person("bob"), s.Person("eve")
		inCharge(mia, admin.Moderator)
		door := site.ByInvitation
		set(s, func(is *site.Site) {
			is.Name, is.Rules, is.RulesVersion, is.SignUp = "The Ferry", "Be *kind*, and stay on board.", 1, &door
		})
		mia.Subscribe("bob") // so that newcomers are offered bob
		said := bob.Post("The last boat leaves at ten.")
		bad := eve.Post("Buy these watches")
		eve.Comment(said.Code, "And these shoes")
		invitation, err := doors.Open(s.Store).Invite(s.T.Context(), admin.By{}, doors.New{Uses: 1, Days: 7})
		if err != nil {
			s.T.Fatal(err)
		}

		w := d.walker(s, "zoe")
		w.types("/signup?invitation=" + invitation.Code)
		w.says("signup.invited")
		w.says("Be kind, and stay on board.")
		w.fill("signup.name", "zoe")
		w.fill("signup.password", "qwertyuiop")
		w.fill("signup.titled", "Zoe")
		w.choose("rules.agree")
		w.press("signup.do")
		w.arrives("signup.title")
		w.says("invalid.password_common")
		w.fill("signup.password", webtest.Password)
		w.choose("rules.agree")
		w.press("signup.do")
		w.arrives("welcome.you")
		w.fill("settings.about", "I row every Sunday.")
		w.press("welcome.next")
		w.arrives("welcome.people")
		w.pressIn("@bob", "account.follow")
		w.says(w.locale.N("welcome.following", 1))
		w.press("welcome.next")
		w.arrives("welcome.post")
		w.fill("compose.body", "Hello from Zoe")
		w.press("compose.post")
		w.returns()
		w.says("Hello from Zoe")
		w.says("The last boat leaves at ten.")
		for _, text := range []string{"one", "two", "three", "four"} {
			w.posts("Boat number " + text)
			w.says("Boat number " + text)
		}
		w.posts("Boat number five")
		until, _, _ := strings.Cut(view.StrangerText(w.locale, &timelines.StrangerError{Most: 5}), ". ")
		w.says(until)

		w.types("/p/" + bad.Code)
		w.openIn("Buy these watches", "entry.menu")
		w.follow("entry.report")
		w.arrives("report.title.post")
		w.says("Buy these watches")
		w.press("report.send")
		w.choose("report.reason.spam")
		w.fill("report.text", "Look at this")
		w.press("report.send")
		w.arrives("report.own")
		w.says("report.sent")

		w.types("/p/" + said.Code)
		w.followIn("And these shoes", "comment.report")
		w.arrives("report.title.comment")
		w.says("And these shoes")
		w.choose("report.reason.abuse")
		w.press("report.send")
		w.arrives("report.own")

		w.types("/eve")
		w.openIn("@eve", "nav.more")
		w.follow("account.report")
		w.arrives("report.title.account")
		w.choose("report.reason.other")
		w.press("report.send")
		w.arrives("report.own")
		for _, of := range []string{"post", "comment", "account"} {
			w.says("report.of."+of, "who", "@eve")
		}
		answer(mia, "spam", "Thank you, it is gone.")
		w.goesTo("nav.notifications")
		w.arrives("nav.notifications")
		w.says("report.answered")
		w.follow("report.own")
		w.arrives("report.own")
		w.says("Thank you, it is gone.")

		there := devices[0]
		if !d.phone {
			there = devices[1]
		}
		other := there.walker(s, "zoe elsewhere")
		other.signsIn("zoe", webtest.Password)
		w.goesTo("nav.settings")
		w.arrives("settings.title")
		w.says("sessions.event.signin", "device", map[bool]string{true: "Safari, iOS", false: "Firefox, Linux"}[there.phone])
		w.follow("sessions.title")
		w.arrives("sessions.title")
		w.says("sessions.here")
		w.press("sessions.end")
		w.arrives("sessions.title")
		w.says("sessions.ended")
		other.says("nav.signin")

		w.goesUp("nav.settings")
		w.arrives("settings.title")
		w.follow("data.title")
		w.arrives("data.title")
		folder := w.keepsDownloads()
		w.press("data.ask")
		w.says("data.ready")
		w.touch("a[download]", webtest.Eval[string](w.Tab, `document.querySelector('a[download]').innerText`), "")
		readsArchive(s.T, folder)

		w.goesUp("nav.settings")
		w.arrives("settings.title")
		w.follow("delete.title")
		w.arrives("delete.title")
		w.says("delete.name", "name", "zoe")
		w.fill("settings.password.old", webtest.Password)
		w.press("delete.do")
		w.arrives("leaving.title")
		w.signsIn("zoe", webtest.Password)
		w.arrives("leaving.title")
		w.press("leaving.keep")
		w.arrives("leaving.stays")
		w.says("leaving.kept")
		w.follow("login.do")
		w.arrives("login.title")
		w.fill("signup.name", "zoe")
		w.fill("signup.password", webtest.Password)
		w.press("login.do")
		w.returns()
		w.says("Hello from Zoe")
		w.goesTo("nav.signout")
		w.returns()
		w.says("nav.signin")
	})
}

// posts writes a post on the home page.
func (w *walker) posts(text string) {
	w.T.Helper()
	if w.device.phone {
		w.follow("compose.title")
	}
	w.fill("compose.body", text)
	w.press("compose.post")
}

// answer has a moderator answer the report of this reason.
func answer(by *webtest.Person, reason reports.Reason, text string) {
	by.Site.T.Helper()
	var code string
	if err := by.Site.DB.Primary.QueryRow(by.Site.T.Context(), `SELECT code FROM reports WHERE reason = $1`, reason).Scan(&code); err != nil {
		by.Site.T.Fatal(err)
	}
	by.Act(func(ctx context.Context) (timelines.Change, error) {
		return reports.Open(by.Site.Store).End(ctx, admin.By{AccountID: by.Account.ID}, code, "removed", text)
	})
}

// keepsDownloads has the browser keep what it downloads in the folder it returns.
func (w *walker) keepsDownloads() (folder string) {
	w.T.Helper()
	folder = w.T.TempDir()
	_, err := chromedp.CallBrowser(w.Ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: chromedp.FromContext(w.Ctx).BrowserContextID,
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return folder
}

// readsArchive waits for a ZIP file and looks into it.
func readsArchive(t testing.TB, folder string) {
	t.Helper()
	var file string
	webtest.Await(t, "the download", func() bool {
		found, err := filepath.Glob(filepath.Join(folder, "*.zip"))
		if err != nil {
			t.Fatal(err)
		}
		file = strings.Join(found, "")
		is, err := os.Stat(file)
		return err == nil && is.Size() > 0
	})
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }() // it was only read
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, ".html") {
			return
		}
	}
	t.Errorf("the archive has no page to read among %d files", len(archive.File))
}
