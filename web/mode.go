package web

import (
	"context"
	"net/http"

	"riverrun/timelines"
	"riverrun/web/view"
)

func (s settings) setMode(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	mode := r.PostFormValue("mode")
	var err error = &timelines.InvalidError{Field: "mode", Code: "mode_unknown"}
	if mode == view.ModeFriends || mode == view.ModeActivity {
		_, err = s.act(r, func(ctx context.Context) (timelines.Change, error) {
			return s.timelines.Accounts.SetFriendsOnly(ctx, r.viewer.AccountID, mode == view.ModeFriends)
		})
	}
	if err != nil {
		return s.settingsAgain(w, r, err, func(*view.Settings) {})
	}
	return s.done(w, r, "/settings?saved")
}
