package live

import (
	"context"

	"riverrun/rivers"
	"riverrun/timelines"
)

// A still page is served without a river (see Config.Still). Its socket costs no river and no
// lease. Its topic is flushed with the others of its shard, which says whether its viewer is
// signed out, how many notifications are unread, and what the page is decided with. The entries
// stay as they were served until the reader loads the page again.

// watchStill registers the socket of a still page, and sends what differs around the entries.
func (v *shownPage) watchStill(ctx context.Context) error {
	h := v.socket.hub
	w := rivers.Watch{Viewer: v.renderContext.Viewer, Name: v.name, Still: true}
	if !v.joined || v.watch != w {
		v.leave()
		v.shard, v.watch, v.joined = h.shardOf(v.name), w, true
		v.shard.join(w, v.socket)
	}
	seen, err := h.cfg.Rivers.Flush(ctx, []rivers.Watch{w}, nil)
	if err != nil {
		return err
	}
	switch {
	case seen[0].SignedOut:
		return timelines.ErrSignedOut
	case seen[0].Closed:
		return rivers.ErrNotFound
	}
	now, err := h.cfg.Pages.Fingerprint(ctx, v.name, seen[0].Sets)
	if err != nil {
		return err
	}
	if err := v.updateFingerprint(ctx, now); err != nil {
		return err
	}
	if !v.owed {
		return nil
	}
	v.owed = false
	return v.socket.send(ctx, "ok", frameStill(v.river, h.cfg.Pages.Token(v.fingerprint)))
}

// workStill does what the inbox of a still page asks for.
func (v *shownPage) workStill(ctx context.Context, n inbox) error {
	if n.resync && n.subscribe == nil {
		if err := v.watchStill(ctx); err != nil {
			return err
		}
	}
	return v.sendUnread(ctx, n.unread)
}
