package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"unicode/utf8"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
)

// runSite changes the settings of /admin/site and /admin/doors that are named, and prints all.
func runSite(ctx context.Context, e *env, args []string) error {
	var changes []func(*site.Site)
	var rules *string
	again, piped := false, false
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		setting := func(name, usage string, read func(value string) (func(*site.Site), error)) {
			fs.Func(name, usage, func(value string) error {
				change, err := read(value)
				changes = append(changes, change)
				return err
			})
		}
		for name, of := range map[string]func(*site.Site) *string{
			"name": func(s *site.Site) *string { return &s.Name }, "mark": func(s *site.Site) *string { return &s.Mark },
			"purpose": func(s *site.Site) *string { return &s.Purpose }, "contact": func(s *site.Site) *string { return &s.Contact },
			"language": func(s *site.Site) *string { return &s.Language },
		} {
			setting(name, "as on /admin/site", func(value string) (func(*site.Site), error) {
				return func(s *site.Site) { *of(s) = value }, nil
			})
		}
		read := func(path string) (string, error) {
			if path == "-" {
				if piped {
					return "", errors.New("standard input is read for one text only")
				}
				piped = true
			}
			return readText(e.stdin, path)
		}
		setting("about", "a file with the text of /about; - is standard input", func(path string) (func(*site.Site), error) {
			text, err := read(path)
			return func(s *site.Site) { s.About = text }, err
		})
		fs.Func("rules", "a file with the rules; - is standard input", func(path string) error {
			text, err := read(path)
			rules = &text
			return err
		})
		fs.BoolVar(&again, "again", false, "people have to agree to the rules again")
		setting("indexed", "on or off: search engines may list public pages", func(value string) (func(*site.Site), error) {
			on, err := onOrOff(value)
			return func(s *site.Site) { s.Indexed = on }, err
		})
		setting("door", "open, approval, invitation, closed; or configured: as RIVERRUN_SIGNUP says", func(value string) (func(*site.Site), error) {
			if value == configured {
				return func(s *site.Site) { s.SignUp = nil }, nil
			}
			door := site.SignUp(value) // site.Set checks it
			return func(s *site.Site) { s.SignUp = &door }, nil
		})
		setting("members-only", "on or off: nothing is shown without signing in; or configured: as RIVERRUN_PRIVATE says", func(value string) (func(*site.Site), error) {
			if value == configured {
				return func(s *site.Site) { s.Private = nil }, nil
			}
			on, err := onOrOff(value)
			return func(s *site.Site) { s.Private = &on }, err
		})
	})
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("%s: %q is one too many", e.name, rest[0])
	}
	if rules != nil || again {
		changes = append(changes, func(s *site.Site) {
			text := s.Rules
			if rules != nil {
				text = *rules
			}
			s.SetRules(text, again)
		})
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		if err := changeSite(ctx, n, changes); err != nil {
			return err
		}
		is, err := site.Read(ctx, n.timelines.Pool())
		if err != nil {
			return err
		}
		return printSite(e.stdout, is)
	})
}

func changeSite(ctx context.Context, n *node, changes []func(*site.Site)) error {
	if len(changes) == 0 {
		return nil
	}
	c, err := site.Open(n.timelines).Set(ctx, admin.By{}, func(s *site.Site) {
		for _, change := range changes {
			change(s)
		}
	})
	_, err = n.tiers.Carry(ctx, c, err)
	var invalid *timelines.InvalidError
	if errors.As(err, &invalid) {
		name := invalid.Field
		if name == "signup" {
			name = "door"
		}
		if invalid.Most > 0 {
			return fmt.Errorf("-%s: at most %d characters", name, invalid.Most)
		}
		return fmt.Errorf("-%s: %s", name, cmp.Or(invalidTexts[invalid.Code], invalid.Code))
	}
	return err
}

// configured says that a setting of the process decides.
const configured = "configured"

func printSite(out io.Writer, is site.Site) error {
	door, only := configured, configured
	if is.SignUp != nil {
		door = string(*is.SignUp)
	}
	if is.Private != nil {
		only = sayOnOff(*is.Private)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"name", is.Title()},
		{"mark", is.Mark},
		{"purpose", is.Purpose},
		{"contact", is.Contact},
		{"language", is.Language},
		{"indexed", sayOnOff(is.Indexed)},
		{"door", door},
		{"members-only", only},
		{"about", fmt.Sprintf("%d characters", utf8.RuneCountInString(is.About))},
		{"rules", fmt.Sprintf("%d characters, version %d", utf8.RuneCountInString(is.Rules), is.RulesVersion)},
	} {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	return table.Flush()
}

func sayOnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func onOrOff(value string) (bool, error) {
	switch value {
	case "on", "off":
		return value == "on", nil
	}
	return false, errors.New("say on or off")
}

// readText reads a text from a file, or from standard input.
func readText(stdin io.Reader, path string) (string, error) {
	if path == "-" {
		text, err := io.ReadAll(stdin)
		return string(text), err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
