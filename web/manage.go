package web

import (
	"context"
	"net/http"

	"riverrun/timelines"
)

// manageView is the page on which administrators run their group, as components
// see it, with one of the forms as it was sent if something was wrong with it.
type manageView struct {
	*present
	who          timelines.Account // the group
	title, about string
	requests     requestList
	readers      []managedList // admitted, excluded
	blocked      managedList
	saved        bool
	wrong        wrong
	act, name    string // the form about a person with which something was wrong
}

// managedList are people to whom administrators have done something, with the forms
// that do it to one more and undo it.
type managedList struct {
	listPart
	title, hint   string
	people        []timelines.Account
	do, undo      string
	doing, undone string // labels
	takes         bool   // undoing it takes something away
}

// wrongIn returns what is wrong with the forms of a list.
func (v manageView) wrongIn(l managedList) string {
	if v.act == l.do || v.act == l.undo {
		return v.wrong.at("name")
	}
	return ""
}

// stray returns what was wrong with a form about a person that the page does not
// have, such as a hand-made one.
func (v manageView) stray() string {
	for _, l := range append([]managedList{v.blocked}, v.readers...) {
		if v.wrongIn(l) != "" {
			return ""
		}
	}
	return v.wrong.at("name")
}

// typed is the name in the form of a list.
func (v manageView) typed(l managedList) string {
	if v.act == l.do {
		return v.name
	}
	return ""
}

func managePath(group string) string { return "/" + group + "/manage" }

func (s *Server) manageGroup(w http.ResponseWriter, r *request) error {
	v, err := s.manageView(r, r.PathValue("name"))
	if err != nil {
		return err
	}
	v.saved = r.URL.Query().Has("saved")
	return s.html(w, r, http.StatusOK, managePage(v))
}

// manageView reads a group's page for the viewer, who must administer it.
func (s *Server) manageView(r *request, group string) (manageView, error) {
	ctx := r.Context()
	v := manageView{present: s.simple(r)}
	var err error
	if v.who, err = s.rivers.Access().AccountNamed(ctx, group); err != nil {
		return v, err
	}
	if v.who.Kind != timelines.Group {
		return v, timelines.ErrNotFound
	}
	if !r.signedIn() {
		return v, errSignIn
	}
	if v.sets, err = s.rivers.Access().Sets(ctx, r.viewer.AccountID); err != nil {
		return v, err
	}
	if !v.administers(v.who.ID) {
		return v, timelines.ErrForbidden
	}
	v.title, v.about = v.who.Title, v.who.About
	if v.requests, err = s.requests(r, managePath(v.who.Name), v.who.ID); err != nil {
		return v, err
	}
	return v, s.managedLists(r, &v)
}

// managedLists reads the lists of people. Those of readers are shown where they
// count, and exclusions wherever there are any, since they keep people from joining
// at every level.
func (s *Server) managedLists(r *request, v *manageView) error {
	read := func(l managedList, of func(context.Context, int64, string, int) ([]timelines.Account, error)) (managedList, error) {
		var err error
		if l.listPart, err = partOf(r, l.path, l.list); err != nil {
			return l, err
		}
		list, err := of(r.Context(), v.who.ID, l.after, directoryPage+1)
		l.people = l.cut(list)
		return l, err
	}
	if v.who.Access == timelines.Private {
		admitted, err := read(v.admitted(), s.timelines.AdmittedTo)
		if err != nil {
			return err
		}
		v.readers = append(v.readers, admitted)
	}
	excluded, err := read(v.excluded(), s.timelines.ExcludedFrom)
	if err != nil {
		return err
	}
	if v.who.Access == timelines.Protected || len(excluded.people) > 0 {
		v.readers = append(v.readers, excluded)
	}
	v.blocked, err = read(v.unheard(), s.timelines.Blocked)
	return err
}

// part is the first part of one of the lists.
func (v manageView) part(list string) listPart {
	return listPart{path: managePath(v.who.Name), list: list}
}

// The lists, without people.

func (v manageView) admitted() managedList {
	return managedList{
		listPart: v.part("admitted"), title: v.loc.T("manage.admitted"), hint: v.loc.T("manage.admitted.hint"),
		do: "admit", doing: v.loc.T("feeds.admit"), undo: "dismiss", undone: v.loc.T("feeds.remove"), takes: true,
	}
}

func (v manageView) excluded() managedList {
	l := managedList{
		listPart: v.part("excluded"), title: v.loc.T("manage.excluded"), hint: v.loc.T("manage.excluded.kept"),
		do: "exclude", doing: v.loc.T("manage.exclude"), undo: "unexclude", undone: v.loc.T("feeds.unexclude"),
	}
	if v.who.Access == timelines.Protected {
		l.hint = v.loc.T("manage.excluded.hint")
	}
	return l
}

func (v manageView) unheard() managedList {
	return managedList{
		listPart: v.part("blocked"), title: v.loc.T("manage.blocked"), hint: v.loc.T("manage.blocked.hint"),
		do: "block", doing: v.loc.T("members.block"), undo: "unblock", undone: v.loc.T("members.unblock"),
	}
}

// setGroup changes what a group says of itself.
func (s *Server) setGroup(w http.ResponseWriter, r *request) error {
	group, title, about := r.PathValue("name"), r.PostFormValue("title"), r.PostFormValue("about")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return s.timelines.SetGroupProfile(ctx, r.viewer.AccountID, group, title, about)
	})
	if err != nil {
		return s.manageAgain(w, r, group, err, func(v *manageView) { v.title, v.about = title, about })
	}
	return s.done(w, r, managePath(group)+"?saved")
}

// manageAgain shows a group's page with what was wrong in one of its forms.
func (s *Server) manageAgain(w http.ResponseWriter, r *request, group string, err error, asSent func(*manageView)) error {
	is, err := s.wrongIn(r, err)
	if err != nil {
		return err
	}
	v, err := s.manageView(r, group)
	if err != nil {
		return err
	}
	v.wrong = is
	asSent(&v)
	return s.again(w, r, is, managePage(v))
}
