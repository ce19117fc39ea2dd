package ways_test

import (
	"testing"

	"riverrun/timelines/admin"
	"riverrun/timelines/reports"
	"riverrun/timelines/site"
	"riverrun/web/webtest"
)

// A moderator answers a report, suspends somebody and hears them, and lets people in.
func TestAModeratorsWay(t *testing.T) {
	onEach(t, func(s *webtest.Site, d device) {
		mia, bob, eve := s.Person("mia"), s.Person("bob"), s.Person("eve")
		inCharge(mia, admin.Moderator)
		bob.Subscribe("eve")
		spam := eve.Post("Buy these watches")
		eve.Post("And these shoes")
		if _, err := reports.Open(s.Store).File(s.T.Context(), bob.Account.ID, reports.Thing{Code: spam.Code}, reports.Spam, "Look at this"); err != nil {
			s.T.Fatal(err)
		}
		e, b := d.walker(s, "eve"), d.walker(s, "bob")
		e.signsIn("eve", webtest.Password)
		e.Live()
		b.signsIn("bob", webtest.Password)
		b.Live()
		b.says("Buy these watches")

		w := d.walker(s, "mia")
		w.signsIn("mia", webtest.Password)
		w.goesTo("admin.title")
		w.arrives("admin.title")
		w.says("admin.lead.moderator")
		w.says("admin.reports.now", "n", "1")
		for _, title := range []string{"admin.site", "doors.title", "health.title", "storage.title", "limits.title", "inspect.title", "admin.acts"} {
			w.lacksLink(title)
		}
		w.follow("admin.reports")
		w.arrives("admin.reports")
		w.follow(w.t("report.of.post", "who", "@eve"))
		w.arrives("report.of.post", "who", "@eve")
		w.says("Look at this")
		w.press("admin.report.take")
		w.arrives("report.of.post", "who", "@eve")
		w.says("admin.done.taken")
		w.says("admin.report.taken", "who", "mia")
		w.loses("admin.report.take")
		w.open("admin.report.notes")
		w.fill("admin.report.note", "A bot, it seems.")
		w.press("admin.report.note.add")
		w.arrives("report.of.post", "who", "@eve")
		w.says("A bot, it seems.")
		w.press("admin.report.remove")
		w.arrives("report.of.post", "who", "@eve")
		w.says("admin.done.removed")
		b.loses("Buy these watches")
		b.says("And these shoes")
		w.follow("admin.report.suspend")
		w.arrives("eve")
		if got, want := w.readsField("", "admin.reason"), w.t("report.reason.spam"); got != want {
			s.T.Errorf("the reason of the suspension is %q, want that of the report, %q", got, want)
		}
		w.pick("admin.days", "admin.days.7")
		w.press("admin.suspend")
		w.arrives("eve")
		w.says("admin.done.suspended")
		b.loses("And these shoes")
		e.says("nav.signin")
		e.loses("And these shoes")

		w.goesTo("admin.title")
		w.arrives("admin.title")
		w.follow("admin.reports")
		w.arrives("admin.reports")
		w.follow(w.t("report.of.post", "who", "@eve"))
		w.arrives("report.of.post", "who", "@eve")
		w.open("admin.report.end")
		w.choose("report.outcome.removed")
		w.fill("admin.report.answer", "Thank you, it is gone.")
		w.press("admin.report.end")
		w.arrives("report.of.post", "who", "@eve")
		w.says("admin.done.ended")

		e.signsIn("eve", webtest.Password)
		e.arrives("appeal.title")
		e.says("report.reason.spam")
		e.fill("appeal.text", "It was my nephew.")
		e.press("appeal.do")
		e.arrives("appeal.title")
		e.says("appeal.sent")
		w.goesTo("admin.title")
		w.arrives("admin.title")
		w.follow("admin.reports")
		w.arrives("admin.reports")
		w.follow(w.t("report.of.appeal", "who", "@eve"))
		w.arrives("report.of.appeal", "who", "@eve")
		w.says("It was my nephew.")
		w.open("admin.report.end")
		w.choose("report.outcome.restored")
		w.fill("admin.report.answer", "Keep an eye on him.")
		w.press("admin.report.end")
		w.arrives("report.of.appeal", "who", "@eve")
		w.says("admin.done.ended")
		w.follow(w.t("admin.report.person", "who", "eve"))
		w.arrives("eve")
		w.press("admin.restore")
		w.arrives("eve")
		w.says("admin.done.restored")
		b.says("And these shoes")
		e.signsIn("eve", webtest.Password)
		e.says("And these shoes")

		door := site.ByApproval
		set(s, func(is *site.Site) { is.SignUp = &door })
		newcomer := d.walker(s, "newcomer")
		for name, sentence := range map[string]string{"dora": "I row every Sunday.", "spambot": "Cheap oars!"} {
			newcomer.types("/")
			newcomer.asksToBeLetIn(name, sentence)
		}
		w.goesTo("admin.title")
		w.arrives("admin.title")
		w.says("signups.now", "n", "2")
		w.follow("signups.title")
		w.arrives("signups.title")
		w.pressIn("I row every Sunday.", "signups.admit")
		w.arrives("signups.title")
		w.says("signups.done.admitted")
		w.fillIn("Cheap oars!", "signups.answer", "No oars, please.")
		w.press("signups.refuse")
		w.arrives("signups.title")
		w.says("signups.done.refused")
		w.says("signups.none")
		newcomer.signsIn("spambot", webtest.Password)
		newcomer.says("login.refused.answer", "answer", "No oars, please.")
		newcomer.signsIn("dora", webtest.Password)
		newcomer.loses("nav.signin")

		for _, address := range []string{"/admin/site", "/admin/doors", "/admin/health", "/admin/acts"} {
			w.types(address)
			w.arrives("error.missing.title")
		}
	})
}

// lacksLink checks that no link says that.
func (w *walker) lacksLink(words string) {
	w.T.Helper()
	if webtest.Eval[bool](w.Tab, call(`(words) => [...document.querySelectorAll('main a')].some((a) => (a.querySelector('b') ?? a).innerText.trim() === words)`, w.t(words))) {
		w.T.Errorf("%s: the page leads to %s", w.Name, words)
	}
}

// asksToBeLetIn goes from any page to the form for newcomers and sends it.
func (w *walker) asksToBeLetIn(name, sentence string) {
	w.T.Helper()
	w.types("/login")
	w.touch("main a", w.t("nav.signup"), "")
	w.arrives("signup.title")
	w.fill("signup.name", name)
	w.fill("signup.password", webtest.Password)
	w.fill("signup.sentence", sentence)
	w.press("signup.ask")
	w.arrives("signup.title")
	w.says("signup.asked")
}
