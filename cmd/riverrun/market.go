package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
	"riverrun/timelines/listings"
)

// market is the town's flea market: a group that takes listings, and what people offer there.
type market struct {
	Group, Currency string
	Listings        []townListing
}

// townListing is something that somebody offers. How says how it was closed, and Paid for how much; an
// open one has neither. Over: its last day is over.
type townListing struct {
	By, Text, Price, Place, Condition string
	How, Paid                         string
	Over                              bool
	Alt                               string  // describes its picture
	Ground                            shade   // behind the shapes
	Shapes                            []shape // from the back to the front
}

// shape is a part of a picture: an ellipse if it is Round, else a box. Its bounds are hundredths of the
// picture.
type shape struct {
	Round bool
	At    [4]int // left, top, right, bottom
	Shade shade
}

// shade is a colour as in #c06030.
type shade color.RGBA

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *shade) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(bytes.TrimPrefix(text, []byte("#"))), 16, 24)
	*s = shade{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
	return err
}

// picture draws the thing as a PNG.
func (l townListing) picture() ([]byte, error) {
	const width, height = 800, 600
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA(l.Ground)
			for _, s := range l.Shapes {
				if s.holds(float64(x)*100/width, float64(y)*100/height) {
					c = color.RGBA(s.Shade)
				}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, fmt.Errorf("draw a picture: %w", err)
	}
	return out.Bytes(), nil
}

// holds reports whether a point is within the shape.
func (s shape) holds(x, y float64) bool {
	left, top, right, bottom := float64(s.At[0]), float64(s.At[1]), float64(s.At[2]), float64(s.At[3])
	if !s.Round {
		return x >= left && x < right && y >= top && y < bottom
	}
	dx, dy := (2*x-left-right)/(right-left), (2*y-top-bottom)/(bottom-top)
	return dx*dx+dy*dy < 1
}

// offered is the kind under which demoMade records the listings that were put up.
const offered = "post"

// trade opens the flea market, and puts up what people offer, unless that was done. A town that was made
// before there was a market gets it now.
func (d *demo) trade(ctx context.Context, old bool) error {
	m := d.town.Market
	there, err := d.node.timelines.Imports.Recall(ctx, demoMade, offered)
	if err != nil {
		return err
	}
	// Such a town's market was made before listings were recorded, or has been closed since.
	if old && len(there) == 0 && d.accounts[m.Group].ListingsIn != "" || len(there) == len(m.Listings) {
		return nil
	}
	var admin string
	for _, g := range d.town.Groups {
		if g.Name == m.Group {
			admin = g.Admin
		}
	}
	c, err := d.node.timelines.Groups.SetListings(ctx, d.ids[admin], d.accounts[m.Group].Name, m.Currency)
	_, err = d.node.tiers.Carry(ctx, c, err)
	if err != nil {
		return fmt.Errorf("open the market: %w", err)
	}
	store, err := d.node.files(ctx)
	if err != nil {
		return err
	}
	for i, l := range m.Listings {
		name := "offer-" + strconv.Itoa(i+1)
		if there[name] != 0 {
			continue
		}
		post, err := d.offer(ctx, store, name, l)
		if err == nil {
			err = d.node.timelines.Imports.Remember(ctx, demoMade, offered, map[string]int64{name: post})
		}
		if err != nil {
			return fmt.Errorf("%s of the market: %w", name, err)
		}
	}
	return nil
}

// offer puts up a listing with its picture, and ends it if it has ended. It returns the id of its post.
func (d *demo) offer(ctx context.Context, store blobs.Store, name string, l townListing) (post int64, err error) {
	drawn, err := l.picture()
	if err != nil {
		return 0, err
	}
	sum, size, err := store.Put(ctx, bytes.NewReader(drawn), int64(len(drawn)))
	if err != nil {
		return 0, fmt.Errorf("store a picture: %w", err)
	}
	m, by := d.town.Market, d.ids[l.By]
	code, err := d.node.timelines.Files.Add(ctx, files.New{
		Owner: by, Name: name + ".png", Sum: sum, Bytes: size, Picture: true,
	})
	if err != nil {
		return 0, err
	}
	made, err := d.node.timelines.Posts.Create(ctx, timelines.NewPost{
		Author: by, Body: l.Text, To: []string{d.accounts[m.Group].Name},
		Files:   []files.Attachment{{Code: code, Alt: l.Alt}},
		Listing: &listings.Fields{Price: l.Price, Currency: m.Currency, Place: l.Place, Condition: l.Condition},
	})
	made, err = d.node.tiers.Carry(ctx, made, err)
	if err != nil || l.How == "" && !l.Over {
		return made.PostID, err
	}
	var over timelines.Change
	if l.Over {
		over, err = d.node.timelines.Posts.Lapse(ctx, by, made.Code)
		_, err = d.node.tiers.Carry(ctx, over, err)
	} else {
		over, err = d.node.timelines.Posts.Close(ctx, by, made.Code, listings.Sale{How: l.How, Price: l.Paid})
		_, err = d.node.tiers.Carry(ctx, over, err)
	}
	return made.PostID, err
}
