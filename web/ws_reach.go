package web

import (
	"context"
	"errors"
	"slices"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
)

// reach adds to a first page what stands below it, down to the lowest entry that is
// shown, or below it if that was all there is, as far as any is shown: a page grows, and
// what may be seen again comes back in its place among those that stay. It reads no more
// pages than the posts shown would fill, ends at one that has none of them, and leaves
// time to send what was decided: what is not reached stays as it is, and is asked after.
func (v *view) reach(ctx context.Context, page *rivers.Page, decided time.Time) error {
	if !v.before.Top() {
		return nil
	}
	cfg := &v.socket.hub.cfg
	first, most := len(page.Items), 0
	for id := range v.shown {
		if id > 0 { // below are codes of no post
			most++
		}
	}
	on := make(map[int64]struct{}, len(v.shown))
	add := func(items []rivers.Item) {
		for i := range items {
			on[items[i].PostID] = struct{}{}
		}
	}
	lower := func() bool {
		if !v.more {
			return true
		}
		for id, e := range v.shown {
			if _, ok := on[id]; !ok && id > 0 && e.place <= page.Next.Place { // 0 where only the client knows it
				return true
			}
		}
		return false
	}
	add(page.Items)
	for range most / rivers.PageSize {
		if !page.More || !lower() || cfg.now().Sub(decided) > cfg.staleAfter/2 {
			break
		}
		next, err := cfg.rivers.Visit(ctx, v.look.viewer, v.name, page.Next)
		if errors.Is(err, timelines.ErrBroad) || errors.Is(err, rivers.ErrUnavailable) {
			break // the first page may be read all the same
		}
		if err != nil {
			return err
		}
		if next.River != page.River {
			v.socket.resync()
			break
		}
		if next.Beyond || !slices.ContainsFunc(next.Items, func(it rivers.Item) bool { return v.shown[it.PostID] != nil }) {
			break
		}
		add(next.Items)
		page.Items = slices.Concat(page.Items, next.Items)
		page.More, page.Next = next.More, next.Next
	}
	for n := len(page.Items); n > first && v.more; n-- {
		if v.shown[page.Items[n-1].PostID] != nil {
			break
		}
		page.Items, page.More = page.Items[:n-1], true
	}
	return nil
}
