package web

import "riverrun/timelines"

// requestList is a part of those who wait for the viewer's answer.
type requestList struct {
	listPart
	all []requestView
}

// requestView is somebody who waits for the viewer's answer.
type requestView struct {
	who   timelines.Account
	group timelines.Account // zero: asks to read the viewer
}

// requests returns who waits for the viewer's answer, to be shown on the page of
// that path: all of them, or those who ask to join a group.
func (s *Server) requests(r *request, path string, group int64) (requestList, error) {
	list := requestList{listPart: listPart{path: path, list: "requests", after: r.URL.Query().Get("requests")}}
	if !r.signedIn() {
		return list, nil
	}
	var after timelines.RequestPlace
	if list.after != "" {
		at, names, err := parsePlace(list.after, 2)
		if err != nil {
			return list, err
		}
		after = timelines.RequestPlace{CreatedAt: at, From: names[0], To: names[1]}
	}
	found, err := s.timelines.Requests(r.Context(), r.viewer.AccountID, group, after, directoryPage+1)
	if err != nil {
		return list, err
	}
	if len(found) > directoryPage {
		found = found[:directoryPage]
		last := found[directoryPage-1].Place()
		list.next = formatPlace(last.CreatedAt, last.From, last.To)
	}
	list.all = make([]requestView, len(found))
	for i, q := range found {
		list.all[i] = requestView{who: q.From}
		if q.To.ID != r.viewer.AccountID {
			list.all[i].group = q.To
		}
	}
	return list, nil
}
