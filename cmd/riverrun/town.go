package main

import (
	"bytes"
	_ "embed" // the town
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"riverrun/timelines"
)

//go:embed town.json
var townJSON []byte

// town is what demo creates: people, groups, and what they say. People are mentioned by
// their names.
type town struct {
	People, Groups []townAccount
	Posts          []townPost
	Market         market
}

type townAccount struct {
	Name, Title, About string
	Private            bool
	Follows            []string // people and groups
	Admin              string   // of a group
}

type townPost struct {
	By         string
	Ago        span
	To, Direct []string
	Text       string
	Comments   []struct {
		By    string
		After span // the post
		Text  string
	}
	Likes []string
}

// span is a time as in 4h20m.
type span time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = span(d)
	return err
}

func readTown() (*town, error) {
	t := &town{}
	d := json.NewDecoder(bytes.NewReader(townJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("town.json: %w", err)
	}
	return t, nil
}

// accounts returns all accounts in the form of an import.
func (t *town) accounts() map[string]timelines.ImportedAccount {
	all := map[string]timelines.ImportedAccount{}
	for kind, list := range map[string][]townAccount{timelines.User: t.People, timelines.Group: t.Groups} {
		for _, a := range list {
			all[a.Name] = timelines.ImportedAccount{
				ExternalID: a.Name, Kind: kind, Name: a.Name, Title: a.Title, About: a.About, Private: a.Private, Admin: a.Admin,
			}
		}
	}
	return all
}

// posts returns all posts in the form of an import; now is the present. Likes come at
// intervals after the post.
func (t *town) posts(now time.Time) []timelines.Imported {
	var posts []timelines.Imported
	accounts := t.accounts()
	for i, p := range t.Posts {
		out := timelines.Imported{
			ExternalID: "post-" + strconv.Itoa(i+1), CreatedAt: now.Add(-time.Duration(p.Ago)), Author: accounts[p.By], Body: p.Text,
		}
		for _, name := range p.To {
			out.To = append(out.To, accounts[name])
		}
		for _, name := range p.Direct {
			out.Direct = append(out.Direct, accounts[name])
		}
		for j, c := range p.Comments {
			out.Comments = append(out.Comments, timelines.ImportedComment{
				ExternalID: out.ExternalID + "-" + strconv.Itoa(j+1), Body: c.Text,
				CreatedAt: out.CreatedAt.Add(time.Duration(c.After)), Author: accounts[c.By],
			})
		}
		for j, name := range p.Likes {
			out.Likes = append(out.Likes, timelines.ImportedLike{
				CreatedAt: out.CreatedAt.Add(time.Duration(j*j+j+7) * time.Minute), Account: accounts[name],
			})
		}
		posts = append(posts, out)
	}
	return posts
}
