package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/rules"
	"riverrun/timelines/sources"
	"riverrun/web/view"
)

// sourcePages serves the pages of the sources of a person or a group. Only people who may manage a
// source learn of it.
type sourcePages struct{ *Server }

// loadsShown is how many loads a page lists.
const loadsShown = 20

func (s sourcePages) routes(mux router) {
	mux.Handle("GET /settings/sources", s.members(s.list))
	mux.Handle("POST /settings/sources", s.withSourceFile(s.mayAdd, s.add))
	mux.Handle("POST /{name}/sources", s.withSourceFile(s.mayAdd, s.add))
	mux.Handle("GET /sources/{code}", s.members(s.source))
	mux.Handle("POST /sources/{code}/file", s.withSourceFile(s.mayUpload, s.newFile))
	mux.Handle("POST /sources/{code}/{act}", s.members(s.act))
	mux.Handle("GET /sources/{code}/loads/{no}", s.members(s.load))
}

// owner returns the account whose sources the address is about: the viewer, or a group that the
// viewer administers.
func (s sourcePages) owner(ctx context.Context, r *request) (timelines.Account, error) {
	name := r.PathValue("name")
	if !r.signedIn() {
		return timelines.Account{}, errSignIn
	}
	if name == "" {
		return r.me, nil
	}
	a, err := s.rivers.Access().AccountNamed(ctx, name)
	if err != nil {
		return a, err
	}
	if a.Kind != timelines.Group || !r.sets.Administers.Has(a.ID) {
		return a, timelines.ErrNotFound
	}
	return a, nil
}

func (s sourcePages) mayAdd(ctx context.Context, r *request) error {
	_, err := s.owner(ctx, r)
	return err
}

func (s sourcePages) list(w http.ResponseWriter, r *request) error {
	v, err := s.listView(r)
	if err != nil {
		return err
	}
	if r.wantsFragment() {
		return s.html(w, r, http.StatusOK, view.SourceList(v))
	}
	v.Done = addedSources(r.URL.Query())
	return s.html(w, r, http.StatusOK, view.SourcesPage(v))
}

func (s sourcePages) listView(r *request) (view.Sources, error) {
	ctx := r.Context()
	v := view.Sources{Base: s.simple(r), Most: s.sources.Limits().Sources}
	var err error
	if v.Who, err = s.owner(ctx, r); err != nil {
		return v, err
	}
	list, err := s.sources.List(ctx, r.viewer.AccountID, v.Who.Name)
	if errors.Is(err, timelines.ErrForbidden) {
		return v, timelines.ErrNotFound
	}
	if err != nil {
		return v, err
	}
	v.Rows, err = s.rows(ctx, v.Base, list)
	return v, err
}

// rows returns what pages show about sources, with the names that occur there.
func (s sourcePages) rows(ctx context.Context, p *view.Base, list []sources.Source) ([]view.SourceRow, error) {
	ids, accounts := make([]int64, 0, len(list)), []int64{}
	for _, one := range list {
		ids, accounts = append(ids, one.ID), append(accounts, one.OwnerID, one.AddedBy)
	}
	if err := errors.Join(s.view.NameAccounts(ctx, p, accounts), s.view.NameSubfeeds(ctx, p, []int64{p.Viewer.AccountID})); err != nil {
		return nil, err
	}
	posts, err := s.sources.Posts(ctx, ids)
	if err != nil {
		return nil, err
	}
	current, err := s.sources.Current(ctx, ids)
	if err != nil {
		return nil, err
	}
	rows := make([]view.SourceRow, len(list))
	for i, one := range list {
		rows[i] = view.SourceRow{Base: p, Source: one, Posts: posts[one.ID]}
		if l, ok := current[one.ID]; ok {
			rows[i].Load = &l
		}
	}
	return rows, nil
}

// addedSources reads from an address what happened to each link of a list.
func addedSources(q url.Values) *view.AddedSources {
	if !q.Has("added") {
		return nil
	}
	n := func(name string) int {
		n, err := strconv.Atoi(q.Get(name))
		if err != nil || n < 0 || n > 1_000_000 {
			return 0
		}
		return n
	}
	return &view.AddedSources{Added: n("added"), There: n("there"), Invalid: n("invalid"), TooMany: n("many")}
}

// add adds a source, in the way that the form names, or all links of a list.
func (s sourcePages) add(w http.ResponseWriter, r *request) error {
	who, err := s.owner(r.Context(), r)
	if err != nil {
		return err
	}
	form := view.SourceForm{
		Way: r.PostFormValue("way"), URL: r.PostFormValue("url"), Title: r.PostFormValue("title"),
		To: r.PostFormValue("to"), Mode: r.PostFormValue("mode"),
	}
	file := r.sourceFile()
	switch {
	case form.Way != "":
	case file != nil && file.outlines != nil:
		form.Way = view.WayOPML
	case file != nil:
		form.Way = string(sources.File)
	case form.URL != "":
		form.Way = string(sources.Link)
	}
	err = s.mayChange(r)
	if err == nil {
		err = r.fault()
	}
	var at string
	if err == nil && form.Way == view.WayOPML {
		at, err = s.addMany(r, who, form, file)
	} else if err == nil {
		at, err = s.addOne(r, who, form, file)
	}
	if err == nil {
		return s.done(w, r, at)
	}
	if errors.Is(err, timelines.ErrForbidden) {
		return timelines.ErrNotFound
	}
	if form.Error, err = s.formError(r, err); err != nil {
		return err
	}
	v, err := s.listView(r)
	if err != nil {
		return err
	}
	v.Form = form
	return s.redisplay(w, r, form.Error, view.SourcesPage(v))
}

// slugOf returns the slug of the viewer's sub-feed that a form names as NAME/SLUG; it is "" for their
// own feed.
func slugOf(r *request, to string) (string, error) {
	name, slug, _ := strings.Cut(to, "/")
	if to != "" && name != r.me.Name {
		return "", rules.ToUnknown.Broken(to)
	}
	return slug, nil
}

// addOne adds a source and returns its address. A file is loaded at once.
func (s sourcePages) addOne(r *request, who timelines.Account, form view.SourceForm, file *sourceFile) (string, error) {
	ctx := r.Context()
	n := sources.New{Owner: who.Name, Way: sources.Way(form.Way), URL: form.URL, Title: form.Title, Mode: sources.Mode(form.Mode)}
	var err error
	if who.Kind != timelines.Group {
		if n.Slug, err = slugOf(r, form.To); err != nil {
			return "", err
		}
	}
	switch n.Way {
	case sources.File:
		if file == nil || file.outlines != nil {
			return "", &timelines.InvalidError{Field: "file", Code: "source_file"}
		}
		n.Format = file.format
		if strings.TrimSpace(n.Title) == "" {
			n.Title = view.ShortText(cmp.Or(file.title, strings.TrimSuffix(file.name, path.Ext(file.name))), 100)
		}
	case sources.Push:
		if strings.TrimSpace(n.Title) == "" {
			n.Title = r.loc.T("sources.way.push")
		}
	}
	source, err := s.sources.Add(ctx, r.viewer.AccountID, n)
	if err != nil {
		return "", err
	}
	if n.Way == sources.File {
		if _, err := s.sources.Upload(ctx, r.viewer.AccountID, source.Code, file.uploaded()); err != nil {
			return "", err
		}
	}
	return view.SourcePath(source.Code), nil
}

// addMany adds all links of a list, and returns the address of a page that tells what happened to
// each.
func (s sourcePages) addMany(r *request, who timelines.Account, form view.SourceForm, file *sourceFile) (string, error) {
	if file == nil || file.outlines == nil {
		return "", &timelines.InvalidError{Field: "opml", Code: "source_file"}
	}
	slug := ""
	if who.Kind != timelines.Group {
		var err error
		if slug, err = slugOf(r, form.To); err != nil {
			return "", err
		}
	}
	became, err := s.sources.AddMany(r.Context(), r.viewer.AccountID, who.Name, slug, file.outlines)
	if err != nil {
		return "", err
	}
	counts := map[sources.AddedAs]int{}
	for _, one := range became {
		counts[one.As]++
	}
	return fmt.Sprintf("%s?added=%d&there=%d&invalid=%d&many=%d", view.SourcesPath(who),
		counts[sources.Added], counts[sources.There], counts[sources.Invalid], counts[sources.TooMany]), nil
}

// find returns the source of the address, if the viewer may manage it.
func (s sourcePages) find(ctx context.Context, r *request) (sources.Source, error) {
	code, ok := timelines.ParseCode(r.PathValue("code"))
	if !ok {
		return sources.Source{}, errNoPage
	}
	return s.sources.Find(ctx, r.viewer.AccountID, code)
}

func (s sourcePages) source(w http.ResponseWriter, r *request) error {
	found, err := s.find(r.Context(), r)
	if err != nil {
		return err
	}
	v, err := s.sourceView(r, found)
	if err != nil {
		return err
	}
	if r.wantsFragment() {
		return s.html(w, r, http.StatusOK, view.SourceParts(v))
	}
	for _, note := range []view.SourceNote{view.NoteSaved, view.NoteMoved, view.NoteStale} {
		if r.URL.Query().Has(string(note)) {
			v.Note = note
		}
	}
	return s.html(w, r, http.StatusOK, view.SourcePageOf(v))
}

func (s sourcePages) sourceView(r *request, found sources.Source) (view.SourcePage, error) {
	ctx := r.Context()
	v := view.SourcePage{Rules: view.RulesOf(found), From: sources.From{URL: found.URL, Mode: found.Mode}}
	rows, err := s.rows(ctx, s.simple(r), []sources.Source{found})
	if err != nil {
		return v, err
	}
	v.SourceRow = rows[0]
	if text := r.URL.Query().Get("before"); text != "" {
		if v.After, err = strconv.ParseInt(text, 10, 64); err != nil || v.After < 1 {
			return v, errNoPage
		}
	}
	if v.Loads, err = s.sources.Loads(ctx, found.ID, v.After, loadsShown+1); err != nil {
		return v, err
	}
	if len(v.Loads) > loadsShown {
		v.Loads = v.Loads[:loadsShown]
		v.Older = v.Loads[loadsShown-1].No
	}
	if v.Load != nil && v.Load.State.Working() && v.Load.Errors > 0 && found.ErrorsVisible {
		if v.Last, err = s.sources.LastError(ctx, v.Load.ID); err != nil {
			return v, err
		}
	}
	if err := s.view.NameAccounts(ctx, v.Base, r.sets.Administers); err != nil {
		return v, err
	}
	for _, id := range r.sets.Administers {
		if g, ok := v.Names[id]; ok {
			v.Groups = append(v.Groups, g)
		}
	}
	return v, nil
}

// act handles the forms on a source's page.
func (s sourcePages) act(w http.ResponseWriter, r *request) error {
	ctx, me, act := r.Context(), r.viewer.AccountID, r.PathValue("act")
	found, err := s.find(ctx, r)
	if err != nil {
		return err
	}
	do, ok := sourceActs[act]
	if !ok {
		return errNoPage
	}
	if err = s.mayChange(r); err == nil && act == "token" {
		return s.token(w, r, found)
	}
	at := view.SourcePath(found.Code)
	if err == nil {
		at, err = do(s, ctx, r, me, found)
	}
	if err == nil {
		err = s.tellOf(ctx, found)
	}
	if err != nil {
		return s.sourceAgain(w, r, found, err)
	}
	return s.done(w, r, at)
}

// tellOf has the number and the page of notifications follow what was done with a source, before it is answered (R3).
func (s sourcePages) tellOf(ctx context.Context, was sources.Source) error {
	c, err := s.sources.Tell(ctx, was)
	_, err = s.tiers.Carry(ctx, c, err)
	return err
}

// sourceActs are the forms of a source, by the last segment of their address. Each returns the
// address of the page that comes next.
var sourceActs = map[string]func(s sourcePages, ctx context.Context, r *request, me int64, found sources.Source) (string, error){
	"fetch":   sourceAct((*sources.Store).FetchNow),
	"preview": sourceAct((*sources.Store).AskPreview),
	"pause":   sourceAct((*sources.Store).Pause),
	"resume":  sourceAct((*sources.Store).Resume),
	"token":   nil, // it shows the token
	"confirm": loadAct(func(s *sources.Store, ctx context.Context, _ int64, found sources.Source, no int64) error {
		return s.Confirm(ctx, found.ID, no)
	}),
	"discard": loadAct(func(s *sources.Store, ctx context.Context, _ int64, found sources.Source, no int64) error {
		return s.Discard(ctx, found.ID, no)
	}),
	"apply": loadAct(func(s *sources.Store, ctx context.Context, _ int64, found sources.Source, no int64) error {
		_, err := s.ApplyPreview(ctx, found.ID, no)
		return err
	}),
	"change": func(s sourcePages, ctx context.Context, r *request, me int64, found sources.Source) (string, error) {
		settings, err := settingsOf(r, found)
		if err != nil {
			return "", err
		}
		_, err = s.sources.Change(ctx, me, found.Code, r.PostFormValue("title"), settings)
		return view.SourcePath(found.Code) + "?" + string(view.NoteSaved), err
	},
	"from": sourcePages.setFrom,
	"feed": sourcePages.setFrom,
	"move": func(s sourcePages, ctx context.Context, r *request, me int64, found sources.Source) (string, error) {
		name, slug, _ := strings.Cut(r.PostFormValue("to"), "/")
		_, err := s.sources.Move(ctx, me, found.Code, name, slug)
		return view.SourcePath(found.Code) + "?" + string(view.NoteMoved), err
	},
	"remove": func(s sourcePages, ctx context.Context, r *request, me int64, found sources.Source) (string, error) {
		owner, err := s.rivers.Access().Accounts(ctx, []int64{found.OwnerID})
		if err != nil {
			return "", err
		}
		_, err = s.sources.Remove(ctx, me, found.Code, r.PostFormValue("gone"))
		return view.SourcesPath(owner[found.OwnerID]), err
	},
}

// setFrom changes where a source comes from, and what it holds, as the form says.
func (s sourcePages) setFrom(ctx context.Context, r *request, me int64, found sources.Source) (string, error) {
	from := sources.From{URL: strings.TrimSpace(r.PostFormValue("url")), Mode: sources.Mode(r.PostFormValue("mode"))}
	if from.URL == "" && found.Way == sources.Link {
		return "", &timelines.InvalidError{Field: "url", Code: "url_invalid"}
	}
	_, err := s.sources.SetFrom(ctx, me, found.Code, from)
	return view.SourcePath(found.Code) + "?" + string(view.NoteSaved), err
}

func sourceAct(do func(*sources.Store, context.Context, int64, string) (sources.Source, error),
) func(sourcePages, context.Context, *request, int64, sources.Source) (string, error) {
	return func(s sourcePages, ctx context.Context, _ *request, me int64, found sources.Source) (string, error) {
		_, err := do(s.sources, ctx, me, found.Code)
		return view.SourcePath(found.Code), err
	}
}

// loadAct is a form about one load. If the load has gone on since the page was shown, that is no
// error of the sender.
func loadAct(do func(*sources.Store, context.Context, int64, sources.Source, int64) error,
) func(sourcePages, context.Context, *request, int64, sources.Source) (string, error) {
	return func(s sourcePages, ctx context.Context, r *request, me int64, found sources.Source) (string, error) {
		no, err := strconv.ParseInt(r.PostFormValue("no"), 10, 64)
		if err != nil {
			return "", errBadRequest
		}
		err = do(s.sources, ctx, me, found, no)
		if errors.Is(err, sources.ErrNotFound) || errors.Is(err, sources.ErrStale) {
			return view.SourcePath(found.Code) + "?" + string(view.NoteStale), nil
		}
		return view.SourcePath(found.Code), err
	}
}

// token makes a token and shows it, on a page that no cache keeps.
func (s sourcePages) token(w http.ResponseWriter, r *request, found sources.Source) error {
	if found.Way != sources.Push {
		return errNoPage
	}
	token, err := s.sources.Token(r.Context(), r.viewer.AccountID, found.Code)
	if err != nil {
		return err
	}
	found.HasToken = true
	v, err := s.sourceView(r, found)
	if err != nil {
		return err
	}
	v.Token = token
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.SourcePageOf(v))
}

// sourceAgain shows a source with the error of one of its forms.
func (s sourcePages) sourceAgain(w http.ResponseWriter, r *request, found sources.Source, err error) error {
	if bad, ok := errors.AsType[*timelines.InvalidError](err); ok && bad.Field == "rules" {
		switch bad.Code {
		case "rules_invalid":
			err = ruleError(bad.Value)
		case "to_unknown":
			err = &timelines.InvalidError{Field: "rules.groups", Code: bad.Code, Value: bad.Value}
		}
	}
	is, err := s.formError(r, err)
	if err != nil {
		return err
	}
	v, err := s.sourceView(r, found)
	if err != nil {
		return err
	}
	v.Error = is
	v.Act = path.Base(r.URL.Path)
	switch v.Act {
	case "change":
		v.Rules = rulesForm(r)
	case "from":
		v.From = sources.From{URL: r.PostFormValue("url"), Mode: sources.Mode(r.PostFormValue("mode"))}
	}
	return s.redisplay(w, r, is, view.SourcePageOf(v))
}

// ruleError returns the error for one field of the rules.
func ruleError(field string) error {
	is := timelines.InvalidError{Field: "rules." + field, Code: "rules_words"}
	switch field {
	case "title":
		is.Code = "rules_title"
	case "text":
		is.Code = "rules_text"
	case "tags":
		is.Code = "rules_tags"
	case "groups":
		is.Code = "rules_groups"
	}
	return &is
}

// rulesForm returns the rules as the form sent them.
func rulesForm(r *request) view.SourceRules {
	f := r.PostForm
	return view.SourceRules{
		Title: f.Get("title"), Form: f.Get("form"), Text: f.Get("text"), Tags: f.Get("tags"), Groups: f.Get("groups"), Only: f.Get("only"), Without: f.Get("without"),
		Gone: f.Get("gone"), MostGone: f.Get("most_gone"), AllTags: f.Has("all_tags"), LinkedTitle: f.Has("linked_title"), WaitPictures: f.Has("wait_pictures"),
	}
}

// settingsOf returns the settings of a source after a form. A setting that the form does not have
// stays.
func settingsOf(r *request, found sources.Source) (sources.Settings, error) {
	form, set := rulesForm(r), found.Settings
	set.Rules.Title, set.Rules.Text, set.Rules.AllTags = strings.TrimSpace(form.Form), form.Text, form.AllTags
	set.Rules.Only, set.Rules.Without = linesOf(form.Only), linesOf(form.Without)
	set.Rules.LinkedTitle, set.WaitPictures = form.LinkedTitle, form.WaitPictures
	set.Rules.Tags = nil
	for _, line := range linesOf(form.Tags) {
		category, tag, ok := rule(line)
		if !ok {
			return set, ruleError("tags")
		}
		set.Rules.Tags = append(set.Rules.Tags, sources.TagRule{Category: category, Tag: tag})
	}
	if r.PostForm.Has("groups") {
		set.Rules.Groups = nil
	}
	for _, line := range linesOf(form.Groups) {
		category, group, ok := rule(line)
		if !ok {
			return set, ruleError("groups")
		}
		set.Rules.Groups = append(set.Rules.Groups, sources.GroupRule{Category: category, Group: group})
	}
	if r.PostForm.Has("gone") {
		set.Gone = form.Gone
	}
	if r.PostForm.Has("most_gone") {
		most, err := strconv.Atoi(strings.TrimSpace(form.MostGone))
		if err != nil || most < 1 {
			return set, &timelines.InvalidError{Field: "settings", Code: "settings_invalid"}
		}
		set.MostGone = most
	}
	return set, nil
}

// rule splits a line at its last =. A category may contain a =, but tags and groups do not.
func rule(line string) (category, becomes string, ok bool) {
	at := strings.LastIndexByte(line, '=')
	if at < 0 {
		return "", "", false
	}
	return line[:at], line[at+1:], true
}

// linesOf returns the lines of a text that are not empty.
func linesOf(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
