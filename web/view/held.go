package view

import (
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/publishing"
)

// AppealForm is the page on which the author of a blocked post appeals against the block.
type AppealForm struct {
	*Base
	Code   string
	Reason string // of the block
	Text   string
	Error  FormError
}

// AppealPath and StopWaitingPath are addresses of a post that is held.
func AppealPath(code string) string      { return "/p/" + code + "/appeal" }
func StopWaitingPath(code string) string { return "/p/" + code + "/stop-waiting" }

func isBlocked(h *timelines.Held) bool { return h != nil && h.Status == publishing.Blocked }

func isWaiting(h *timelines.Held) bool { return h != nil && h.Status == publishing.Waiting }

// groupsOf names the groups that a post waits for.
func groupsOf(h *timelines.Held) string {
	names := make([]string, len(h.Waits))
	for i, name := range h.Waits {
		names[i] = "@" + name
	}
	return strings.Join(names, ", ")
}
