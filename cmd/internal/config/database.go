package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// databaseFile is the database in the state directory.
const databaseFile = "lorimer.db"

// postgresPassword is the variable that PostgreSQL's own programs read too.
const postgresPassword = "PGPASSWORD"

// DatabaseAt returns where threads are kept: a postgres:// URL as it is
// configured, or the absolute path of a file. A relative path is seen from the
// directory of the configuration file, ~/ is the home directory, and without a
// setting it is a file in the state directory.
func (c *Config) DatabaseAt() string {
	switch {
	case c.Database == "":
		return filepath.Join(c.Paths.State, databaseFile)
	case IsURL(c.Database):
		return c.Database
	}
	return c.beside(c.Database)
}

// DatabaseName is [Config.DatabaseAt] without passwords, for people.
func (c *Config) DatabaseName() string {
	if at := c.DatabaseAt(); !IsURL(at) {
		return at
	}
	return HideURL(c.Database)
}

// IsURL reports whether a database is one of a server.
func IsURL(database string) bool { return strings.Contains(database, "://") }

// keywords finds the other form in which a PostgreSQL database can be named. It is
// the path of no file, and its password would show in each error.
var keywords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|\s)(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=`)
})

// checkDatabase does not repeat the value, which may hold a password.
func checkDatabase(database string) error {
	if keywords().MatchString(database) {
		return errors.New("keywords and values are not read; write a URL like postgres://USER@HOST/DATABASE")
	}
	if !IsURL(database) {
		return nil
	}
	u, err := url.Parse(database)
	if err != nil {
		return errors.New("not a URL; write it like postgres://USER@HOST/DATABASE, with %XX for what is special in a password")
	}
	if !slices.Contains([]string{"postgres", "postgresql"}, u.Scheme) {
		return errors.New("neither the path of a file nor a postgres:// URL")
	}
	return nil
}

// databaseSecrets returns what nobody may read of the way to the database.
func (c *Config) databaseSecrets() []string {
	if !IsURL(c.Database) {
		return nil
	}
	all := passwords(c.Database)
	if p := c.env(postgresPassword); p != "" {
		all = append(all, p)
	}
	return all
}

// passwords returns those in a URL, as they are and as the URL writes them.
func passwords(database string) []string {
	u, err := url.Parse(database)
	if err != nil {
		return []string{database}
	}
	var all []string
	if p, ok := u.User.Password(); ok {
		_, raw, _ := strings.Cut(u.User.String(), ":")
		all = append(all, p, raw)
	}
	for _, name := range []string{"password", "sslpassword"} {
		all = append(all, u.Query()[name]...)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
