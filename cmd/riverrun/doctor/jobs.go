package doctor

import (
	"context"
	"fmt"
	"time"

	"riverrun/jobs"
)

// jobs checks how the queue stands, and returns how many nodes live; -1 if that is not known.
func (e examination) jobs(ctx context.Context, db *database) (nodes int) {
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	s, err := jobs.Stand(ctx, db.pool)
	if err != nil {
		e.addError("jobs", err, "run \"riverrun migrate\" if the queue has no tables")
		return -1
	}
	e.Checks = append(e.Checks, jobChecks(s)...)
	return s.Nodes
}

// Waits after which something is wrong: for jobs that people with an open page wait for, and for others,
// which imports and sources bring by thousands.
const (
	urgentWarn, urgentFail = 30 * time.Second, 10 * time.Minute
	otherWarn              = 15 * time.Minute
	// longRun is how long a job may run, but for the loads of sources.
	longRun = 30 * time.Minute
)

func jobChecks(s jobs.Standing) []Check {
	rows := []Check{{"nodes", OK, fmt.Sprintf("%d live", s.Nodes), ""}}
	if s.Nodes == 0 {
		rows[0] = Check{"nodes", Warn, "none lives: nobody serves the site or works jobs", "start \"riverrun serve\""}
	}
	before := len(rows)
	for _, q := range s.Queues {
		add := func(status Status, found, do string) {
			rows = append(rows, Check{"jobs: " + q.Name, status, found, do})
		}
		if q.Discarded > 0 {
			add(Fail, fmt.Sprintf("%d discarded: they will not be tried again", q.Discarded),
				"look into queue.river_job (errors) for why, mend it, and set their state to available")
		}
		if q.MissedChores > 0 {
			add(Warn, fmt.Sprintf("%d runs of chores failed lately", q.MissedChores), "look into the log; the next run does what they did not")
		}
		if q.Failing > 0 {
			add(Warn, fmt.Sprintf("%d fail again and again", q.Failing), "look for \"job failed\" in the log; they are tried until they succeed")
		}
		if q.Orphaned > 0 {
			add(Warn, fmt.Sprintf("%d are running by the name of a node that does not live", q.Orphaned), "start a node: it takes them over")
		}
		if q.Longest > longRun && q.Name != "sources" {
			add(Warn, fmt.Sprintf("one runs since %v", q.Longest.Round(time.Second)), "look at that node's log, and start it again if it hangs")
		}
		do := "see which process should work them, and its log; RIVERRUN_WORKERS says how many at a time"
		if s.Nodes == 0 {
			do = "start \"riverrun serve\" or \"riverrun work\""
		}
		status := OK
		switch {
		case q.Urgent() && q.Oldest > urgentFail && s.Nodes > 0:
			status = Fail
		case q.Urgent() && q.Oldest > urgentWarn, q.Oldest > otherWarn:
			status = Warn
		}
		if status != OK {
			add(status, fmt.Sprintf("%d wait, the oldest for %v", q.Waiting, q.Oldest.Round(time.Second)), do)
		}
	}
	if s.BehindFor > otherWarn {
		rows = append(rows, Check{"jobs: later", Warn, fmt.Sprintf("%d changes wait for closed pages, the oldest for %v", s.Behind, s.BehindFor.Round(time.Second)), "see whether a node lives, and its log"})
	}
	if len(rows) == before {
		var waiting, running int64
		for _, q := range s.Queues {
			waiting, running = waiting+q.Waiting, running+q.Running
		}
		rows = append(rows, Check{"jobs", OK, fmt.Sprintf("%d wait, %d run, none stands", waiting, running), ""})
	}
	return rows
}
