package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"

	"riverrun/timelines/files"
	"riverrun/timelines/storage"
)

// runStorage prints what takes the room, as the page /admin/storage shows it.
func runStorage(ctx context.Context, e *env, args []string) error {
	var last int
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.IntVar(&last, "accounts", 50, "how many accounts")
	})
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return usagef("%s: %q is one too many", e.name, rest[0])
	case last < 0:
		return usagef("%s: -accounts %d: want 0 or more", e.name, last)
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		primary, err := storage.Tables(ctx, n.timelines.Pool())
		if err != nil {
			return err
		}
		secondary, err := n.rivers.Tables(ctx)
		if err != nil {
			return err
		}
		uploads, err := files.Use(ctx, n.timelines.Pool())
		if err != nil {
			return err
		}
		owners, err := storage.MostFiles(ctx, n.timelines.Pool(), last)
		if err != nil {
			return err
		}
		out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		for _, use := range storage.ByGroup(primary) {
			fmt.Fprintf(out, "primary\t%s\t%d bytes\n", use.Group, use.Bytes)
		}
		for _, use := range storage.ByGroup(secondary) {
			fmt.Fprintf(out, "secondary\t%s\t%d bytes\n", use.Group, use.Bytes)
		}
		for _, use := range uploads {
			fmt.Fprintf(out, "files\t%s\t%d bytes\n", use.Kind, use.Bytes)
		}
		for _, o := range owners {
			fmt.Fprintf(out, "account\t%s\t%d bytes\t%d files\t%d posts\n", o.Name, o.Bytes, o.Files, o.Posts)
		}
		return out.Flush()
	})
}
