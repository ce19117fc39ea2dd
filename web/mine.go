package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/bulk"
	"riverrun/timelines/publishing"
	"riverrun/web/view"
)

// mine serves what the viewer wrote, by what has become of it, and what is done to several posts at once.
type mine struct{ *Server }

func (s mine) routes(mux router) {
	mux.Handle("GET "+view.MinePath, s.members(s.list))
	mux.Handle("POST "+view.MinePath, s.members(s.several))
	mux.Handle("GET "+view.MineProgressPath, s.members(s.work))
	mux.Handle("POST "+view.MineProgressPath+"/stop", s.members(s.stop))
	mux.Handle("POST "+view.MineProgressPath+"/seen", s.members(s.seen))
}

// minePage is how many posts a page of the list has.
const minePage = 25

// preset is the preset that a request names; all of them if it names none.
func (r *request) preset() (publishing.Preset, error) {
	p := publishing.Preset(r.FormValue("show"))
	switch {
	case p == "":
		return publishing.PresetAll, nil
	case !p.Known():
		return "", timelines.ErrNotFound
	}
	return p, nil
}

func (s mine) list(w http.ResponseWriter, r *request) error {
	preset, err := r.preset()
	if err != nil {
		return err
	}
	v, err := s.view(r, preset)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.MinePage(v))
}

// view reads the page of the list that the request is of.
func (s mine) view(r *request, preset publishing.Preset) (v view.Mine, err error) {
	ctx, me, store := r.Context(), r.viewer.AccountID, s.timelines.Publishing
	v = view.Mine{Base: s.simple(r), Preset: preset}
	if v.Until, err = store.Newest(ctx, me); err != nil { // before what the page shows
		return v, err
	}
	below := publishing.Place{}
	if code, ok := timelines.ParseCode(r.FormValue("before")); ok {
		if below, ok, err = store.PlaceOf(ctx, me, code); err != nil || !ok {
			return v, errors.Join(err, notFoundUnless(ok))
		}
	}
	if v.Sets, err = s.rivers.Access().Sets(ctx, me); err != nil {
		return v, err
	}
	if err := s.nameFollows(r, v.Base); err != nil {
		return v, err
	}
	if v.Posts, err = store.Page(ctx, me, preset, below, minePage+1); err != nil {
		return v, err
	}
	if len(v.Posts) > minePage {
		v.Posts = v.Posts[:minePage]
		v.Next = v.Posts[minePage-1].Code
	}
	if v.Sells, err = store.Sells(ctx, me, preset); err != nil {
		return v, err
	}
	if v.Work, err = s.bulk.Find(ctx, me); err != nil {
		return v, err
	}
	v.Numbers, err = s.numbers(r)
	return v, err
}

func notFoundUnless(ok bool) error {
	if ok {
		return nil
	}
	return timelines.ErrNotFound
}

// numbers are those of the tabs.
func (s mine) numbers(r *request) (n view.MineNumbers, err error) {
	if n.Numbers, err = s.timelines.Publishing.Numbers(r.Context(), r.viewer.AccountID); err != nil {
		return n, err
	}
	if n.Drafts, err = s.timelines.Drafts.Count(r.Context(), r.viewer.AccountID); err != nil {
		return n, err
	}
	n.Scheduled, err = s.timelines.Scheduled.Count(r.Context(), r.viewer.AccountID)
	return n, err
}

// several begins to change the chosen posts. It asks before it deletes them.
func (s mine) several(w http.ResponseWriter, r *request) error {
	preset, err := r.preset()
	if err != nil {
		return err
	}
	wish := bulk.Wish{Act: bulk.Act(r.PostFormValue("act")), Preset: preset, To: destinationsOf(r.PostForm["to"])}
	if how, is := strings.CutPrefix(string(wish.Act), "close."); is {
		wish.Act, wish.To = bulk.Close, []string{how}
	}
	all := r.PostFormValue("all") != ""
	if until := r.PostFormValue("until"); all && until != "" {
		if wish.Until, err = strconv.ParseInt(until, 10, 64); err != nil || wish.Until <= 0 {
			return timelines.ErrNotFound
		}
	}
	if !all {
		wish.Codes = append([]string{}, r.PostForm["post"]...)
	}
	if wish.Act == bulk.Delete && r.PostFormValue("sure") == "" {
		v := view.MineDelete{Base: s.simple(r), Preset: preset, All: all, Codes: wish.Codes, Count: len(wish.Codes)}
		if all {
			if v.Until, err = s.timelines.Publishing.Newest(r.Context(), r.viewer.AccountID); err != nil {
				return err
			}
			n, err := s.timelines.Publishing.CountUntil(r.Context(), r.viewer.AccountID, preset, v.Until)
			if err != nil {
				return err
			}
			v.Count = int(n)
		} else if len(wish.Codes) == 1 {
			body, err := s.timelines.Posts.Body(r.Context(), r.viewer.AccountID, wish.Codes[0])
			switch {
			case err == nil:
				v.Beginning = view.BeginningOf(r.loc, body)
			case !errors.Is(err, timelines.ErrNotFound) && !errors.Is(err, timelines.ErrForbidden): // the work says so of such a post
				return err
			}
		}
		if v.Count > 0 {
			return s.html(w, r, http.StatusOK, view.MineDeletePage(v))
		}
	}
	if err := s.mayChange(r); err != nil {
		return err
	}
	if err := s.bulk.Begin(r.Context(), r.viewer.AccountID, wish); err != nil {
		var is view.FormError
		if errors.Is(err, bulk.ErrWorking) {
			is = view.FormError{Text: r.loc.T("mine.working"), Status: http.StatusConflict}
		} else if is, err = s.formError(r, err); err != nil {
			return err
		}
		v, err := s.view(r, preset)
		if err != nil {
			return err
		}
		v.Error, v.To = is, r.PostFormValue("to")
		return s.redisplay(w, r, is, view.MinePage(v))
	}
	return redirect(w, r, view.MineAddress(preset))
}

// work is the part of the page that says how far it is and, once it is over, the others that it changed.
func (s mine) work(w http.ResponseWriter, r *request) error {
	preset, err := r.preset()
	if err != nil {
		return err
	}
	if !r.wantsFragment() {
		return redirect(w, r, view.MineAddress(preset))
	}
	work, err := s.bulk.Find(r.Context(), r.viewer.AccountID)
	if err != nil {
		return err
	}
	if work.Working() {
		return s.html(w, r, http.StatusOK, view.MineWork(view.Mine{Base: s.simple(r), Preset: preset, Work: work}))
	}
	v, err := s.view(r, preset)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.MineChanged(v))
}

func (s mine) stop(w http.ResponseWriter, r *request) error { return s.answered(w, r, s.bulk.Stop) }

func (s mine) seen(w http.ResponseWriter, r *request) error { return s.answered(w, r, s.bulk.Seen) }

// answered does something with the work, and leads back to the tab.
func (s mine) answered(w http.ResponseWriter, r *request, do func(ctx context.Context, account int64) error) error {
	preset, err := r.preset()
	if err != nil {
		return err
	}
	if err := do(r.Context(), r.viewer.AccountID); err != nil {
		return err
	}
	return s.done(w, r, view.MineAddress(preset))
}
