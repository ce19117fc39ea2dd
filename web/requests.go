package web

import (
	"riverrun/timelines"
	"riverrun/web/view"
)

// requests returns the requests that wait for the viewer's answer, for the page of that path:
// all of them, or those to join a group.
func (s *Server) requests(r *request, path string, group int64) (view.Requests, error) {
	list := view.Requests{ListPart: view.ListPart{Path: path, List: "requests", After: r.URL.Query().Get("requests")}}
	if !r.signedIn() {
		return list, nil
	}
	var after timelines.RequestPlace
	if list.After != "" {
		at, names, err := parsePlace(list.After, 2)
		if err != nil {
			return list, err
		}
		after = timelines.RequestPlace{CreatedAt: at, From: names[0], To: names[1]}
	}
	found, err := s.timelines.Subscriptions.Requests(r.Context(), r.viewer.AccountID, group, after, view.DirectoryPage+1)
	if err != nil {
		return list, err
	}
	if len(found) > view.DirectoryPage {
		found = found[:view.DirectoryPage]
		last := found[view.DirectoryPage-1].Place()
		list.Next = formatPlace(last.CreatedAt, last.From, last.To)
	}
	list.All = make([]view.Request, len(found))
	for i, q := range found {
		list.All[i] = view.Request{Who: q.From}
		if q.To.ID != r.viewer.AccountID {
			list.All[i].Group = q.To
		}
	}
	return list, nil
}
