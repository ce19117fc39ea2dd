package files

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/blobs"
)

// Ready is a picture that is made already, and attached to a post from the beginning.
type Ready struct {
	Code      string
	Post      int64
	Position  int
	Name, Alt string
	// Copy is another file with the same content. If it is 0, the other fields describe the file.
	Copy  int64
	Sum   blobs.Sum
	Bytes int64
	Made  Made
}

// Known is a picture of a post, or one that is to be copied.
type Known struct {
	ID, Post int64
	Sum      blobs.Sum
}

// KnownOf returns the pictures of posts, and those of these ids, which cannot be deleted until the
// transaction ends: so their blobs stay while they are copied. The posts must be locked.
func KnownOf(ctx context.Context, tx pgx.Tx, posts, ids []int64) ([]Known, error) {
	const query = `
		SELECT id, coalesce(post_id, 0), sum FROM files
		WHERE id = ANY(ARRAY(SELECT id FROM files WHERE post_id = ANY(@posts) AND comment_id IS NULL))
			OR id = ANY(@ids) AND state = 'picture'
		ORDER BY id FOR KEY SHARE`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts, "ids": ids})
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	known, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k Known, err error) {
		var sum []byte
		err = row.Scan(&k.ID, &k.Post, &sum)
		copy(k.Sum[:], sum)
		return k, err
	})
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return known, nil
}

// Attach records pictures that are made already, and returns their ids in the same order; 0 for one
// whose code is in use. The posts must be locked, and what is copied too (KnownOf).
func Attach(ctx context.Context, tx pgx.Tx, owner int64, list []Ready) ([]int64, error) {
	const query = `
		WITH wanted AS MATERIALIZED (
			SELECT * FROM unnest(@codes::text[], @posts::bigint[], @positions::smallint[], @names::text[], @alts::text[], @copies::bigint[],
				@sums::bytea[], @bytes::bigint[], @widths::integer[], @heights::integer[], @hashes::text[])
				AS w (code, post, position, name, alt, copy, sum, bytes, width, height, blurhash)
		), made AS (
			INSERT INTO files (owner_id, post_id, position, code, name, alt, state, sum, bytes, width, height, blurhash)
			SELECT @owner, w.post, w.position, w.code, w.name, w.alt, 'picture', coalesce(f.sum, w.sum), coalesce(f.bytes, w.bytes),
				coalesce(f.width, w.width), coalesce(f.height, w.height), coalesce(f.blurhash, w.blurhash)
			FROM wanted w LEFT JOIN files f ON f.id = w.copy
			ON CONFLICT (code) DO NOTHING
			RETURNING id, code
		), referred AS (
			INSERT INTO file_blobs (file_id, size, type, sum, bytes)
			SELECT m.id, b.size, b.type, b.sum, b.bytes
			FROM unnest(@blob_codes::text[], @sizes::text[], @types::text[], @blob_sums::bytea[], @blob_bytes::bigint[])
				AS b (code, size, type, sum, bytes) JOIN made m ON m.code = b.code
			UNION ALL
			SELECT m.id, b.size, b.type, b.sum, b.bytes
			FROM wanted w JOIN made m ON m.code = w.code JOIN file_blobs b ON b.file_id = w.copy
		)
		SELECT code, id FROM made`
	var (
		codes, names, alts, hashes, blobCodes, sizes, types []string
		posts, copies, bytes, blobBytes                     []int64
		positions                                           []int16
		widths, heights                                     []int32
		sums, blobSums                                      [][]byte
	)
	for _, r := range list {
		codes, names, alts, hashes = append(codes, r.Code), append(names, cleanName(r.Name)), append(alts, r.Alt), append(hashes, r.Made.Blurhash)
		posts, copies, bytes = append(posts, r.Post), append(copies, r.Copy), append(bytes, r.Bytes)
		positions, sums = append(positions, int16(r.Position)), append(sums, r.Sum[:])
		widths, heights = append(widths, int32(r.Made.Width)), append(heights, int32(r.Made.Height))
		for _, b := range r.Made.Blobs {
			blobCodes, sizes, types = append(blobCodes, r.Code), append(sizes, b.Size), append(types, b.Type)
			blobSums, blobBytes = append(blobSums, b.Sum[:]), append(blobBytes, b.Bytes)
		}
	}
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{
		"owner": owner, "codes": codes, "posts": posts, "positions": positions, "names": names, "alts": alts, "copies": copies,
		"sums": sums, "bytes": bytes, "widths": widths, "heights": heights, "hashes": hashes,
		"blob_codes": blobCodes, "sizes": sizes, "types": types, "blob_sums": blobSums, "blob_bytes": blobBytes,
	})
	if err != nil {
		return nil, fmt.Errorf("attach pictures: %w", err)
	}
	made := make(map[string]int64, len(list))
	var code string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&code, &id}, func() error {
		made[code] = id
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("attach pictures: %w", err)
	}
	ids := make([]int64, len(list))
	for i, c := range codes {
		ids[i] = made[c]
	}
	return ids, nil
}

// Move is another place and description of a file of a post.
type Move struct {
	File     int64
	Position int
	Alt      string
}

// Rearrange removes files of posts, and moves others, and returns the posts that are other ones
// now. The posts must be locked.
func Rearrange(ctx context.Context, tx pgx.Tx, posts, gone []int64, moves []Move) ([]int64, error) {
	const query = `
		WITH gone AS (
			DELETE FROM files WHERE id = ANY(@gone) AND post_id = ANY(@posts) AND comment_id IS NULL RETURNING post_id
		), moved AS (
			UPDATE files f SET position = m.position, alt = m.alt
			FROM unnest(@ids::bigint[], @positions::smallint[], @alts::text[]) AS m (id, position, alt)
			WHERE f.id = m.id AND f.post_id = ANY(@posts) AND f.comment_id IS NULL AND (f.position, f.alt) <> (m.position, m.alt)
			RETURNING post_id
		)
		SELECT post_id FROM gone UNION SELECT post_id FROM moved ORDER BY 1`
	var ids []int64
	var positions []int16
	var alts []string
	for _, m := range moves {
		ids, positions, alts = append(ids, m.File), append(positions, int16(m.Position)), append(alts, m.Alt)
	}
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{
		"posts": posts, "gone": gone, "ids": ids, "positions": positions, "alts": alts,
	})
	if err != nil {
		return nil, fmt.Errorf("rearrange files: %w", err)
	}
	changed, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("rearrange files: %w", err)
	}
	return changed, nil
}
