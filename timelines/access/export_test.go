package access

import (
	"context"
	"fmt"
	"reflect"

	"riverrun/timelines"
)

// CheckLoads has each table load several keys at once, and says which answers differ from those to each key by itself.
// Nothing stands under the names of strangers.
func (c *Cache) CheckLoads(ctx context.Context, people []timelines.Account, sessions []timelines.Session, strangers ...string) (wrong []string) {
	var ids, feeds []int64
	var names []string
	for _, a := range people {
		ids, feeds, names = append(ids, a.ID), append(feeds, a.FeedID), append(names, a.Name)
	}
	wrong = append(wrong, checkLoad(ctx, "sessions", &c.sessions, sessions)...)
	wrong = append(wrong, checkLoad(ctx, "sets", &c.sets, ids)...)
	wrong = append(wrong, checkLoad(ctx, "timelines", &c.timelines, feeds)...)
	wrong = append(wrong, checkLoad(ctx, "levels", &c.levels, feeds)...)
	wrong = append(wrong, checkLoad(ctx, "accounts", &c.byID, ids)...)
	wrong = append(wrong, checkLoad(ctx, "names", &c.ids, names, strangers...)...)
	wrong = append(wrong, checkLoad(ctx, "sub-feeds", &c.subfeeds, ids)...)
	wrong = append(wrong, checkLoad(ctx, "followers", &c.followers, ids)...)
	wrong = append(wrong, checkLoad(ctx, "following", &c.following, ids)...)
	wrong = append(wrong, checkLoad(ctx, "readers", &c.readers, ids)...)
	wrong = append(wrong, checkLoad(ctx, "requests", &c.requests, ids)...)
	wrong = append(wrong, checkLoad(ctx, "arrivals", &c.arrivals, ids)...)
	return append(wrong, checkLoad(ctx, "alerts", &c.alerts, ids)...)
}

func checkLoad[K comparable, V any](ctx context.Context, what string, t *table[K, V], keys []K, strangers ...K) (wrong []string) {
	all, err := t.load(ctx, append(append([]K{}, strangers...), keys...))
	if err != nil {
		return []string{fmt.Sprint(what, ": ", err)}
	}
	for _, key := range strangers {
		if found, ok := all[key]; ok {
			wrong = append(wrong, fmt.Sprintf("%s: under %v stands %v", what, key, found))
		}
	}
	for _, key := range keys {
		alone, err := t.load(ctx, []K{key})
		if err != nil {
			return append(wrong, fmt.Sprint(what, ": ", err))
		}
		want, stands := alone[key]
		if found, ok := all[key]; ok != stands || !reflect.DeepEqual(found, want) {
			wrong = append(wrong, fmt.Sprintf("%s: under %v stands %v among others and %v alone", what, key, found, want))
		}
	}
	return wrong
}
