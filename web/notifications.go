package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
	"riverrun/timelines/scheduled"
	"riverrun/timelines/sources"
	"riverrun/web/view"
)

// notifications serves the page of what happened that concerns the viewer.
type notifications struct{ *Server }

func (s notifications) routes(mux router) {
	mux.Handle("GET "+view.NotificationsPath, s.page(s.list))
	mux.Handle("POST "+view.NotificationsPath+"/read", s.members(s.readAll))
}

// list serves the page. Notifications that it shows count as read from then on; the page itself
// still marks them as new.
func (s notifications) list(w http.ResponseWriter, r *request) error {
	v, err := s.visit(r)
	if err != nil {
		return err
	}
	page := view.Notifications{River: v}
	if v.Top() {
		// The number is remembered; the requests themselves are read when there are any.
		asked := append([]int64{r.viewer.AccountID}, v.Sets.Administers...)
		asking, err := s.rivers.Access().RequestCount(r.Context(), asked)
		if err != nil {
			return err
		}
		if asking > 0 {
			if page.Requests, err = s.requests(r, view.NotificationsPath, 0); err != nil {
				return err
			}
		}
		if page.Alerts, err = s.alerts(r, v, asked); err != nil {
			return err
		}
		if page.Failed, err = s.failed(r, v); err != nil {
			return err
		}
		if page.Approvals, err = s.approvals(r, v); err != nil {
			return err
		}
		if page.Refused, err = s.refused(r, v); err != nil {
			return err
		}
		if page.Answered, err = s.answered(r); err != nil {
			return err
		}
		if page.Arrivals, err = s.arrivals(r.Context(), v.Base, asked); err != nil {
			return err
		}
	}
	if err := s.html(w, r, http.StatusOK, view.NotificationsPage(page)); err != nil {
		return err
	}
	s.read(r, v)
	s.seenAlerts(r, page)
	return nil
}

// failed are the viewer's scheduled posts that could not be published. They are read when the node remembers
// that there are any to show.
func (s notifications) failed(r *request, v *view.River) ([]scheduled.Post, error) {
	ctx, me, recent := r.Context(), r.viewer.AccountID, v.Now.Add(-alertsShown).UnixMicro()
	known, err := s.rivers.Access().Alerts(ctx, []int64{me})
	if err != nil || !slices.ContainsFunc(known[me], func(a access.Alert) bool { return a.Scheduled && (v.Sets.Tells(a) || a.At > recent) }) {
		return nil, err
	}
	all, err := s.timelines.Scheduled.All(ctx, me)
	all = slices.DeleteFunc(all, func(p scheduled.Post) bool {
		return !p.Failed() || p.FailedAt.UnixMicro() <= min(recent, r.sets.AlertsSeen)
	})
	return all[:min(len(all), view.MostAlerts)], err
}

// approvals are the groups of the viewer's where posts wait.
func (s notifications) approvals(r *request, v *view.River) ([]timelines.Account, error) {
	known, err := s.rivers.Access().Alerts(r.Context(), v.Sets.Administers)
	if err != nil {
		return nil, err
	}
	var asked []int64
	for _, id := range v.Sets.Administers {
		if slices.ContainsFunc(known[id], func(a access.Alert) bool { return a.Approval }) {
			asked = append(asked, id)
		}
	}
	if err := s.view.NameAccounts(r.Context(), v.Base, asked); err != nil {
		return nil, err
	}
	groups := make([]timelines.Account, len(asked))
	for i, id := range asked {
		groups[i] = v.Account(id)
	}
	slices.SortFunc(groups, byTitle)
	return groups, nil
}

// refused are the viewer's posts that were blocked, or that a group did not take. They are read as failed ones are.
func (s notifications) refused(r *request, v *view.River) ([]timelines.Refused, error) {
	ctx, me, recent := r.Context(), r.viewer.AccountID, v.Now.Add(-alertsShown).UnixMicro()
	known, err := s.rivers.Access().Alerts(ctx, []int64{me})
	if err != nil || !slices.ContainsFunc(known[me], func(a access.Alert) bool { return a.Moderated && (v.Sets.Tells(a) || a.At > recent) }) {
		return nil, err
	}
	list, err := s.timelines.Posts.Refused(ctx, me, view.MostAlerts)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(p timelines.Refused) bool { return p.At.UnixMicro() <= min(recent, r.sets.AlertsSeen) })
	var groups []int64
	for _, p := range list {
		if p.GroupID != 0 {
			groups = append(groups, p.GroupID)
		}
	}
	return list, s.view.NameAccounts(ctx, v.Base, groups)
}

// alertsShown is how long an alert that was seen, and asks nothing, stands on the page.
const alertsShown = 7 * 24 * time.Hour

// alerts are the sources of these accounts, the viewer's and those of groups that the viewer administers, that ask or
// have come to a stop. They are read when the node remembers that there are any to show.
func (s notifications) alerts(r *request, v *view.River, accounts []int64) ([]sources.Alerting, error) {
	ctx, recent := r.Context(), v.Now.Add(-alertsShown).UnixMicro()
	known, err := s.rivers.Access().Alerts(ctx, accounts)
	if err != nil || notices.Off(v.Sets.NoticesOff).Has(notices.Source) {
		return nil, err
	}
	shown := func(a access.Alert) bool { return a.OfSource() && (v.Sets.Tells(a) || a.At > recent) }
	if !slices.ContainsFunc(accounts, func(id int64) bool { return slices.ContainsFunc(known[id], shown) }) {
		return nil, nil
	}
	list, err := s.sources.Alerts(ctx, r.viewer.AccountID, view.MostAlerts)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(a sources.Alerting) bool {
		return !shown(access.Alert{Asks: a.Alert == sources.AlertAsks, At: a.At})
	})
	owners := make([]int64, len(list))
	for i, a := range list {
		owners[i] = a.OwnerID
	}
	return list, s.view.NameAccounts(ctx, v.Base, owners)
}

// seenAlerts notes that the viewer has seen alerts, as read does for posts: once for each that is new.
func (s notifications) seenAlerts(r *request, page view.Notifications) {
	var latest int64
	for _, p := range page.Failed {
		latest = max(latest, p.FailedAt.UnixMicro())
	}
	for _, p := range page.Refused {
		latest = max(latest, p.At.UnixMicro())
	}
	for _, a := range page.Alerts {
		if a.Alert != sources.AlertAsks {
			latest = max(latest, a.At)
		}
	}
	if latest <= r.sets.AlertsSeen || !r.looks() {
		return
	}
	ctx := r.Context()
	c, err := s.timelines.Notices.SeenAlerts(ctx, r.viewer.AccountID, latest)
	_, err = s.tiers.Carry(ctx, c, err)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "alerts not noted as seen", "error", err) // they count until the page is opened again
	}
}

// arrivals are the people who lately began to follow the viewer of the page, or joined one of
// the viewer's groups, and the private accounts that let the viewer in. It leaves out people who
// are banned or hidden.
func (s notifications) arrivals(ctx context.Context, p *view.Base, accounts []int64) ([]view.Arrival, error) {
	found, err := s.rivers.Access().Arrivals(ctx, accounts)
	if err != nil {
		return nil, err
	}
	var all []access.Arrival
	var named []int64
	for _, account := range accounts {
		for _, a := range found[account] {
			mine := a.Who == p.Viewer.AccountID
			if mine && account != a.Who || mine && p.Administers(a.To) {
				continue // said already, or one's own group
			}
			other := a.Who
			if mine {
				other = a.To
			}
			if !p.Sets.BlockedBetween(other) && !p.Sets.Hides.Accounts.Has(other) {
				all, named = append(all, a), append(named, a.Who, a.To)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b access.Arrival) int { return b.At.Compare(a.At) })
	if err := s.view.NameAccounts(ctx, p, named); err != nil {
		return nil, err
	}
	var shown []view.Arrival
	at := map[int64]int{} // by whom they came to
	for _, a := range all {
		i, ok := at[a.To]
		if ok && a.Who != p.Viewer.AccountID {
			if came := &shown[i]; len(came.Who) < view.MostArrived {
				came.Who = append(came.Who, p.Account(a.Who))
			} else {
				came.Others++
			}
		} else if len(shown) < view.MostArrivals {
			at[a.To] = len(shown)
			shown = append(shown, view.Arrival{Who: []timelines.Account{p.Account(a.Who)}, To: p.Account(a.To), At: a.At})
		}
	}
	return shown, nil
}

// readAll marks everything as read.
func (s notifications) readAll(w http.ResponseWriter, r *request) error {
	if err := s.limits.writes.allow(accountKey(r.viewer.AccountID)); err != nil {
		return err
	}
	if err := s.rivers.MarkAllRead(r.Context(), r.viewer.AccountID); err != nil {
		return err
	}
	return s.done(w, r, view.NotificationsPath)
}

// read notes that the viewer has read what happened to the posts of a page that was shown whole:
// the page of notifications, or a post's own. A page that nobody is going to see is not read.
func (s *Server) read(r *request, v *view.River) {
	if !r.signedIn() || !r.looks() {
		return
	}
	posts := make([]int64, len(v.Page.Items))
	for i, it := range v.Page.Items {
		posts[i] = it.PostID
	}
	s.rivers.MarkRead(r.viewer.AccountID, posts)
}

// countUnread counts the viewer's unread notifications for a page without a river. Such a page is
// shown without the number if the stores do not answer.
func (s *Server) countUnread(r *request) {
	if r.base == nil || !r.signedIn() {
		return
	}
	ctx := r.Context()
	now, err := s.rivers.Notices(ctx, r.viewer.AccountID)
	var counts []int
	if err == nil {
		counts, err = s.rivers.Unread(ctx, []rivers.UnreadAsk{now})
	}
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "unread notifications not counted", "error", err)
		}
		return
	}
	r.base.Unread = counts[0]
}
