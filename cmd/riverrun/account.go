package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"riverrun/timelines"
	"riverrun/timelines/admin"
)

const accountVerbs = "create, password, link, list, admin, suspend, restore, remove-posts, delete or keep"

// runAccount makes accounts, sets passwords, lists accounts, and does what the pages below /admin do to
// accounts.
func runAccount(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("account: say %s", accountVerbs)
	}
	verb, args := args[0], args[1:]
	e.name += " " + verb
	switch verb {
	case "create":
		return accountCreate(ctx, e, args)
	case "password":
		return accountPassword(ctx, e, args)
	case "list":
		return accountList(ctx, e, args)
	case "admin":
		return accountAdmin(ctx, e, args)
	case "suspend":
		return accountSuspend(ctx, e, args)
	case "restore":
		return accountRestore(ctx, e, args)
	case "link":
		return accountLink(ctx, e, args)
	case "remove-posts":
		return accountRemovePosts(ctx, e, args)
	case "delete":
		return accountDelete(ctx, e, args)
	case "keep":
		return accountKeep(ctx, e, args)
	}
	return usagef("account: there is no %q; say %s", verb, accountVerbs)
}

func accountCreate(ctx context.Context, e *env, args []string) error {
	var account timelines.SignUp
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&account.Title, "title", "", "name as people read it; default: NAME")
		fs.StringVar(&account.Language, "language", "", "en or ru; default: the browser's")
	})
	if err != nil {
		return err
	}
	if account.Name, err = oneName(e, rest); err != nil {
		return err
	}
	if account.Title == "" {
		account.Title = account.Name
	}
	if account.Password, err = e.password(); err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		made, err := n.timelines.Accounts.SignUp(ctx, account)
		if err != nil {
			return explain(account.Name, err)
		}
		fmt.Fprintf(e.stdout, "created %s\n", made.Name)
		return nil
	})
}

func accountPassword(ctx context.Context, e *env, args []string) error {
	c, rest, err := e.parse(args, nil)
	if err != nil {
		return err
	}
	name, err := oneName(e, rest)
	if err != nil {
		return err
	}
	password, err := e.password()
	if err != nil {
		return err
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		// This goes through the tiers, because it ends sessions: their open pages close before
		// this command reports success.
		c, err := n.timelines.Accounts.ChangePassword(ctx, name, password)
		_, err = n.tiers.Carry(ctx, c, err)
		if err != nil {
			return explain(name, err)
		}
		fmt.Fprintf(e.stdout, "password of %s changed, and signed out everywhere\n", name)
		return nil
	})
}

func accountList(ctx context.Context, e *env, args []string) error {
	kind, find, suspended := "", "", false
	c, rest, err := e.parse(args, func(fs *flag.FlagSet) {
		fs.StringVar(&kind, "kind", "", "user or group; default: both")
		fs.StringVar(&find, "find", "", "people whose name or title has words that begin so; the first 500")
		fs.BoolVar(&suspended, "suspended", false, "people who are suspended")
	})
	switch {
	case err != nil:
		return err
	case len(rest) != 0:
		return usagef("%s: %q is one too many", e.name, rest[0])
	case kind != "" && kind != timelines.User && kind != timelines.Group:
		return usagef("%s: -kind %q: want user or group", e.name, kind)
	case kind != "" && (find != "" || suspended), find != "" && suspended:
		return usagef("%s: say one of -kind, -find and -suspended", e.name)
	}
	return withNode(ctx, e, c, guest, func(ctx context.Context, n *node) error {
		out := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		const page = 500
		for after := ""; ; {
			var accounts []timelines.Account
			var people []admin.Person
			var err error
			switch staff := admin.Open(n.timelines); {
			case find != "":
				people, err = staff.Find(ctx, find, page)
			case suspended:
				people, err = staff.People(ctx, admin.Suspended, after, page)
			default:
				accounts, err = n.timelines.Accounts.List(ctx, kind, after, page)
			}
			if err != nil {
				return err
			}
			for _, p := range people {
				accounts = append(accounts, p.Account())
			}
			for _, a := range accounts {
				fmt.Fprintf(out, "%s\t%s\t%s\n", a.Name, a.Kind, a.Title)
				after = a.Name
			}
			if len(accounts) < page || find != "" {
				return out.Flush()
			}
		}
	})
}

func oneName(e *env, rest []string) (string, error) {
	switch len(rest) {
	case 0:
		return "", usagef("%s: say whose: NAME", e.name)
	case 1:
		return rest[0], nil
	}
	return "", usagef("%s: %q is one too many (flags go before NAME)", e.name, rest[1])
}

// explain adds to err what a person at a terminal can do about it.
func explain(name string, err error) error {
	var invalid *timelines.InvalidError
	switch {
	case errors.Is(err, timelines.ErrNotFound):
		return fmt.Errorf("there is no user %s", name)
	case errors.Is(err, timelines.ErrNameTaken):
		return fmt.Errorf("the name %s is taken", name)
	case errors.As(err, &invalid):
		if text, ok := invalidTexts[invalid.Code]; ok {
			return errors.New(text)
		}
	}
	return err
}

var invalidTexts = map[string]string{
	"name_format":      "a name has 3 to 35 characters of a-z, 0-9 and -, with a letter or digit at either end",
	"name_reserved":    "this name is reserved for a page of the site",
	"password_short":   "a password has 8 characters or more",
	"password_long":    "this password is too long",
	"password_common":  "this password is among the first that anybody would try; take a longer one, or another",
	"password_name":    "this password is made of the account's name or title; take another one",
	"password_pattern": "this password repeats a few characters, or has them in a row; take one that is harder to guess",
	"title_direction":  "a title holds no characters that turn the direction of writing",
	"title_empty":      "a title is not empty",
	"title_long":       "a title has 100 characters at most",
	"language_unknown": "the languages are en and ru",
	"reason_empty":     "say why: -reason TEXT",
	"reason_long":      "a reason has 1000 characters at most",
	"text_invalid":     "a text has characters that cannot be stored",
	"report_outcome":   "an outcome is removed, suspended, restored, nothing or other",
	"report_done":      "this report is done already",
	"mark_long":        "a mark is one or two characters, or an emoji",
	"contact_format":   "a contact is an address of mail, or of a page with https://",
	"signup_unknown":   "want open, approval, invitation, closed or configured",
	"text_long":        "an answer has 2000 characters at most",
}

// password asks at the terminal, twice and unseen, or reads one line of a pipe.
func (e *env) password() (string, error) {
	if file, ok := e.stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		ask := func(prompt string) (string, error) {
			fmt.Fprint(e.stderr, prompt)
			typed, err := term.ReadPassword(int(file.Fd()))
			fmt.Fprintln(e.stderr)
			if err != nil {
				return "", fmt.Errorf("read the password: %w", err)
			}
			return string(typed), nil
		}
		first, err := ask("Password: ")
		if err != nil {
			return "", err
		}
		second, err := ask("Again: ")
		if err != nil {
			return "", err
		}
		if first != second {
			return "", errors.New("the two passwords differ")
		}
		return first, nil
	}
	line, err := bufio.NewReader(e.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}
