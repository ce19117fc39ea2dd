// Package adminpages has the pages of those who are in charge, below /admin, and what they do there.
//
// Package web serves them: it finds out who asks, checks their role, and gives each page a [Call].
// The pages know the staff's part of the primary store and the rooms that it leads to. Those
// about the site itself ask rivers and the process through [Process]; none knows sessions. Their store checks the role once more, in the transaction of each act.
package adminpages
