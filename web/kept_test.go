package web_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// A node keeps a page's decision, its articles and what stands around them. The page is the same when the
// node has to make all of them anew, whatever happened before.
func TestKeptPagesAreAsMadeAnew(t *testing.T) {
	s := webtest.New(t, nil)
	now := time.Now()
	s.Server.SetClock(func() time.Time { return now }) // who is followed is counted again after seconds
	ann, bob, cat := s.Person("ann"), s.Person("bob"), s.Person("cat")
	s.Person("dan")
	ann.Follow(bob)
	ann.Follow(cat)
	bob.Visitor().Post("/groups", "name", "club", "title", "The club", "access", "public").Wants(http.StatusSeeOther)
	post := bob.Post("A #boat on the lake")
	var more []string
	for i := range 4 {
		more = append(more, bob.Post(fmt.Sprint("More of it ", i)).Code)
	}
	remark := bob.Comment(post.Code, "It leaks")
	ann.Like(post.Code)
	addresses := []string{
		"/", "/everything", "/bob", "/ann", "/cat", "/club", "/p/" + post.Code, "/tag/boat", "/best", "/filter/discussions", "/filter/mentions",
		"/filter/messages", "/filter/notifications", "/filter/mine", "/bob/likes", "/bob/comments",
	}
	viewers := map[string]*webtest.Visitor{"ann": ann.Visitor(), "bob": bob.Visitor(), "nobody": s.Visitor()}
	// differs says where two pages begin to differ.
	differs := func(a, b string) string {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		return fmt.Sprintf("%q\n%q", a[max(i-100, 0):min(i+150, len(a))], b[max(i-100, 0):min(i+150, len(b))])
	}
	check := func(after string) {
		t.Helper()
		s.FollowUp()
		for _, v := range viewers {
			for _, address := range addresses { // what is new on a page is seen then
				v.Get(address)
			}
		}
		before := s.Figure("riverrun_rendered_total", "yes", "articles")
		kept := map[string]string{}
		for name, v := range viewers {
			for _, address := range addresses {
				v.Get(address)
				kept[name+" "+address] = v.Get(address).Body
			}
		}
		if hits := s.Figure("riverrun_rendered_total", "yes", "articles") - before; hits < float64(len(kept))/2 {
			t.Errorf("after %s only %v of %d pages were kept", after, hits, len(kept))
		}
		cat.Ban("dan") // which shows nowhere, and moves the clock of access
		defer cat.Unban("dan")
		for name, v := range viewers {
			for _, address := range addresses {
				if had, made := kept[name+" "+address], v.Get(address).Body; had != made {
					t.Errorf("after %s, %s for %s:\n%s", after, address, name, differs(had, made))
				}
			}
		}
	}
	check("nothing")
	bob.Like(post.Code)
	cat.Comment(post.Code, "It floats")
	check("a like and a comment")
	bob.Rename("Robert")
	check("a new name")
	viewers["ann"].Get("/").Has(`<option value="bob">Robert</option>`)
	russian := ann.Visitor()
	russian.Header.Set("Accept-Language", "ru")
	russian.Get("/").Has(`title="Обсуждения"`)
	viewers["ann"].Get("/").Has(`title="Discussions"`)
	bob.LikeComment(post.Code, remark.CommentID)
	bob.Edit(post.Code, "A #boat under the lake")
	check("an edit")
	ann.Subscribe("club")
	ann.Visitor().Post("/lists", "title", "Close").Wants(http.StatusSeeOther)
	check("a group and a list")
	bob.SetAccess("club", timelines.Private)
	check("a closed group")
	cat.Ban("bob")
	check("a ban")
	cat.SetAccess("", timelines.Private)
	check("a closed page")
	ann.Unsubscribe("bob")
	check("somebody not followed")
	bob.Remove(more[1])
	check("a post that is gone")
}

// The boxes of a composer are kept too. Each page's has its own place chosen, and names those whom the viewer follows now.
func TestKeptChipsAreOfThePage(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Follow(bob)
	for _, name := range []string{"chess", "boats"} {
		ann.Visitor().Post("/groups", "name", name, "title", "On "+name, "access", "public").Wants(http.StatusSeeOther)
	}
	bob.Visitor().Post("/groups", "name", "town", "title", "The town", "access", "public", "writers", "anyone").Wants(http.StatusSeeOther)
	const chosen, other, person = `name="to" value="%s" checked`, `name="to" value="%s" data-level`, `<option value="bob">`
	v := ann.Visitor()
	for range 2 {
		for name, rest := range map[string]string{"chess": "boats", "boats": "chess", "ann": "chess", "town": "boats"} {
			v.Get("/"+name).Wants(http.StatusOK).Has(fmt.Sprintf(chosen, name), fmt.Sprintf(other, rest), person)
		}
		v.Get("/ann/private").Wants(http.StatusOK).Has(fmt.Sprintf(chosen, "ann/private"), fmt.Sprintf(other, "chess"), person)
		v.Get("/").Wants(http.StatusOK).Has(fmt.Sprintf(other, "chess"), fmt.Sprintf(other, "boats"), person).Lacks(`name="to" value="boats" checked`)
		v.Get("/filter/messages").Wants(http.StatusOK).Has(person)
	}
	v.Post("/bob/unfollow").Wants(http.StatusSeeOther)
	for _, address := range []string{"/chess", "/", "/filter/messages"} {
		v.Get(address).Wants(http.StatusOK).Lacks(person)
	}
}
