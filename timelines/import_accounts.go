package timelines

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

// findAccounts finds the accounts that were imported before. An account that is a group
// here stays one, whatever the batch says. If it is a person here and a group in the batch,
// that is an InvalidError "kind_other", because the person has its posts already.
func (b *batch) findAccounts(ctx context.Context) error {
	// As in recall, each is found by itself. One that left has its hash instead of its key. Each of the two is
	// looked up: a list of both would, before PostgreSQL has statistics, have it read all accounts for each key.
	const query = `
		SELECT k.key, a.id, a.kind, a.about, a.kind = '` + Gone + `' OR EXISTS (SELECT FROM leaving l WHERE l.account_id = a.id OFFSET 0),
			EXISTS (SELECT FROM credentials c WHERE c.account_id = a.id OFFSET 0)
			OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = a.id OFFSET 0)
		FROM unnest(@keys::text[]) k (key)
		CROSS JOIN LATERAL (VALUES (k.key), ('sha256:' || encode(sha256(convert_to(k.key, 'UTF8')), 'hex'))) e (external_id)
		CROSS JOIN LATERAL (
			SELECT their_id FROM origins WHERE source = @source AND kind = 'account' AND external_id = e.external_id OFFSET 0) o
		-- It waits for the end of a deletion, and one that ends later waits for the batch.
		CROSS JOIN LATERAL (SELECT * FROM accounts WHERE id = o.their_id OFFSET 0 FOR KEY SHARE) a`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"source": b.source, "keys": slices.Collect(maps.Keys(b.accounts)),
	})
	if err != nil {
		return fmt.Errorf("find accounts: %w", err)
	}
	var key, kind, about string
	var id int64
	var left, claimed bool
	_, err = pgx.ForEachRow(rows, []any{&key, &id, &kind, &about, &left, &claimed}, func() error {
		if left {
			b.left[key] = true
			return nil
		}
		a := b.accounts[key]
		if kind == User && a.Kind == Group {
			return fmt.Errorf("account %s: a group, which was a person: %w", key, &InvalidError{Field: "accounts", Code: "kind_other"})
		}
		a.ID, a.Kind, a.about, a.claimed = id, kind, about, claimed
		return nil
	})
	if err != nil {
		return fmt.Errorf("find accounts: %w", err)
	}
	if len(b.left) > 0 {
		b.dropLeft()
	}
	for _, a := range b.accounts {
		a.new = a.ID == 0
	}
	return nil
}

// dropLeft drops people from the batch whose accounts are to be deleted here, or were deleted: what they
// wrote and liked, and posts that were sent to nobody else. The lists are the caller's, so they are copied.
func (b *batch) dropLeft() {
	of := func(a ImportedAccount) bool { return b.left[a.ExternalID] }
	b.posts = slices.DeleteFunc(b.posts, func(p *importPost) bool {
		nowhere := len(p.To)+len(p.Direct) == 0
		p.To, p.Direct = slices.DeleteFunc(slices.Clone(p.To), of), slices.DeleteFunc(slices.Clone(p.Direct), of)
		p.Comments = slices.DeleteFunc(slices.Clone(p.Comments), func(c ImportedComment) bool { return of(c.Author) })
		p.Likes = slices.DeleteFunc(slices.Clone(p.Likes), func(l ImportedLike) bool { return of(l.Account) })
		return of(p.Author) || !nowhere && len(p.To)+len(p.Direct) == 0
	})
	clear(b.byKey)
	for _, p := range b.posts {
		b.byKey[p.ExternalID] = p
	}
	maps.DeleteFunc(b.accounts, func(key string, _ *importAccount) bool { return b.left[key] })
}

// names yields the names that an account may have here, the best first. The last one
// contains a hash of its key, so that no other account has it but by chance.
func (b *batch) names(a *importAccount) []string {
	stem := func(room int) string { return a.Name[:min(len(a.Name), nameRunes-room)] }
	sum := sha256.Sum256([]byte(b.source + "\x00" + a.ExternalID))
	own := "-" + hex.EncodeToString(sum[:6])
	names := []string{a.Name}
	for i := 2; i <= 5; i++ {
		suffix := "-" + strconv.Itoa(i)
		names = append(names, stem(len(suffix))+suffix)
	}
	return append(names, stem(len(own))+own)
}

// nameRunes is the length of the longest name.
const nameRunes = 35

// importNames is the key of the advisory lock under which imports choose names, one import
// after the other.
const importNames = 7245_003

// makeAccounts creates the accounts that are missing, each with the best name that is free.
// One statement tries all first choices, the next one the second choices of the accounts
// that are left, and so on.
func (b *batch) makeAccounts(ctx context.Context) error {
	var waiting, made []*importAccount
	for _, a := range b.sortedAccounts() {
		if a.new {
			waiting = append(waiting, a)
		}
	}
	if len(waiting) > 0 {
		// The statement waits for a name that another import is about to take, and the next
		// best name comes in a later statement. Without the lock, two imports could each wait
		// for a name that the other has taken.
		_, err := b.tx.Exec(ctx, `SELECT pg_advisory_xact_lock(@key)`, pgx.StrictNamedArgs{"key": int64(importNames)})
		if err != nil {
			return fmt.Errorf("wait for another import: %w", err)
		}
	}
	for choice := 0; len(waiting) > 0; choice++ {
		taken := map[string]*importAccount{}
		var kinds, names, titles, abouts []string
		for _, a := range waiting {
			list := b.names(a)
			if choice == len(list) {
				return fmt.Errorf("account %s: %w", a.ExternalID, ErrNameTaken)
			}
			name := list[choice]
			if !importable(name) || taken[name] != nil {
				continue
			}
			taken[name] = a
			kinds, names, titles, abouts = append(kinds, a.Kind), append(names, name), append(titles, a.Title), append(abouts, a.About)
		}
		const query = `
			INSERT INTO accounts (kind, name, title, about)
			SELECT n.* FROM unnest(@kinds::text[], @names::text[], @titles::text[], @abouts::text[]) AS n (kind, name, title, about)
			WHERE NOT ` + isLeft + `
			ON CONFLICT (name) DO NOTHING
			RETURNING id, name`
		rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"kinds": kinds, "names": names, "titles": titles, "abouts": abouts})
		if err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
		var id int64
		var name string
		_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error {
			taken[name].ID, taken[name].Name, taken[name].about = id, name, taken[name].About
			made = append(made, taken[name])
			return nil
		})
		if err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
		waiting = slices.DeleteFunc(waiting, func(a *importAccount) bool { return a.ID != 0 })
	}
	var ids []int64
	var keys, titles []string
	for _, a := range made {
		ids, keys, titles = append(ids, a.ID), append(keys, a.ExternalID), append(titles, a.Title)
	}
	if err := insertTimelinesTx(ctx, b.tx, ids); err != nil {
		return err
	}
	return b.remember(ctx, originAccount, ids, keys, titles)
}

// findTimelines reads the fixed timelines of the accounts, and the aggregates. Those of accounts
// that the import met before are known but for their levels, which people may change.
func (b *batch) findTimelines(ctx context.Context) error {
	byID := make(map[int64]*importAccount, len(b.accounts))
	byFeed := map[int64]*importAccount{}
	var unknown, feeds []int64
	for _, a := range b.accounts {
		byID[a.ID] = a
		b.met = append(b.met, meeting{kind: a.Kind, id: a.ID, new: a.new})
		if a.timelines = b.known.accounts[a.ID]; a.timelines == nil {
			a.timelines = map[string]int64{}
			unknown = append(unknown, a.ID)
			continue
		}
		byFeed[a.feed()] = a
		feeds = append(feeds, a.feed())
	}
	b.aggregates = b.known.aggregates
	if len(unknown) > 0 || b.aggregates == nil {
		b.aggregates = map[string]map[string]int64{}
		if err := b.readTimelines(ctx, byID, unknown); err != nil {
			return err
		}
	}
	rows, err := b.tx.Query(ctx, `
		SELECT t.id, t.access FROM unnest(@feeds::bigint[]) f (id)
		CROSS JOIN LATERAL (SELECT id, access FROM timelines WHERE id = f.id OFFSET 0) t`,
		pgx.StrictNamedArgs{"feeds": feeds})
	if err != nil {
		return fmt.Errorf("read levels: %w", err)
	}
	var id int64
	var level Level
	_, err = pgx.ForEachRow(rows, []any{&id, &level}, func() error {
		byFeed[id].level = level
		return nil
	})
	if err != nil {
		return fmt.Errorf("read levels: %w", err)
	}
	return b.makeAdmins(ctx)
}

func (b *batch) readTimelines(ctx context.Context, byID map[int64]*importAccount, accounts []int64) error {
	query := `
		SELECT id, kind, their_id, term, access FROM timelines
		WHERE kind IN ` + kinds.SQL(kinds.Spec.IsOwned) + ` AND their_id = ANY(@accounts)
			AND term = '' OR kind IN ` + kinds.SQL(kinds.Spec.IsAggregate) + ` AND their_id = 0`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"accounts": accounts})
	if err != nil {
		return fmt.Errorf("find timelines: %w", err)
	}
	var id, their int64
	var kind, term string
	var level Level
	_, err = pgx.ForEachRow(rows, []any{&id, &kind, &their, &term, &level}, func() error {
		spec := kinds.Of(kind)
		if spec.Aggregate {
			if b.aggregates[spec.Kind] == nil {
				b.aggregates[spec.Kind] = map[string]int64{}
			}
			b.aggregates[spec.Kind][term] = id
			return nil
		}
		if kind == kinds.Feed || kind == kinds.Group {
			byID[their].level = level
		}
		byID[their].timelines[spec.Kind] = id // the table's own text, not one for each account
		return nil
	})
	if err != nil {
		return fmt.Errorf("find timelines: %w", err)
	}
	return nil
}

// makeAdmins gives new groups their administrators, who become members too. An administrator
// who was here before may be signed in, so their sets are invalidated and their home feed is
// replaced.
func (b *batch) makeAdmins(ctx context.Context) error {
	var groups, admins, feeds []int64
	invalidated := map[int64]bool{}
	for _, a := range b.sortedAccounts() {
		who := b.accounts[a.Admin]
		if !a.new || who == nil {
			continue
		}
		groups, admins, feeds = append(groups, a.ID), append(admins, who.ID), append(feeds, a.feed())
		if !who.new && !invalidated[who.ID] {
			invalidated[who.ID] = true
			b.invalidations = append(b.invalidations, Invalidation{Kind: InvalidSets, AccountID: who.ID})
			b.events = append(b.events, replacements(myHome(who.ID))...)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	const query = `
		WITH new AS (
			SELECT * FROM unnest(@groups::bigint[], @admins::bigint[], @feeds::bigint[]) AS n (group_id, account_id, feed_id)
		), led AS (
			INSERT INTO group_admins (group_id, account_id) SELECT group_id, account_id FROM new
		), joined AS (
			INSERT INTO subscriptions (subscriber_id, account_id) SELECT account_id, group_id FROM new
		)
		INSERT INTO readers (timeline_id, account_id) SELECT feed_id, account_id FROM new`
	_, err := b.tx.Exec(ctx, query, pgx.StrictNamedArgs{"groups": groups, "admins": admins, "feeds": feeds})
	if err != nil {
		return fmt.Errorf("appoint administrators: %w", err)
	}
	return nil
}

// makePrivate makes new feeds private if the source says so. Feeds that were here before go to
// lockLevels and lockPosts. It also describes groups that were first met without a
// description. It leaves accounts alone that somebody has claimed.
func (b *batch) makePrivate(ctx context.Context) error {
	var fresh []int64
	var described []*importAccount
	for _, a := range b.sortedAccounts() {
		if a.Private && a.level != Private && !a.claimed {
			if a.new {
				fresh = append(fresh, a.feed())
			} else {
				// An earlier archive did not say that it is private. This is a change of its
				// level.
				b.goingPrivate = append(b.goingPrivate, a.feed())
				b.invalidations = append(b.invalidations, Invalidation{Kind: InvalidLevel, TimelineID: a.feed()})
			}
			a.level = Private
		}
		if a.About != "" && a.about == "" && !a.claimed {
			described = append(described, a)
		}
	}
	// Nobody else sees the new feeds yet, so this needs no lock, and no flag changes.
	const closed = `
		UPDATE timelines SET access = 2, writers = CASE kind WHEN 'group' THEN 'members' ELSE writers END
		WHERE id = ANY(@feeds)`
	_, err := b.tx.Exec(ctx, closed, pgx.StrictNamedArgs{"feeds": fresh})
	if err != nil {
		return fmt.Errorf("make feeds private: %w", err)
	}
	if len(b.goingPrivate) > 0 {
		b.events = append(b.events, Replace{Everybody: true})
	}
	if len(described) == 0 {
		return nil
	}
	slices.SortFunc(described, func(x, y *importAccount) int { return cmp.Compare(x.ID, y.ID) })
	var ids []int64
	var abouts []string
	for _, a := range described {
		ids, abouts = append(ids, a.ID), append(abouts, a.About)
		b.invalidations = append(b.invalidations, Invalidation{Kind: InvalidAccount, AccountID: a.ID})
	}
	_, err = b.tx.Exec(ctx, `
		WITH locked AS MATERIALIZED (
			SELECT id FROM accounts WHERE id = ANY(@ids) ORDER BY id FOR NO KEY UPDATE
		)
		UPDATE accounts a SET about = d.about
		FROM locked JOIN unnest(@ids::bigint[], @abouts::text[]) AS d (id, about) USING (id) WHERE a.id = locked.id`,
		pgx.StrictNamedArgs{"ids": ids, "abouts": abouts})
	if err != nil {
		return fmt.Errorf("describe accounts: %w", err)
	}
	return nil
}

// addMembers makes members of the authors of new posts in groups that are not public, because
// only members could write there. People whom an administrator has excluded here stay out.
// lockLevels has locked the groups.
func (b *batch) addMembers(ctx context.Context) error {
	var people, groups, feeds []int64
	counted := map[int64]struct{}{} // groups that may be remembered with fewer members
	for _, p := range b.posts {
		author := b.accounts[p.Author.ExternalID]
		if !p.new || author.claimed || author.Kind != User {
			continue
		}
		for _, to := range p.To {
			if g := b.accounts[to.ExternalID]; g.Kind == Group && g.level != Public {
				people, groups, feeds = append(people, author.ID), append(groups, g.ID), append(feeds, g.feed())
				if !g.new {
					counted[g.ID] = struct{}{}
				}
			}
		}
	}
	if len(people) == 0 {
		return nil
	}
	const wrote = `
		(SELECT DISTINCT * FROM unnest(@people::bigint[], @groups::bigint[], @feeds::bigint[]) AS n (account_id, group_id, feed_id)
		WHERE NOT EXISTS (SELECT FROM excluded x WHERE x.timeline_id = n.feed_id AND x.account_id = n.account_id)) new`
	const join = `
		INSERT INTO subscriptions (subscriber_id, account_id)
		SELECT account_id, group_id FROM ` + wrote + ` ORDER BY 1, 2
		ON CONFLICT DO NOTHING`
	const read = `
		INSERT INTO readers AS r (timeline_id, account_id)
		SELECT feed_id, account_id FROM ` + wrote + ` ORDER BY 1, 2
		ON CONFLICT (timeline_id, account_id) DO UPDATE SET admitted = false WHERE r.admitted`
	args := pgx.StrictNamedArgs{"people": people, "groups": groups, "feeds": feeds}
	joined, err := b.tx.Exec(ctx, join, args)
	if err != nil {
		return fmt.Errorf("admit members: %w", err)
	}
	if _, err := b.tx.Exec(ctx, read, args); err != nil {
		return fmt.Errorf("admit members: %w", err)
	}
	if joined.RowsAffected() > 0 {
		// Nobody has signed in as one of them, so no sets are invalidated.
		for _, g := range slices.Sorted(maps.Keys(counted)) {
			b.invalidations = append(b.invalidations, Invalidation{Kind: InvalidCounts, AccountID: g})
		}
	}
	return nil
}
