package main

import (
	"context"
	"flag"
	"fmt"

	"riverrun/migrations"
)

// runMigrate brings both stores up to date and says where they stand, or takes
// one of them back for an older binary.
func runMigrate(ctx context.Context, e *env, args []string) (err error) {
	store, to := "", 0
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&store, "store", "", "with -to: the store to take back, primary or secondary")
		fs.IntVar(&to, "to", 0, "the version to take it back to, dropping what came later")
	})
	switch {
	case err != nil:
		return err
	case len(rest) != 0:
		return usagef("migrate: %q is one too many", rest[0])
	case (store != "") != (to != 0):
		return usagef("migrate: -store and -to go together")
	case store != "" && store != "primary" && store != "secondary":
		return usagef("migrate: -store %q: want primary or secondary", store)
	case to < 0:
		return usagef("migrate: -to %d: want 1 or more", to)
	}
	s, err := openStores(ctx, c, c.logger(e.stderr), guest)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := s.close(context.WithoutCancel(ctx), c); err == nil {
			err = closeErr
		}
	}()
	switch store {
	case "primary":
		err = migrations.PrimaryDown(ctx, s.primary, to)
	case "secondary":
		err = migrations.SecondaryDown(ctx, s.secondary, to)
	default:
		err = s.migrate(ctx)
	}
	if err != nil {
		return s.advise(c, err)
	}
	primary, err := migrations.Version(ctx, s.primary)
	if err != nil {
		return err
	}
	secondary, err := migrations.Version(ctx, s.secondary)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "primary %d secondary %d\n", primary, secondary)
	return nil
}
