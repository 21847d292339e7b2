package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
)

// The migrations of each database, in the order of their names. One that was
// released is never edited: there are databases that it has made.
//
//go:embed migrations
var migrations embed.FS

// scripts returns the names of the migrations for a database.
func scripts(dialect string) ([]string, error) {
	return fs.Glob(migrations, "migrations/"+dialect+"/*.sql")
}

// migrate runs the scripts that a database of version at lacks, in the
// transaction of t, which no other migration runs beside.
func migrate(ctx context.Context, t tx, at int, scripts []string) error {
	for _, name := range scripts[at:] {
		script, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if err := t.exec(ctx, string(script)); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion fails for a database whose tables this program does not know.
// Where names it.
func checkVersion(where string, has, known int) error {
	switch {
	case has < 0:
		return &fault{
			fmt.Sprintf("database %s is damaged, there is no schema %d; nothing was changed: move it away, or restore a copy", where, has),
			nil,
		}
	case has <= known:
		return nil
	}
	return &fault{
		fmt.Sprintf("database %s was written by a newer lorimer (schema %d, this one knows %d); use that one", where, has, known),
		nil,
	}
}
