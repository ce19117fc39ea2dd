package adminpages

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/files"
	"riverrun/timelines/storage"
	"riverrun/web/view"
)

// ownersShown is how many accounts each list has. countingTime bounds each question that reads a whole
// table.
const (
	ownersShown  = 50
	countingTime = time.Second
)

// storageView is what takes the room.
type storageView struct {
	*view.Base
	primary, secondary []storage.Use
	files              []files.Usage
	byFiles, byPosts   []storage.Owner
	// slow: a part took too long to count and is left out.
	slowFiles, slowByFiles, slowByPosts bool
}

func (p *Pages) storage(c Call) error {
	ctx := c.Request().Context()
	v := storageView{Base: c.Base()}
	tables, err := storage.Tables(ctx, p.primary)
	if err != nil {
		return err
	}
	v.primary = storage.ByGroup(tables)
	if tables, err = p.process.Rivers.Tables(ctx); err != nil {
		return err
	}
	v.secondary = storage.ByGroup(tables)
	for _, part := range []struct {
		slow *bool
		read func(pgx.Tx) error
	}{
		{&v.slowFiles, func(tx pgx.Tx) (err error) { v.files, err = files.Use(ctx, tx); return err }},
		{&v.slowByFiles, func(tx pgx.Tx) (err error) { v.byFiles, err = storage.MostFiles(ctx, tx, ownersShown); return err }},
		{&v.slowByPosts, func(tx pgx.Tx) (err error) { v.byPosts, err = storage.MostPosts(ctx, tx, ownersShown); return err }},
	} {
		if *part.slow, err = p.inTime(ctx, part.read); err != nil {
			return err
		}
	}
	return c.Show(storagePage(v))
}

// inTime asks a question within countingTime, and reports whether that was too little.
func (p *Pages) inTime(ctx context.Context, read func(pgx.Tx) error) (slow bool, err error) {
	err = storage.Within(ctx, p.primary, countingTime, read)
	if errors.Is(err, storage.ErrSlow) {
		return true, nil
	}
	return false, err
}

func (v storageView) total(uses []storage.Use) string {
	var sum int64
	for _, u := range uses {
		sum += u.Bytes
	}
	return view.FileSize(v.Locale, sum)
}

func (v storageView) totalFiles() string {
	var sum int64
	for _, u := range v.files {
		sum += u.Bytes
	}
	return view.FileSize(v.Locale, sum)
}

// filesKind is the name of a kind of blobs.
func (v storageView) filesKind(kind string) string {
	if text, ok := v.Locale.Texts["storage.files."+kind]; ok {
		return text
	}
	return kind
}
