package web_test

import (
	"archive/zip"
	"io"
	"slices"
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// Somebody asks for an archive, sees how far it is, and downloads it. Nobody else can.
func TestMyData(t *testing.T) {
	s := webtest.NewLively(t)
	ann, bob := s.Person("ann"), s.Person("bob")
	here := ann.Visitor()
	here.Post("/posts", "body", "Words of ann", "key", "k")
	here.PostFiles("/posts", []webtest.Upload{{Name: "lake.jpg", Content: webtest.Photo(300, 200)}}, "body", "A lake", "key", "l")
	here.Get("/settings").Wants(200).Has(`href="/settings/data"`)
	here.Get("/settings/data").Wants(200).Has("Make the archive").Lacks("<progress", "archive.zip", "data-again")
	here.Get("/settings/data/archive.zip").Wants(404)

	here.Post("/settings/data").LeadsTo("/settings/data")
	webtest.Await(t, "the archive", func() bool { return strings.Contains(here.Get("/settings/data").Body, "archive.zip") })
	here.Get("/settings/data").Has("Your archive is ready", "Download", "to be downloaded until", "You can ask for a new one after").Lacks("Make")
	here.Post("/settings/data").Wants(422).Has("within the last day")

	got := here.Get("/settings/data/archive.zip").Wants(200)
	if h := got.Header; h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/zip" || h.Get("Content-Encoding") != "" ||
		!strings.HasPrefix(h.Get("Content-Disposition"), "attachment; filename=riverrun-ann-2") {
		t.Errorf("the headers are %v", h)
	}
	archive, err := zip.NewReader(strings.NewReader(got.Body), int64(len(got.Body)))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == "data.json" })
	in, err := archive.File[i].Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil || !strings.Contains(string(text), "Words of ann") {
		t.Errorf("data.json: %v\n%s", err, text)
	}
	if !slices.ContainsFunc(archive.File, func(f *zip.File) bool { return strings.HasPrefix(f.Name, "files/") }) {
		t.Error("the picture is not in it")
	}

	bob.Visitor().Get("/settings/data").Wants(200).Lacks("archive.zip")
	bob.Visitor().Get("/settings/data/archive.zip").Wants(404)
	s.Visitor().Get("/settings/data/archive.zip").LeadsTo("/login?back=%2Fsettings%2Fdata%2Farchive.zip")
	s.Visitor().Post("/settings/data").Wants(303)
}

// The page says how far the making is, and goes on by itself.
func TestMyDataWhileItIsMade(t *testing.T) {
	s := webtest.New(t, nil) // no job is worked
	here := s.Person("ann").Visitor()
	here.Header.Set("Accept-Language", "ru")
	here.Post("/settings/data").LeadsTo("/settings/data")
	here.Get("/settings/data").Wants(200).Has("Скоро начнётся", "<progress", `data-again="/settings/data"`).Lacks("Создать архив")
	here.Post("/settings/data").LeadsTo("/settings/data") // twice: nothing
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE exports SET state = 'making', total = 8, done = 2`); err != nil {
		t.Fatal(err)
	}
	here.Get("/settings/data").Wants(200).Has(`max="8" value="2"`, "25%")
	here.Get("/settings/data/archive.zip").Wants(404)
	here.Header.Set("X-River-Page", "x")
	here.Get("/settings/data").Wants(200).Has(`id="data-now"`).Lacks("<html")
	here.Header.Del("X-River-Page")
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE exports SET state = 'failed', finished_at = now(), expires_at = now() + interval '1 day'`); err != nil {
		t.Fatal(err)
	}
	here.Get("/settings/data").Wants(200).Has("Архив создать не удалось", "Создать архив").Lacks("data-again")
	here.Post("/settings/data").LeadsTo("/settings/data")
	here.Get("/settings/data").Has("Скоро начнётся")
}
