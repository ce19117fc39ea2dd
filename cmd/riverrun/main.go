// Command riverrun is a realtime river server: a self-hosted place where people
// follow people and groups and see every page change while they look at it.
// "riverrun help" lists its commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for a graceful stop. The second meets the default handler and
	// ends the process.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(report(err, os.Stderr))
}

// report prints an error and returns the exit status: 2 for a mistake in the command line, 1
// for a command that failed.
func report(err error, stderr io.Writer) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "riverrun: %v\nrun \"riverrun help\" for help\n", err)
		return 2
	default:
		fmt.Fprintf(stderr, "riverrun: %v\n", err)
		return 1
	}
}

// usageError is a mistake in the command line or the environment. Nothing was
// started.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// env is the environment of a command. A command calls parse before anything else.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	lookup func(name string) (value string, set bool)
	name   string // of the command
}

// command is one of riverrun's subcommands.
type command struct {
	name string
	// usage is what follows the name; it shows in the help.
	usage string
	// summary is one line of help, detail the rest.
	summary, detail string
	run             func(ctx context.Context, e *env, args []string) error
}

// run is the whole program: the command that args name, "serve" if they name none, with the
// environment that lookup reads. It returns when the command has ended; for a server, when ctx
// was cancelled and everything it started has stopped.
func run(ctx context.Context, args []string, lookup func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) error {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	} else if len(args) > 0 && isHelp(args[0]) {
		name, args = "help", nil
	}
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		e := &env{stdin: stdin, stdout: stdout, stderr: stderr, lookup: lookup, name: name}
		if len(args) > 0 && isHelp(args[0]) {
			return printCommandHelp(stdout, c)
		}
		return c.run(ctx, e, args)
	}
	return usagef("there is no command %q", name)
}

func isHelp(arg string) bool {
	return arg == "-h" || arg == "-help" || arg == "--help"
}
