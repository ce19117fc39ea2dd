// Words counts phrases in comments that a colleague would not say, and fails unless it finds as many
// as .ci/words.txt says. The numbers there may only fall.
//
// It counts sentences that open with Who, What, Of, Else or Whoever as a noun ("What is held is
// tried again"), and the words "of which", "so many", "the one that" and "are told". It reads the
// comments of Go, templ and JavaScript, and those of the SQL inside Go. It leaves out questions, a
// comment that opens with the name declared below it, generated files, and migrations, which
// are never edited.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

const numbers = ".ci/words.txt"

var (
	marker   = regexp.MustCompile(`^\s*(?://|--)|\s// `)
	declared = regexp.MustCompile(`^(?:func (?:\([^)]*\) )?|type )(\w+)`)
	opening  = regexp.MustCompile(`(?:^|[.:;?!)] |- )((?:Who|What|Of|Else|Whoever) [a-z][^.:;?!]*[.:;?!]?)`)
	phrase   = regexp.MustCompile(`(?i)\b(?:of which|so many|the one that|are told)\b[^.]*`)
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	files, err := exec.Command("git", "ls-files", "*.go", "*.templ", "*.js", ":!*_templ.go", ":!.ci").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	var openings, phrases []string
	for file := range strings.FieldsSeq(string(files)) {
		content, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) { // removed, and not yet committed
			continue
		}
		if err != nil {
			return err
		}
		for _, c := range comments(string(content)) {
			place := fmt.Sprintf("%s:%d: ", file, c.line)
			for _, m := range opening.FindAllStringSubmatch(c.text, -1) {
				if !strings.HasSuffix(m[1], "?") {
					openings = append(openings, place+m[1])
				}
			}
			for _, m := range phrase.FindAllString(c.text, -1) {
				phrases = append(phrases, place+m)
			}
		}
	}

	found := fmt.Sprintf("%d sentences open with Who, What, Of, Else or Whoever\n"+
		"%d times: of which, so many, the one that, are told\n", len(openings), len(phrases))
	want, err := os.ReadFile(numbers)
	if err != nil {
		return err
	}
	if found == string(want) {
		return nil
	}
	return fmt.Errorf("%s\n\nFound:\n%s%s says:\n%s"+
		"If there are more now, say them in plain English: subject, verb, object, one idea a sentence.\n"+
		"If there are fewer, write what was found into the file",
		strings.Join(append(openings, phrases...), "\n"), found, numbers, want)
}

type comment struct {
	line int    // where it begins, from 1
	text string // without its marks, in one line
}

// comments returns the comments of a file. Lines of comment that follow each other are one comment; a
// comment behind code begins a new one. It does not know strings: it takes text after " // " in a
// string for a comment.
func comments(content string) []comment {
	var all []comment
	var last comment
	for i, line := range strings.Split(content, "\n") {
		at := marker.FindStringIndex(line)
		if at == nil {
			if f := declared.FindStringSubmatch(line); f != nil {
				last.text = strings.TrimPrefix(last.text, f[1]+" ")
			}
			all = append(all, last)
			last = comment{}
			continue
		}
		if behindCode := strings.TrimSpace(line[:at[0]]) != ""; behindCode {
			all = append(all, last)
			last = comment{}
		}
		if last.text == "" {
			last.line = i + 1
		}
		last.text = strings.TrimSpace(last.text + " " + strings.TrimSpace(line[at[1]:]))
	}
	return append(all, last)
}
