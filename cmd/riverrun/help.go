package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// commands are all subcommands, in the order of the help.
func commands() []command {
	return []command{
		{name: "serve", summary: "serve the site and work jobs (the default)", run: runServe, detail: `
Without DATABASE_URL it first brings up a PostgreSQL of its own in the data
directory. It migrates both stores, prints the site's address and stops on
SIGINT or SIGTERM: sockets are told to reconnect, requests and jobs finish.
Several may share one database.`},
		{name: "work", summary: "work jobs only", run: runWork, detail: `
For machines that take load off those that serve.`},
		{name: "migrate", usage: "[-store primary|secondary -to VERSION]", summary: "bring both stores up to date", run: runMigrate, detail: `
serve does it too. With -store and -to, one store is taken back to an earlier
version before an older riverrun is put in place; what came later is dropped.`},
		{name: "account", usage: "create|password|link|list|admin|suspend|restore|remove-posts|delete|keep [NAME]", summary: "create accounts, say who is in charge, suspend", run: runAccount, detail: `
	account create [-title TITLE] [-language en|ru] NAME
	account password NAME
	account link NAME
	account list [-kind user|group | -find TEXT | -suspended]
	account admin [-moderator | -off] NAME
	account suspend -reason TEXT [-for 72h] [-hide] NAME
	account restore NAME
	account remove-posts NAME
	account delete [-reason TEXT] [-now] NAME
	account keep NAME

The password is asked for at the terminal, or read as one line from a pipe. A
new password signs the account out everywhere. With the address that link prints
NAME chooses a password, once, within seven days. admin makes NAME an administrator,
or a moderator, or takes the role away. A suspended person is signed out everywhere
and reads the reason at the next try to sign in; with -hide only administrators
and moderators see what they wrote. remove-posts hides all that NAME wrote; it is removed
while the site is served, and cannot be brought back. delete hides the account at once, and
after seven days, or with -now at once, deletes everything of NAME while the site is served. Nobody gets
the name again. Within the seven days keep brings the account back as it was.`},
		{name: "group", usage: "delete -confirm NAME [-reason TEXT] NAME", summary: "delete a group", run: runGroup, detail: `
At once nobody sees anything of it. Posts that stand only there are deleted while
the site is served, and the others leave it. It cannot be brought back, and nobody
gets the name again, so the command wants it twice. TEXT stands in the log of acts.`},
		{name: "site", usage: "[-name TEXT] [-door DOOR] [-members-only on|off] [...]", summary: "what the site is called, its rules, who may sign up and read", run: runSite, detail: `
	site [-name TEXT] [-mark SIGNS] [-purpose TEXT] [-contact ADDRESS] [-language en|ru]
		[-about FILE] [-rules FILE] [-again] [-indexed on|off]
		[-door open|approval|invitation|closed|configured] [-members-only on|off|configured]

It changes what is named, at once on all nodes, and prints all. FILE - is standard
input. With -again people have to agree to the rules again. configured: as
RIVERRUN_SIGNUP or RIVERRUN_PRIVATE says.`},
		{name: "acts", usage: "[-last N] [NAME]", summary: "what administrators and moderators did", run: runActs, detail: `
Newest first, by pages and by commands ("-"): all, or those by NAME and about NAME.`},
		{name: "post", usage: "remove CODE[#COMMENT]", summary: "remove anybody's post or comment", run: runPost, detail: `
CODE is the end of the post's address, CODE#COMMENT that of the comment's. It cannot be brought back.`},
		{name: "reports", usage: "[list|show|take|note|done] [CODE]", summary: "what people reported, and appeals", run: runReports, detail: `
	reports [list] [-all]
	reports show CODE
	reports take CODE
	reports note -text TEXT CODE
	reports done -outcome OUTCOME [-answer TEXT] CODE

OUTCOME is removed, suspended, restored, nothing or other. The reporter reads
the outcome and the answer; a note is for the staff alone.`},
		{name: "invite", usage: "[-uses N] [-days N] [-group NAME] [-note TEXT]", summary: "print a link by which people sign up", run: runInvite, detail: `
	invite [-uses N] [-days N] [-group NAME] [-note TEXT]
	invite withdraw CODE

By default one person may use it, within seven days. People who sign up by it join
the groups; -group may be said again. While sign-up is closed it lets nobody in.`},
		{name: "invitations", summary: "list invitations, and who came by them", run: runInvitations, detail: `
Newest first: code, maker ("-": this command), state, uses, end, groups, who came, note.`},
		{name: "signups", usage: "list|admit|refuse [NAME]", summary: "answer people who ask to be let in", run: runSignUps, detail: `
	signups list
	signups admit NAME
	signups refuse [-answer TEXT] NAME

With RIVERRUN_SIGNUP=approval everybody who signs up waits for that.`},
		{name: "import", usage: "friendfeed FILE...", summary: "bring FriendFeed archives in, at their own dates", run: runImport, detail: `
An archive is a JSON array of entries. Everything imported before is left as it
is, so the same command may be run again, after an interruption too. It
prints what is new and what was there. An entry that is broken is named, with
file, byte and element, and left out; the command then fails, all else being
imported. Imported people cannot sign in until "riverrun account password NAME"
gives them a password.`},
		{name: "replay", usage: "[-speed N] [-owner NAME] -into GROUP FILE", summary: "play a FriendFeed archive into a group, as if it happened now", run: runReplay, detail: `
Everything its people posted, said and liked in public happens again in GROUP,
in the order of time, N times faster than it did (-speed; default 1, 0 or
max: without waiting). If there is no GROUP, NAME, or else the archive's first
author, creates it, and speaks for the archive's groups. After an interruption
the same command continues: nothing is said twice into one group. It may run while the site is served.`},
		{name: "source", usage: "add|list|fetch|remove", summary: "feeds from elsewhere that flow into somebody's feed or a group", run: runSource, detail: `
	source add -to NAME [-title TITLE] [-mode append|sync] [-origin PARTNER] [--dry-run] URL|FILE|FEEDS.opml
	source add -to NAME -push [-title TITLE] [-mode append|sync] [-origin PARTNER]
	source list [NAME]
	source fetch [--dry-run] CODE [FILE]
	source remove -posts delete|discussed|keep CODE

It acts for the person NAME, or for the group NAME as one of its administrators.
It fetches and loads in its own process, whether or not the site is served, and
says what came: "load 1: 12 new, 3 changed, 1 went". With --dry-run it changes
nothing: "12 new, 3 changed, 1 would go". The address of a page is enough if the
page names its feed. The feeds of an OPML file are added only; the site fetches
them while it is served. A source of files is loaded anew with "source fetch
CODE FILE". With -push a program sends the items (see /help/feeds), and its token
is printed. Items that it leaves out stay, unless -mode is sync: then it sends full
lists. With -origin a PARTNER's service makes the feed, and tells its people itself
what is wrong with items: the pages of the site do not. Flags may also follow the
arguments. Loads that were interrupted go on while the site is served.`},
		{name: "check", summary: "compare every live river with one rebuilt from nothing", run: runCheck, detail: `
It prints each difference and "rivers N entries M differences D", and fails if
there is any. With a RIVERRUN_HOME that stores home feeds it compares those too,
and prints "home feeds N entries M differences D". While changes are under way a river may be behind for a moment.`},
		{name: "repair", usage: "counters [-dry-run] [NAME...]", summary: "count again how many posts people have", run: runRepair, detail: `
The site keeps how many posts each person has of each status. This counts them
again, of all people or of those named, mends what differs, prints it, and
"authors N counters wrong M". It may run while the site is served: nobody waits for the
counting. With -dry-run it changes nothing. Each night the site does it by itself
for some people.`},
		{name: "doctor", usage: "[-json]", summary: "look at databases, disks, files, clocks, jobs and the proxy", run: runDoctor, detail: `
It prints a row for each check, ok, warn or fail, with what was found and what
to do; then what takes the room on the disks. It fails if a check does. It
changes nothing, and works whether or not the site is served: it starts the local
PostgreSQL if nobody runs it, and stops it again. With RIVERRUN_URL it asks the
site by way of its proxy. Missing and orphaned files are counted as by "check".`},
		{name: "home", usage: "convert [STRATEGY]", summary: "store the home feeds of all people", run: runHome, detail: `
For a STRATEGY that stores home feeds (timed, sized, aggregator; default:
RIVERRUN_HOME).
Without it, each feed is stored when its owner first reads it. Start the servers
with the strategy first: feeds follow changes only while it is theirs. After an
interruption the same command continues: feeds that stand are left as they are.`},
		{name: "explain", usage: "-post CODE [-viewer NAME]", summary: "say whether and why somebody sees a post", run: runExplain, detail: `
It says where the post stands and what of that is open to NAME (without -viewer:
to somebody who is not signed in), whether a ban or a hide keeps it away, and in
which of their rivers it is and why. It changes nothing.`},
		{name: "river", usage: "PAGE [-as NAME] [-rebuild]", summary: "how the river of a page stands, and make it anew", run: runRiver, detail: `
PAGE is an address, such as /everything, /ann or /. It says whose river it is, when
and why it was built (visit, change, search, request), how deep it is complete, who
has the page open, and what timelines it is made of; never what it holds. Without
-as it is that of everybody who is not signed in. -rebuild is written to the audit
log; open pages follow.`},
		{name: "storage", usage: "[-accounts N]", summary: "what takes the room, by kind and by account", run: runStorage, detail: `
Tables of both stores with their indexes, uploaded files, and the accounts whose
files take the most, with how many posts they have.`},
		{name: "expire", summary: "throw away rivers nobody looks at", run: runExpire, detail: `
serve does it every RIVERRUN_EXPIRE_EVERY. It prints how many live rivers were
retired (idle, or grown to twice RIVERRUN_DEPTH), how many retired before were
removed with how many entries, and the tombstones and folds removed. Listings
whose last day is over expire while the site is served, not by this command.`},
		{name: "backup", usage: "FILE", summary: "write the primary store and the files into one file", run: runBackup, detail: `
It may run while the site is served, on any machine that reaches the databases
and the files, and holds the state of one moment: the primary store as it was when
the backup began, and all files that belong to it. The secondary store is not in it:
it is made again. FILE gets its name when it is whole, until then it is FILE.part;
an older FILE is replaced. Only its owner may read it: everything people wrote is in
it, private posts and hashes of passwords too. FILE - is standard output. It takes
pg_dump of the server's version or newer.`},
		{name: "restore", usage: "[-over|-over-another] FILE", summary: "bring back what a backup holds", run: runRestore, detail: `
Stop the site first. Into an empty database, or over a site with its own older or
newer state (-over), or over whatever is there (-over-another): the schemas public
and queue are replaced. A FILE is read to its end and verified before anything
begins; standard input (FILE -) is verified while it is restored. The database is
restored as a whole when all files are stored, or stays as it was. An older backup is
migrated. Without DATABASE_URL and without data it makes the local PostgreSQL anew.
It takes pg_restore and psql of the server's version. Restore only files that you
trust: they are programs for the database.`},
		{name: "demo", summary: "create a small lively town to look at", run: runDemo, detail: `
Twelve people, four groups and what they say to each other, of the last two
weeks. One group is a flea market, with pictures of what people offer and
have sold. It prints how to sign in. Run again, it adds nothing.`},
		{name: "help", usage: "[COMMAND]", summary: "show this help", run: runHelp},
	}
}

func runHelp(_ context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return printHelp(e.stdout, e.lookup)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return printCommandHelp(e.stdout, c)
		}
	}
	return usagef("there is no command %q", args[0])
}

func printHelp(w io.Writer, lookup func(string) (string, bool)) error {
	var b strings.Builder
	b.WriteString(`riverrun is a realtime river server.

	riverrun [COMMAND] [SETTINGS] [ARGUMENTS]

Some commands are two words, as "repair counters": settings follow both.

Commands:

`)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(table, "  %s\t%s\n", c.name, c.summary)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString(`
"riverrun help COMMAND" says more.

Settings, by flag or by the environment (the flag wins):

`)
	for _, s := range settings(lookup) {
		fmt.Fprintf(&b, "  -%s, %s", s.flag(), s.variable)
		if s.value != "" {
			fmt.Fprintf(&b, " (%s)", s.value)
		}
		fmt.Fprintf(&b, "\n        %s\n", s.help)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printCommandHelp(w io.Writer, c command) error {
	line := strings.TrimSpace("riverrun " + c.name + " " + c.usage)
	text := fmt.Sprintf("%s\n\n%s.\n", line, strings.ToUpper(c.summary[:1])+c.summary[1:])
	if c.detail != "" {
		text += c.detail + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
