package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
)

// membersView is the page of a group's members as components see it.
type membersView struct {
	*present
	who    timelines.Account // the group
	admins []timelines.Account
	leads  listPart           // of the administrators
	all    []timelines.Member // who are no administrators
	after  string             // where this page of them begins
	next   string             // where the next one does, "" if there is none
	count  int                // of all members, administrators who are among them
	wrong  wrong
}

// leadsAlone reports whether only one administers the group, and so cannot step down.
func (v membersView) leadsAlone() bool {
	return len(v.admins) == 1 && v.leads.after == "" && v.leads.next == ""
}

// none says that no members are listed: there are none, or they all administer it.
func (v membersView) none() string {
	if v.count == 0 {
		return v.loc.T("members.none.all")
	}
	return v.loc.T("members.none")
}

// path is the page's address without a query.
func (v membersView) path() string { return "/" + v.who.Name + "/members" }

// address is the page's own, where the forms of its members lead back to.
func (v membersView) address() string {
	if v.after == "" {
		return v.path()
	}
	return v.path() + "?after=" + v.after // a name, as inDirectory made sure
}

// groupMembers lists who is in a group, to whoever may open it.
func (s *Server) groupMembers(w http.ResponseWriter, r *request) error {
	return s.showMembers(w, r, r.URL.Query().Get("after"), wrong{})
}

// showMembers shows the page of members, with what was wrong with an act on it.
func (s *Server) showMembers(w http.ResponseWriter, r *request, after string, is wrong) error {
	ctx := r.Context()
	if !inDirectory(after) {
		return errNoPage
	}
	v := membersView{present: s.simple(r), after: after, wrong: is}
	var err error
	if v.who, err = s.group(r); err != nil {
		return err
	}
	if v.sets, err = s.rivers.Access().Sets(ctx, r.viewer.AccountID); err != nil {
		return err
	}
	if !v.sets.Reads(v.who.FeedID, v.who.Access) {
		return s.closedAccount(w, r, v.who, "")
	}
	if v.leads, err = partOf(r, v.path(), "admins"); err != nil {
		return err
	}
	admins, err := s.timelines.Administrators(ctx, v.who.ID, v.leads.after, directoryPage+1)
	if err != nil {
		return err
	}
	v.admins = v.leads.cut(admins)
	if v.count, err = s.rivers.Access().MemberCount(ctx, v.who.ID); err != nil {
		return err
	}
	if v.all, err = s.timelines.Members(ctx, v.who.ID, after, directoryPage+1); err != nil {
		return err
	}
	if len(v.all) > directoryPage {
		v.all = v.all[:directoryPage]
		v.next = v.all[directoryPage-1].Name
	}
	if is.Text != "" {
		return s.again(w, r, is, membersPage(v))
	}
	return s.html(w, r, http.StatusOK, membersPage(v))
}

// group returns the group of the address with its present level, or
// timelines.ErrNotFound.
func (s *Server) group(r *request) (timelines.Account, error) {
	a, err := s.rivers.Access().AccountNamed(r.Context(), r.PathValue("name"))
	if err == nil && a.Kind != timelines.Group {
		err = timelines.ErrNotFound
	}
	return a, err
}

func (s *Server) promote(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.Promote)
}

func (s *Server) demote(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.Demote)
}

func (s *Server) block(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.Block)
}

func (s *Server) unblock(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.Unblock)
}

func (s *Server) excludeReader(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.ExcludeFromGroup)
}

func (s *Server) unexcludeReader(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.UnexcludeFromGroup)
}

func (s *Server) admitReader(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.AdmitToGroup)
}

func (s *Server) dismissReader(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.DismissFromGroup)
}

func (s *Server) removeMember(w http.ResponseWriter, r *request) error {
	return s.moderate(w, r, s.timelines.RemoveMember)
}

// moderate does what an administrator does to the person the form names, in the
// group of the address. The form stands on the page of members or on the
// administrators' own.
func (s *Server) moderate(w http.ResponseWriter, r *request,
	do func(ctx context.Context, actor int64, group, name string) (timelines.Change, error),
) error {
	group := r.PathValue("name")
	var name string
	if names := destinationsOf(r.PostForm["name"]); len(names) > 0 {
		name = names[0] // typed as people type names, with @ and capitals
	}
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		return do(ctx, r.viewer.AccountID, group, name)
	})
	back := r.back("/" + group + "/members")
	if err == nil {
		return s.done(w, r, back)
	}
	if path, _, _ := strings.Cut(back, "?"); path == managePath(group) {
		return s.manageAgain(w, r, group, err, func(v *manageView) {
			v.act, v.name = r.PathValue("act"), r.PostFormValue("name")
		})
	}
	is, err := s.wrongIn(r, err)
	if err != nil {
		return err
	}
	return s.showMembers(w, r, "", is)
}
