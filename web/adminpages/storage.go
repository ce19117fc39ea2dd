package adminpages

import (
	"context"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/files"
	"riverrun/timelines/storage"
	"riverrun/web/view"
)

// ownersShown is how many accounts each list has.
const ownersShown = 50

// storageView is what takes the room.
type storageView struct {
	*view.Base
	primary, secondary []storage.Use
	files              []files.Usage
	byFiles, byPosts   []storage.Owner
	lacks              map[string]lack // by the name of the part
}

func (p *Pages) storage(c Call) error {
	ctx := c.Request().Context()
	v := storageView{Base: c.Base(), lacks: map[string]lack{}}
	for name, read := range map[string]func(context.Context) error{
		"primary": p.inTime(func(ctx context.Context, tx pgx.Tx) error {
			tables, err := storage.Tables(ctx, tx)
			v.primary = storage.ByGroup(tables)
			return err
		}),
		"secondary": func(ctx context.Context) error {
			tables, err := p.process.Rivers.Tables(ctx)
			v.secondary = storage.ByGroup(tables)
			return err
		},
		"blobs": p.inTime(func(ctx context.Context, tx pgx.Tx) (err error) { v.files, err = files.Use(ctx, tx); return err }),
		"byfiles": p.inTime(func(ctx context.Context, tx pgx.Tx) (err error) {
			v.byFiles, err = storage.MostFiles(ctx, tx, ownersShown)
			return err
		}),
		"byposts": p.inTime(func(ctx context.Context, tx pgx.Tx) (err error) {
			v.byPosts, err = storage.MostPosts(ctx, tx, ownersShown)
			return err
		}),
	} {
		v.lacks[name] = p.part(ctx, name, read)
	}
	return c.Show(storagePage(v))
}

// figures are the sums of those parts that are there.
func (v storageView) figures() []figure {
	var all []figure
	for _, part := range []struct{ name, sum string }{{"primary", v.total(v.primary)}, {"secondary", v.total(v.secondary)}, {"blobs", v.totalFiles()}} {
		if v.lacks[part.name] == "" {
			all = append(all, figure{v.Locale.T("storage." + part.name), part.sum})
		}
	}
	return all
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
