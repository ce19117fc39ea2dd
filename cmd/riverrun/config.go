package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/jobs"
	"riverrun/jobs/fetch"
	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/changes"
	"riverrun/timelines/site"
	"riverrun/timelines/sources"
	"riverrun/web"
	"riverrun/web/adminpages"
)

// config has the operator's settings. Once parse has returned it, it is complete and valid.
type config struct {
	listen string
	// url is the site's public address; empty: where it listens.
	url string
	// ownHost: url was set, and is the only address the site answers at.
	ownHost bool
	data    string
	// otherData are the data directories of other users' servers, as far as they can be
	// guessed; none if the operator set a directory.
	otherData []string
	// trustedProxies are the networks whose X-Forwarded-For is believed.
	trustedProxies []netip.Prefix
	// primary and secondary say how to reach the stores. A nil primary is the local
	// PostgreSQL; a nil secondary is a database beside the primary.
	primary, secondary *pgxpool.Config

	// home is the name of the strategy that makes home pages.
	home                          string
	graceHome, grace, expireEvery time.Duration
	changesDays                   int    // how many days the log of changes is kept
	nats                          string // where it is sent too; empty: nowhere
	depth                         int
	localBumpMaxAge, sessionAge   time.Duration
	workers, connections          int
	signUps, signIns              int
	writes, searches              int
	firstDay                      time.Duration
	firstDayPosts                 int
	bestOf, mostFaved             int
	databaseTimeout, stopTimeout  time.Duration

	// blobs is where uploads are kept; the zero Location is files in the data directory.
	blobs                             blobs.Location
	fileSize, postFiles, commentFiles int

	// Limits of sources: how many one owner may have, megabytes of a file, items of one source.
	sources, sourceSize, sourceItems int
	sourceEvery                      time.Duration

	// signUp says who may sign up (site.SignUp), and private that nothing is shown without signing in,
	// unless the settings of the site say.
	signUp  string
	private bool

	previews   bool
	fetchAllow []netip.Prefix
	// fetchProxy is nil for none.
	fetchProxy *url.URL

	// opsListen is where health, metrics and profiles are served; empty: nowhere of their own.
	opsListen string
	// pprof is where profiles are served; the zero value is nowhere.
	pprof netip.AddrPort

	// limits are the settings in limitSettings, as they are in force.
	limits []adminpages.Limit

	logFormat string
	logLevel  slog.Level
}

// setting is one setting of the operator: a flag or, without the flag, the environment
// variable of the same name.
type setting struct {
	variable string
	// value is the default, as it would be written.
	value string
	help  string
	set   func(c *config, value string) error
}

// limitSettings are the settings that limit what people, programs and pages may do. A page shows them.
var limitSettings = []string{
	"RIVERRUN_DEPTH", "RIVERRUN_GRACE_HOME", "RIVERRUN_GRACE", "RIVERRUN_LOCAL_BUMP_MAX_AGE", "RIVERRUN_SESSION_AGE", "RIVERRUN_CHANGES_DAYS",
	"RIVERRUN_SIGNUPS", "RIVERRUN_SIGNINS", "RIVERRUN_WRITES", "RIVERRUN_SEARCHES", "RIVERRUN_FIRST_DAY", "RIVERRUN_FIRST_DAY_POSTS",
	"RIVERRUN_WORKERS", "RIVERRUN_CONNECTIONS", "RIVERRUN_DATABASE_TIMEOUT",
	"RIVERRUN_FILE_SIZE", "RIVERRUN_POST_FILES", "RIVERRUN_COMMENT_FILES",
	"RIVERRUN_SOURCES", "RIVERRUN_SOURCE_SIZE", "RIVERRUN_SOURCE_ITEMS", "RIVERRUN_SOURCE_EVERY",
}

// flag is the variable's name as a flag: RIVERRUN_GRACE_HOME is -grace-home.
func (s setting) flag() string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(s.variable, "RIVERRUN_"), "_", "-"))
}

// settings returns all settings, in the order of the help. lookup reads the environment, on
// which defaults depend.
func settings(lookup func(string) (string, bool)) []setting {
	return []setting{
		{"RIVERRUN_LISTEN", "127.0.0.1:8080", "address to serve on, host:port", func(c *config, v string) error {
			c.listen = v
			return hostPort(v)
		}},
		{"RIVERRUN_OPS_LISTEN", "", "address of its own for /metrics, /healthz, /readyz and Go's profiles, as in 10.0.0.5:9090, for those who run the site; without it programs of this machine find the first three at the site's address", func(c *config, v string) error {
			if c.opsListen = v; v == "" {
				return nil
			}
			return hostPort(v)
		}},
		{"RIVERRUN_URL", "", "public address of the site, as in https://river.example, and the only one it answers at; default: where it listens, and the names of this machine for itself", func(c *config, v string) error {
			if v == "" {
				return nil
			}
			u, err := url.Parse(v)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
				return fmt.Errorf("want http://host or https://host without a path, as in https://river.example")
			}
			c.url, c.ownHost = u.Scheme+"://"+u.Host, true
			return nil
		}},
		{"RIVERRUN_DATA", defaultData(lookup), "data directory: the local PostgreSQL's, where DATABASE_URL is not set, and the uploaded files', where RIVERRUN_FILES is not", func(c *config, v string) error {
			c.data = v
			return nil
		}},
		{"DATABASE_URL", "", "primary store, as in postgres://user:password@host/riverrun; default: a local PostgreSQL that riverrun runs itself", func(c *config, v string) (err error) {
			c.primary, err = database(v)
			return err
		}},
		{"RIVERS_DATABASE_URL", "", "secondary store; default: the database <name>_rivers beside the primary, made if it may be", func(c *config, v string) (err error) {
			c.secondary, err = database(v)
			return err
		}},
		{"NATS_URL", "", "server of NATS to which the log of changes is sent (JetStream), as in nats://user:password@host:4222; default: none", func(c *config, v string) error {
			if u, err := url.Parse(v); v != "" && (err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme)) {
				return fmt.Errorf("want nats://host:port") // without what was given: it may have a password
			}
			c.nats = v
			return nil
		}},
		{"RIVERRUN_HOME", strategies.NameRivers, "how home pages are made, by the same way in all processes of a site: " + strings.Join(strategies.Names(), ", ") + "; only rivers are live, pages of the others are renewed by a reload", func(c *config, v string) error {
			if !slices.Contains(strategies.Names(), v) {
				return fmt.Errorf("want one of %s", strings.Join(strategies.Names(), ", "))
			}
			c.home = v
			return nil
		}},
		duration("RIVERRUN_GRACE_HOME", rivers.DefaultOptions().GraceHome, "how long the river of a home feed or list is kept while nobody looks at it", func(c *config) *time.Duration { return &c.graceHome }),
		duration("RIVERRUN_GRACE", rivers.DefaultOptions().Grace, "the same for all other rivers; a search is kept for 30m at most", func(c *config) *time.Duration { return &c.grace }),
		duration("RIVERRUN_EXPIRE_EVERY", jobs.DefaultExpireEvery, "how often rivers past their grace or depth are thrown away, and listings expire whose last day is over", func(c *config) *time.Duration { return &c.expireEvery }),
		count("RIVERRUN_DEPTH", rivers.DefaultOptions().Depth, 150, 1_000_000, "how many posts of a home feed or a list are kept, or up to twice as many while it grows; what is older is read from the primary store", func(c *config) *int { return &c.depth }),
		durationOrZero("RIVERRUN_LOCAL_BUMP_MAX_AGE", timelines.DefaultOptions().LocalBumpMaxAge, "how old a post may be for a like or a first comment to lift it in the home pages of that person's followers; 0: of any age", func(c *config) *time.Duration { return &c.localBumpMaxAge }),
		count("RIVERRUN_BEST_OF", timelines.DefaultOptions().BestOf, 1, 1000, "how many people besides its author must like a post or comment on it for it to be one of the best; a changed number applies to a post at its next like or comment", func(c *config) *int { return &c.bestOf }),
		count("RIVERRUN_MOST_FAVED", timelines.DefaultOptions().MostFaved, 1, 1000, "how many people must save a post for it to be one of the most saved", func(c *config) *int { return &c.mostFaved }),
		duration("RIVERRUN_SESSION_AGE", timelines.DefaultOptions().SessionAge, "how long a sign-in lasts", func(c *config) *time.Duration { return &c.sessionAge }),
		count("RIVERRUN_CHANGES_DAYS", changes.DefaultDays, 1, changes.MostDays, "how many days the log of changes is kept, which programs read", func(c *config) *int { return &c.changesDays }),
		{"RIVERRUN_SIGNUP", string(site.OpenToAll), "who may sign up: open (everybody), approval (everybody asks, and the staff answer), invitation (who is invited), closed (nobody); a page of the site can change it", func(c *config, v string) error {
			if _, ok := site.ParseSignUp(v); !ok {
				return fmt.Errorf("want open, approval, invitation or closed")
			}
			c.signUp = v
			return nil
		}},
		{"RIVERRUN_PRIVATE", "off", "on or off: whether nothing is shown without signing in; a page of the site can change it", func(c *config, v string) error {
			if v != "on" && v != "off" {
				return fmt.Errorf("want on or off")
			}
			c.private = v == "on"
			return nil
		}},
		count("RIVERRUN_SIGNUPS", 60, 1, 1_000_000, "how many people may sign up from one address in an hour; a club or a conference shares one", func(c *config) *int { return &c.signUps }),
		count("RIVERRUN_SIGNINS", 100, 1, 1_000_000, "how many sign-ins from one address may fail in ten minutes; at most ten of them with one name", func(c *config) *int { return &c.signIns }),
		count("RIVERRUN_WRITES", 60, 1, 1_000_000, "how many changes (posts, comments, likes, ...) an account may make at once, and in a minute from then on", func(c *config) *int { return &c.writes }),
		count("RIVERRUN_SEARCHES", 60, 1, 1_000_000, "how many times an account, or the visitors of one address, may search at once, and in a minute from then on", func(c *config) *int { return &c.searches }),
		durationOrZero("RIVERRUN_FIRST_DAY", timelines.DefaultOptions().FirstDay, "how long somebody who signed up on the page is a stranger, who may write little and whose messages and mentions reach only people who follow them or share a group with them; 0: nobody is", func(c *config) *time.Duration { return &c.firstDay }),
		count("RIVERRUN_FIRST_DAY_POSTS", timelines.DefaultOptions().FirstDayPosts, 1, 1000, "how many posts a stranger may write in an hour", func(c *config) *int { return &c.firstDayPosts }),
		{"RIVERRUN_TRUSTED_PROXIES", "127.0.0.0/8,::1", "proxies in front of the site, as in 10.0.0.0/8,192.0.2.7: the addresses they write into X-Forwarded-For are believed", func(c *config, v string) (err error) {
			c.trustedProxies, err = networks(v)
			return err
		}},
		count("RIVERRUN_WORKERS", jobs.DefaultNowWorkers, 1, 1000, "how many changes this process brings to open pages at a time; it rebuilds half as many pages, and brings half as many changes to closed ones", func(c *config) *int { return &c.workers }),
		count("RIVERRUN_CONNECTIONS", defaultConnections(), 4, 1000, "how many connections to each store this process may open for pages", func(c *config) *int { return &c.connections }),
		duration("RIVERRUN_DATABASE_TIMEOUT", web.DefaultDatabaseTimeout, "how long a page or a form may wait for the databases before it is answered 503", func(c *config) *time.Duration { return &c.databaseTimeout }),
		duration("RIVERRUN_STOP_TIMEOUT", 30*time.Second, "how long a stop may take before what still runs is cut short", func(c *config) *time.Duration { return &c.stopTimeout }),
		{"RIVERRUN_FILES", "", "where uploaded pictures and files are kept: a directory, or s3://key:secret@host/bucket/prefix; default: files in the data directory", func(c *config, v string) (err error) {
			c.blobs, err = blobs.ParseLocation(v, lookup)
			return err
		}},
		count("RIVERRUN_FILE_SIZE", web.DefaultFileSize/1_000_000, 1, 10_000, "how many megabytes one uploaded file may have", func(c *config) *int { return &c.fileSize }),
		count("RIVERRUN_POST_FILES", timelines.DefaultOptions().PostFiles, 0, 100, "how many files a post may have", func(c *config) *int { return &c.postFiles }),
		count("RIVERRUN_COMMENT_FILES", timelines.DefaultOptions().CommentFiles, 0, 100, "how many files a comment may have", func(c *config) *int { return &c.commentFiles }),
		count("RIVERRUN_SOURCES", sources.DefaultLimits().Sources, 1, 100_000, "how many sources, feeds from elsewhere, a person or a group may have", func(c *config) *int { return &c.sources }),
		count("RIVERRUN_SOURCE_SIZE", int(sources.DefaultLimits().FileBytes/1_000_000), 1, 100_000, "how many megabytes a file of a source may have", func(c *config) *int { return &c.sourceSize }),
		count("RIVERRUN_SOURCE_ITEMS", sources.DefaultLimits().Items, 1, 10_000_000, "how many items a source may have", func(c *config) *int { return &c.sourceItems }),
		duration("RIVERRUN_SOURCE_EVERY", sources.DefaultLimits().Soonest, "the shortest time after which a source is fetched again by itself; one that asks for nothing is fetched every 30m", func(c *config) *time.Duration { return &c.sourceEvery }),
		{"RIVERRUN_PREVIEWS", "on", "on or off: whether the pages that posts link to are read, for the cards below the posts", func(c *config, v string) error {
			if v != "on" && v != "off" {
				return fmt.Errorf("want on or off")
			}
			c.previews = v == "on"
			return nil
		}},
		{"RIVERRUN_FETCH_ALLOW", "", "networks that are not public and may be reached all the same, on any port, by link previews, sources, pushes and webhooks, as in 10.0.0.0/8,fd00::/8", func(c *config, v string) (err error) {
			c.fetchAllow, err = fetch.ParseAllow(v)
			return err
		}},
		{"RIVERRUN_FETCH_PROXY", "", "proxy through which link previews and sources are fetched and pushes are sent, as in http://proxy.example:3128 or socks5://user:password@proxy.example:1080", func(c *config, v string) error {
			if c.fetchProxy = nil; v == "" {
				return nil
			}
			u, err := url.Parse(v)
			if err == nil {
				err = fetch.CheckProxy(u)
			}
			if err != nil {
				return fmt.Errorf("want http://host:port or socks5://host:port")
			}
			c.fetchProxy = u
			return nil
		}},
		{"RIVERRUN_PPROF", "", "loopback address at which Go's profiles of this process are served, as in 127.0.0.1:6060; none if empty", func(c *config, v string) (err error) {
			if c.pprof = (netip.AddrPort{}); v == "" {
				return nil
			}
			if c.pprof, err = netip.ParseAddrPort(v); err != nil || !c.pprof.Addr().IsLoopback() {
				return fmt.Errorf("want a loopback address and a port, as in 127.0.0.1:6060")
			}
			return nil
		}},
		{"RIVERRUN_LOG", "text", "form of the log: text or json", func(c *config, v string) error {
			if v != "text" && v != "json" {
				return fmt.Errorf("want text or json")
			}
			c.logFormat = v
			return nil
		}},
		{"RIVERRUN_LOG_LEVEL", "info", "least level that is logged: debug, info, warn or error", func(c *config, v string) error {
			switch strings.ToLower(v) {
			case "debug", "info", "warn", "error":
				return c.logLevel.UnmarshalText([]byte(v))
			}
			return fmt.Errorf("want debug, info, warn or error")
		}},
	}
}

// hostPort checks an address to listen on.
func hostPort(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("want host:port, as in 127.0.0.1:8080")
	}
	return nil
}

func duration(variable string, value time.Duration, help string, at func(*config) *time.Duration) setting {
	return setting{variable, shortDuration(value), help, func(c *config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return fmt.Errorf("want a time above zero, as in 90s, 5m or 24h")
		}
		*at(c) = d
		return nil
	}}
}

// shortDuration writes 24h0m0s as 24h.
func shortDuration(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// durationOrZero is duration for a setting that may be 0.
func durationOrZero(variable string, value time.Duration, help string, at func(*config) *time.Duration) setting {
	return setting{variable, shortDuration(value), help, func(c *config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return fmt.Errorf("want a time, as in 90s, 5m or 24h, or 0")
		}
		*at(c) = d
		return nil
	}}
}

// defaultConnections returns how many connections a process opens where nothing is set. If the stores run beside
// it, statements take the processor from each other: of likes that were sent 32 at once on two processors, a
// third fewer were answered with 16 connections than with 8. With more than 16 the jobs' connections
// would go beyond the 100 that PostgreSQL allows by default.
func defaultConnections() int { return min(max(8, 4*runtime.GOMAXPROCS(0)), 16) }

func count(variable string, value, least, most int, help string, at func(*config) *int) setting {
	return setting{variable, strconv.Itoa(value), help, func(c *config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a number from %d to %d", least, most)
		}
		*at(c) = n
		return nil
	}}
}

// networks parses addresses and networks, separated by commas.
func networks(text string) ([]netip.Prefix, error) {
	var found []netip.Prefix
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		p, err := netip.ParsePrefix(one)
		if err != nil {
			var at netip.Addr
			if at, err = netip.ParseAddr(one); err == nil {
				p = netip.PrefixFrom(at, at.BitLen())
			}
		}
		if err != nil || strings.Contains(one, "%") {
			return nil, fmt.Errorf("want addresses or networks separated by commas, as in 127.0.0.1,10.0.0.0/8,::1")
		}
		if at := p.Addr(); at.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(at.Unmap(), p.Bits()-96) // requests' addresses are compared so
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("%s is everybody: anyone could claim to come from anywhere", one)
		}
		found = append(found, p.Masked())
	}
	return found, nil
}

// database reads a connection string; an empty one gives nil.
func database(text string) (*pgxpool.Config, error) {
	if text == "" {
		return nil, nil
	}
	cfg, err := pgxpool.ParseConfig(text)
	if err != nil {
		// The error of pgx may contain the password.
		return nil, fmt.Errorf("want postgres://user:password@host:port/name")
	}
	if cfg.ConnConfig.Database == "" {
		return nil, fmt.Errorf("want the name of a database, as in postgres://host/name")
	}
	return cfg, nil
}

// rootData is root's default data directory. Root's home directory is closed to the user that
// root's PostgreSQL runs as.
const rootData = "/var/lib/riverrun"

// defaultData returns the default data directory.
func defaultData(lookup func(string) (string, bool)) string {
	if os.Geteuid() == 0 {
		return rootData
	}
	return homeData(lookup)
}

// otherData returns this person's other default data directories: as root, as themselves or
// through sudo.
func otherData(lookup func(string) (string, bool), used string) []string {
	dirs := []string{rootData, homeData(lookup)}
	if name, ok := lookup("SUDO_USER"); ok {
		if u, err := user.Lookup(name); err == nil {
			dirs = append(dirs, filepath.Join(u.HomeDir, ".local", "share", "riverrun"))
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" || dir == used })
}

func homeData(lookup func(string) (string, bool)) string {
	if dir, ok := lookup("XDG_DATA_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "riverrun")
	}
	if home, ok := lookup("HOME"); ok && home != "" {
		return filepath.Join(home, ".local", "share", "riverrun")
	}
	return ""
}

// parse reads a command's arguments and the environment: the settings, and the command's own
// flags, which define adds if it is not nil. It returns the arguments after the flags. An
// error is a usageError that names the flag or variable.
func (e *env) parse(args []string, define func(*flag.FlagSet)) (*config, []string, error) {
	fs := flag.NewFlagSet("riverrun "+e.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	if define != nil {
		define(fs)
	}
	all := settings(e.lookup)
	given := map[string]string{}
	for _, s := range all {
		fs.Func(s.flag(), s.help, func(v string) error {
			given[s.variable] = v
			return nil
		})
	}
	if err := fs.Parse(args); err != nil {
		return nil, nil, usagef("%s: %v", e.name, err)
	}
	c := &config{}
	for _, s := range all {
		from, value := "the default of "+s.variable, s.value
		if v, ok := e.lookup(s.variable); ok && v != "" {
			from, value = s.variable, v
		}
		if v, ok := given[s.variable]; ok {
			from, value = "-"+s.flag(), v
		}
		if err := s.set(c, value); err != nil {
			return nil, nil, usagef("%s: %q: %v", from, redact(value), err)
		}
		if slices.Contains(limitSettings, s.variable) {
			c.limits = append(c.limits, adminpages.Limit{Setting: s.variable, Value: value, Meaning: s.help})
		}
		if s.variable == "RIVERRUN_DATA" && value == s.value {
			c.otherData = otherData(e.lookup, value)
		}
	}
	if c.primary == nil && c.data == "" {
		return nil, nil, usagef("RIVERRUN_DATA: there is no home directory to keep data in; set it, or DATABASE_URL")
	}
	if c.blobs == (blobs.Location{}) && c.data == "" {
		return nil, nil, usagef("RIVERRUN_FILES: there is no home directory to keep files in; set it, or RIVERRUN_DATA")
	}
	if c.primary != nil && c.secondary != nil && sameDatabase(c.primary, c.secondary) {
		return nil, nil, usagef("DATABASE_URL and RIVERS_DATABASE_URL name the same database; each store needs one of its own")
	}
	return c, fs.Args(), nil
}

// redact keeps passwords in connection strings out of messages.
func redact(value string) string {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return u.Redacted()
	}
	if strings.Contains(value, "password") || strings.Contains(value, "@") {
		return "..."
	}
	return value
}

func sameDatabase(a, b *pgxpool.Config) bool {
	return a.ConnConfig.Host == b.ConnConfig.Host && a.ConnConfig.Port == b.ConnConfig.Port &&
		a.ConnConfig.Database == b.ConnConfig.Database
}

// logger returns the log that c asks for, written to w.
func (c *config) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.logLevel}
	if c.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
