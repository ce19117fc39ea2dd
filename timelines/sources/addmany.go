package sources

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
)

// AddedAs says what happened to one address of a list.
type AddedAs string

const (
	Added   AddedAs = "added"
	There   AddedAs = "there"    // the owner has it, or it came before in the list
	Invalid AddedAs = "invalid"  // no address that can be fetched
	TooMany AddedAs = "too_many" // the owner has as many as there may be
)

// AddedMany is one address of a list, and what happened to it.
type AddedMany struct {
	URL, Title string
	As         AddedAs
}

// AddMany adds the feeds of an OPML file as links to an owner's feed, or to the owner's sub-feed with
// that slug. It returns what happened to each feed, in the order of the file. The new links are due
// at once. It returns the errors of Add, except those that are about one address.
func (s *Store) AddMany(ctx context.Context, actor int64, owner, slug string, feeds []formats.Outline) ([]AddedMany, error) {
	all := make([]New, len(feeds))
	results := make([]AddedMany, len(feeds))
	var urls []string
	for i, f := range feeds {
		title := []rune(f.Title)
		all[i] = New{Owner: owner, Slug: slug, Way: Link, URL: f.URL, Title: string(title[:min(len(title), maxTitleRunes)])}
		if f.Invalid || all[i].check() != nil {
			results[i].As = Invalid
		}
		results[i].URL, results[i].Title = all[i].URL, all[i].title()
		urls = append(urls, all[i].URL)
	}
	_, err := inTx(ctx, s.pool, func(tx pgx.Tx) (struct{}, error) {
		var none struct{}
		id, err := ownerTx(ctx, tx, actor, owner)
		if err != nil {
			return none, err
		}
		if slug != "" {
			if err := hasSlugTx(ctx, tx, id, slug); err != nil {
				return none, err
			}
		}
		have, there, err := hasURLsTx(ctx, tx, id, urls)
		if err != nil {
			return none, err
		}
		var fresh addresses
		for i, n := range all {
			switch {
			case results[i].As == Invalid:
			case there[n.URL]:
				results[i].As = There
			case have >= s.limits.Sources:
				results[i].As = TooMany
			default:
				results[i].As = Added
				have++
				there[n.URL] = true
				site := feeds[i].Site
				if checkURL(site) != nil {
					site = ""
				}
				fresh.add(n, site)
			}
		}
		return none, fresh.insert(ctx, tx, id, actor, slug)
	})
	if err != nil {
		return nil, fmt.Errorf("add sources: %w", err)
	}
	return results, nil
}

// hasURLsTx returns how many sources an owner has, and which of these addresses are among them.
func hasURLsTx(ctx context.Context, tx pgx.Tx, owner int64, urls []string) (have int, there map[string]bool, err error) {
	rows, err := tx.Query(ctx, `SELECT CASE WHEN url = ANY(@urls) THEN url ELSE '' END FROM sources WHERE owner_id = @owner`,
		pgx.StrictNamedArgs{"owner": owner, "urls": urls})
	if err != nil {
		return 0, nil, fmt.Errorf("count sources: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, nil, fmt.Errorf("count sources: %w", err)
	}
	there = map[string]bool{}
	for _, url := range list {
		if url != "" {
			there[url] = true
		}
	}
	return len(list), there, nil
}

// addresses are rows of sources, column by column.
type addresses struct {
	codes, urls, titles, sites []string
	titled                     []bool
}

func (a *addresses) add(n New, site string) {
	a.codes, a.urls, a.titles = append(a.codes, timelines.NewCode()), append(a.urls, n.URL), append(a.titles, n.title())
	a.sites, a.titled = append(a.sites, site), append(a.titled, n.Title != "")
}

// insert adds the addresses as links of an owner who has none of them. If a random code is taken
// already, it draws another one.
func (a *addresses) insert(ctx context.Context, tx pgx.Tx, owner, actor int64, slug string) error {
	const query = `
		INSERT INTO sources (owner_id, added_by, code, way, mode, slug, title, titled, url, site_url, next_at, settings)
		SELECT @owner, @actor, n.code, 'link', @mode, @slug, n.title, n.titled, n.url, n.site, now(), '{"rules": {"linked_title": true}}'
		FROM unnest(@codes::text[], @urls::text[], @titles::text[], @sites::text[], @titled::boolean[])
			WITH ORDINALITY AS n (code, url, title, site, titled, no)
		ORDER BY n.no
		ON CONFLICT (code) DO NOTHING
		RETURNING url`
	for len(a.urls) > 0 {
		rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{
			"owner": owner, "actor": actor, "slug": slug, "mode": Append, "codes": a.codes, "urls": a.urls,
			"titles": a.titles, "sites": a.sites, "titled": a.titled,
		})
		if err != nil {
			return fmt.Errorf("insert sources: %w", err)
		}
		made, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("insert sources: %w", err)
		}
		if len(made) == len(a.urls) {
			return nil
		}
		done := map[string]bool{}
		for _, url := range made {
			done[url] = true
		}
		var left addresses
		for i, url := range a.urls {
			if !done[url] {
				left.codes, left.urls, left.titles = append(left.codes, timelines.NewCode()), append(left.urls, url), append(left.titles, a.titles[i])
				left.sites, left.titled = append(left.sites, a.sites[i]), append(left.titled, a.titled[i])
			}
		}
		*a = left
	}
	return nil
}
