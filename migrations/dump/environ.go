package dump

import (
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// options are the settings of a connection string that pgx has used up, and the variables by which
// libpq takes them.
var options = map[string]string{
	"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY", "sslsni": "PGSSLSNI",
	"sslnegotiation": "PGSSLNEGOTIATION", "channel_binding": "PGCHANNELBINDING", "require_auth": "PGREQUIREAUTH",
	"krbsrvname": "PGKRBSRVNAME", "target_session_attrs": "PGTARGETSESSIONATTRS",
}

// environ is the environment of a program of PostgreSQL that connects as cfg does.
func environ(cfg *pgx.ConnConfig) []string {
	hosts, ports := []string{cfg.Host}, []string{strconv.Itoa(int(cfg.Port))}
	for _, f := range cfg.Fallbacks { // other hosts, and each host again without TLS
		port := strconv.Itoa(int(f.Port))
		if last := len(hosts) - 1; f.Host != hosts[last] || port != ports[last] {
			hosts, ports = append(hosts, f.Host), append(ports, port)
		}
	}
	env := append(os.Environ(),
		"PGHOST="+strings.Join(hosts, ","), "PGPORT="+strings.Join(ports, ","),
		"PGUSER="+cfg.User, "PGPASSWORD="+cfg.Password, "PGDATABASE="+cfg.Database,
		"PGAPPNAME=riverrun", "PGCLIENTENCODING=UTF8")
	for name, value := range given(cfg.ConnString()) {
		if variable, ok := options[name]; ok {
			env = append(env, variable+"="+value)
		}
	}
	return env
}

// given returns the settings of a connection string: those after the ? of an address, or all of
// the other form, key='value' key=value.
func given(text string) map[string]string {
	found := map[string]string{}
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		u, err := url.Parse(text)
		if err != nil {
			return found // pgx took it
		}
		for name, values := range u.Query() {
			found[name] = values[0]
		}
		return found
	}
	for _, m := range setting.FindAllStringSubmatch(text, -1) {
		value := m[2]
		if quoted, ok := strings.CutPrefix(value, "'"); ok {
			value = strings.TrimSuffix(quoted, "'")
		}
		found[m[1]] = escaped.ReplaceAllString(value, "$1")
	}
	return found
}

var (
	setting = regexp.MustCompile(`(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s\\]|\\.)*)`)
	escaped = regexp.MustCompile(`\\(.)`)
)
