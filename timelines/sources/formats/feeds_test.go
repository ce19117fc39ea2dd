package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// goodFeed is a file as programs write it.
type goodFeed struct {
	text    string
	options Options
}

const wordpress = `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
	xmlns:content="http://purl.org/rss/1.0/modules/content/"
	xmlns:wfw="http://wellformedweb.org/CommentAPI/"
	xmlns:dc="http://purl.org/dc/elements/1.1/"
	xmlns:atom="http://www.w3.org/2005/Atom"
	xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
	xmlns:slash="http://purl.org/rss/1.0/modules/slash/"
	>

<channel>
	<title>Anna&#8217;s blog</title>
	<atom:link href="https://anna.example/feed/" rel="self" type="application/rss+xml" />
	<atom:link rel="hub" href="https://hub.example/" />
	<link>https://anna.example</link>
	<description>Boats &amp; books</description>
	<lastBuildDate>Tue, 24 Nov 2026 08:00:00 +0000</lastBuildDate>
	<language>en-GB</language>
	<sy:updatePeriod>
	hourly	</sy:updatePeriod>
	<sy:updateFrequency>
	2	</sy:updateFrequency>
	<generator>https://wordpress.org/?v=6.7</generator>
<image>
	<url>https://anna.example/icon-32x32.png</url>
	<title>Anna&#8217;s blog</title>
	<link>https://anna.example</link>
	<width>32</width>
</image>
	<item>
		<title>Three knots &#038; a rope</title>
		<link>https://anna.example/2026/11/three-knots/</link>
		<comments>https://anna.example/2026/11/three-knots/#comments</comments>
		<dc:creator><![CDATA[Anna]]></dc:creator>
		<pubDate>Mon, 23 Nov 2026 18:30:05 +0000</pubDate>
				<category><![CDATA[Boats]]></category>
		<category><![CDATA[Ropes &amp; knots]]></category>
		<guid isPermaLink="false">https://anna.example/?p=171</guid>
		<description><![CDATA[<p>The bowline, and two more [&#8230;]</p>
<p>The post <a href="https://anna.example/2026/11/three-knots/">Three knots</a> appeared first on Anna.</p>
]]></description>
		<content:encoded><![CDATA[
<p>The <em>bowline</em> &amp; two more: see <a href="/knots">the list</a>, or <a href="https://knots.example/">knots.example</a>.</p>
<figure class="wp-block-image"><img loading="lazy" width="640" height="480" src="https://anna.example/knot.jpg" alt="A bowline" srcset="https://anna.example/knot-300.jpg 300w" /><figcaption>A bowline</figcaption></figure>
<ul><li>Bowline</li><li>Clove hitch<ul><li>on a pole</li></ul></li></ul>
<ol start="3"><li><p>Sheet bend</p></li><li>Reef</li></ol>
<blockquote><p>Never trust *one* knot.<br />Nor two.</p></blockquote>
<pre><code>if a &lt; b {
    tie()
}</code></pre>
<script>track()</script><img src="https://pixel.wp.com/b.gif?x=1" alt="" width="1" height="1"/>
<p>Smile <img src="https://s.w.org/images/core/emoji/1f600.png" alt="😀" class="wp-smiley" />!</p>
]]></content:encoded>
		<wfw:commentRss>https://anna.example/2026/11/three-knots/feed/</wfw:commentRss>
		<slash:comments>2</slash:comments>
	</item>
	</channel>
</rss>
`

const jsonFeed11 = `{
	"version": "https://jsonfeed.org/version/1.1",
	"title": "A micro blog",
	"home_page_url": "https://micro.example/",
	"feed_url": "https://micro.example/feed.json",
	"icon": "https://micro.example/icon.png",
	"language": "en",
	"hubs": [{"type": "WebSub", "url": "https://hub.example/"}],
	"authors": [{"name": "Gus", "url": "https://micro.example/gus"}],
	"items": [
		{
			"id": "https://micro.example/2026/1",
			"url": "https://micro.example/2026/1",
			"content_html": "<p>No title, as <b>usual</b>.</p><p><img src=\"/1.jpg\" alt=\"A quay\"></p>",
			"date_published": "2026-11-20T10:00:00-05:00",
			"tags": ["quay"]
		},
		{
			"id": 2,
			"external_url": "https://elsewhere.example/article",
			"title": "A link",
			"content_text": "Read *this*.\n\nAll of it.",
			"date_published": "2026-11-19T10:00:00Z",
			"date_modified": "2026-11-19T11:00:00Z",
			"authors": [{"name": "Ines"}, {"name": "Nell"}],
			"attachments": [{"url": "https://micro.example/2.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 1000, "title": "Read aloud"}]
		}
	]
}`

const rss2 = `<rss version="2.0"><channel><title>T</title><link>https://a.example/</link>%s</channel></rss>`

func russian(encoding string) string {
	return `<?xml version="1.0" encoding="` + encoding + `"?><rss version="2.0"><channel><title>Новости порта</title><link>https://port.example/</link><description/><language>ru</language>
<item><title>Причал открыт</title><link>https://port.example/1</link><description>Ёлки &lt;b&gt;на&lt;/b&gt; причале</description><pubDate>Вт, 24 ноя 2026 10:00</pubDate></item></channel></rss>`
}

func encodedAs(e *charmap.Charmap, s string) string {
	out, err := e.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

var goodFeeds = map[string]goodFeed{
	"wordpress": {text: wordpress},
	"blogger": {text: `<?xml version='1.0' encoding='UTF-8'?><?xml-stylesheet href="https://www.blogger.com/styles/atom.css" type="text/css"?>
<feed xmlns='http://www.w3.org/2005/Atom' xmlns:openSearch='http://a9.com/-/spec/opensearchrss/1.0/' xmlns:blogger='http://schemas.google.com/blogger/2008' xmlns:georss='http://www.georss.org/georss' xmlns:gd="http://schemas.google.com/g/2005" xmlns:thr='http://purl.org/syndication/thread/1.0'>
<id>tag:blogger.com,1999:blog-1</id><updated>2026-11-23T07:00:00.000-08:00</updated><title type='text'>Walks</title><subtitle type='html'>On &lt;i&gt;foot&lt;/i&gt;</subtitle>
<link rel='http://schemas.google.com/g/2005#feed' type='application/atom+xml' href='https://walks.example/feeds/posts/default'/><link rel='self' type='application/atom+xml' href='https://www.blogger.com/feeds/1/posts/default'/><link rel='alternate' type='text/html' href='https://walks.example/'/><link rel='hub' href='http://pubsubhubbub.appspot.com/'/>
<entry><id>tag:blogger.com,1999:blog-1.post-7</id><published>2026-11-22T06:00:00.000-08:00</published><updated>2026-11-22T06:05:00.123-08:00</updated><category scheme='http://www.blogger.com/atom/ns#' term='coast'/><category term='rain'/>
<title type='text'>A &lt;wet&gt; walk</title><content type='html'>&lt;div class="separator"&gt;&lt;a href="https://blogger.example/img/s1600/1.jpg"&gt;&lt;img src="https://blogger.example/img/s320/1.jpg" width="320" /&gt;&lt;/a&gt;&lt;/div&gt;Rain.&lt;br /&gt;&lt;br /&gt;And &lt;i&gt;more&lt;/i&gt; rain.</content>
<link rel='replies' type='application/atom+xml' href='https://walks.example/feeds/7/comments/default'/><link rel='edit' type='application/atom+xml' href='https://www.blogger.com/feeds/1/posts/default/7'/><link rel='self' type='application/atom+xml' href='https://www.blogger.com/feeds/1/posts/default/7'/><link rel='alternate' type='text/html' href='https://walks.example/2026/11/wet.html' title='A wet walk'/>
<author><name>Nell</name><uri>https://www.blogger.com/profile/1</uri><email>noreply@blogger.com</email></author>
<georss:featurename>Robin Hood's Bay, UK</georss:featurename><georss:point>54.4346 -0.5351</georss:point><thr:total>0</thr:total></entry></feed>`},
	"youtube": {text: `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/" xmlns="http://www.w3.org/2005/Atom">
 <link rel="self" href="http://www.youtube.com/feeds/videos.xml?channel_id=UC1"/>
 <id>yt:channel:1</id><yt:channelId>1</yt:channelId><title>Harbour films</title>
 <link rel="alternate" href="https://www.youtube.com/channel/UC1"/>
 <author><name>Harbour films</name><uri>https://www.youtube.com/channel/UC1</uri></author><published>2020-01-01T00:00:00+00:00</published>
 <entry><id>yt:video:abc</id><yt:videoId>abc</yt:videoId><title>Tides &amp; times</title>
  <link rel="alternate" href="https://www.youtube.com/watch?v=abc"/>
  <author><name>Harbour films</name></author><published>2026-11-01T10:00:00+00:00</published><updated>2026-11-02T10:00:00+00:00</updated>
  <media:group><media:title>Tides &amp; times</media:title>
   <media:content url="https://www.youtube.com/v/abc?version=3" type="application/x-shockwave-flash" width="640" height="390"/>
   <media:thumbnail url="https://i1.ytimg.com/vi/abc/hqdefault.jpg" width="480" height="360"/>
   <media:description>First line
Second line

https://harbour.example/</media:description>
   <media:community><media:starRating count="7" average="5.00" min="1" max="5"/></media:community></media:group></entry></feed>`},
	"podcast": {text: `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel>
<title>Sea talk</title><link>https://sea.example/</link><itunes:author>Wren</itunes:author><itunes:image href="https://sea.example/cover.jpg"/><itunes:new-feed-url>https://new.sea.example/feed</itunes:new-feed-url><language>en-us</language><ttl>720</ttl>
<item><title>Episode 1</title><itunes:title>One</itunes:title><guid isPermaLink="false">ep-1</guid><pubDate>Sun, 01 Nov 2026 06:00:00 PST</pubDate><itunes:author>Wren</itunes:author><itunes:summary>What we said.</itunes:summary><itunes:image href="https://sea.example/1.jpg"/><enclosure url="https://sea.example/1.mp3?x=1&amp;y=2" length="1234567" type="audio/mpeg"/><itunes:duration>10:00</itunes:duration></item></channel></rss>`},
	"mastodon": {text: `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:webfeeds="http://webfeeds.org/rss/1.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>Gus</title><description>Public posts from @gus@town.example</description><link>https://town.example/@gus</link><image><url>https://files.town.example/avatar.png</url><title>Gus</title><link>https://town.example/@gus</link></image>
<item><guid isPermaLink="true">https://town.example/@gus/1</guid><link>https://town.example/@gus/1</link><pubDate>Fri, 20 Nov 2026 12:00:00 +0000</pubDate><description>&lt;p&gt;Look, &lt;span class="h-card"&gt;&lt;a href="https://town.example/@nell" class="u-url mention"&gt;@&lt;span&gt;nell&lt;/span&gt;&lt;/a&gt;&lt;/span&gt;: &lt;a href="https://long.example/a/very/long/path"&gt;&lt;span class="invisible"&gt;https://&lt;/span&gt;&lt;span class="ellipsis"&gt;long.example/a/very&lt;/span&gt;&lt;span class="invisible"&gt;/long/path&lt;/span&gt;&lt;/a&gt; &lt;a href="https://town.example/tags/quay" class="mention hashtag"&gt;#&lt;span&gt;quay&lt;/span&gt;&lt;/a&gt;&lt;/p&gt;</description>
<media:content url="https://files.town.example/1.png" type="image/png" fileSize="1000" medium="image"><media:rating scheme="urn:simple">nonadult</media:rating><media:description type="plain">A quay in fog</media:description></media:content><category>quay</category></item></channel></rss>`},
	"reddit": {text: `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"><category term="boats" label="r/boats"/><updated>2026-11-24T09:00:00+00:00</updated><icon>https://www.redditstatic.com/icon.png/</icon><id>/r/boats/.rss</id><link rel="self" href="https://www.reddit.com/r/boats/.rss" type="application/atom+xml" /><link rel="alternate" href="https://www.reddit.com/r/boats/" type="text/html" /><title>boats</title>
<entry><author><name>/u/ines</name><uri>https://www.reddit.com/user/ines</uri></author><category term="boats" label="r/boats"/><content type="html">&lt;table&gt; &lt;tr&gt;&lt;td&gt; &lt;a href=&quot;https://www.reddit.com/r/boats/1/&quot;&gt; &lt;img src=&quot;https://b.thumbs.redditmedia.com/1.jpg&quot; alt=&quot;Mine&quot; title=&quot;Mine&quot; /&gt; &lt;/a&gt; &lt;/td&gt;&lt;td&gt; &amp;#32; submitted by &amp;#32; &lt;a href=&quot;https://www.reddit.com/user/ines&quot;&gt; /u/ines &lt;/a&gt; &lt;br/&gt; &lt;span&gt;&lt;a href=&quot;https://i.redd.it/1.jpg&quot;&gt;[link]&lt;/a&gt;&lt;/span&gt;&lt;/td&gt;&lt;/tr&gt;&lt;/table&gt;</content><id>t3_1</id><media:thumbnail url="https://b.thumbs.redditmedia.com/1.jpg" /><link href="https://www.reddit.com/r/boats/1/" /><updated>2026-11-24T08:00:00+00:00</updated><published>2026-11-24T08:00:00+00:00</published><title>Mine</title></entry></feed>`},
	"github": {text: `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xml:lang="en-US">
  <id>tag:github.com,2008:https://github.com/x/y/releases</id>
  <link type="text/html" rel="alternate" href="https://github.com/x/y/releases"/>
  <link type="application/atom+xml" rel="self" href="https://github.com/x/y/releases.atom"/>
  <title>Release notes from y</title><updated>2026-10-10T10:00:00Z</updated>
  <entry><id>tag:github.com,2008:Repository/1/v1.0</id><updated>2026-10-10T10:00:00Z</updated><link rel="alternate" type="text/html" href="https://github.com/x/y/releases/tag/v1.0"/><title>v1.0: List&lt;T&gt;</title><content type="html">&lt;h2&gt;Changes&lt;/h2&gt;&lt;ul&gt;&lt;li&gt;Fix &lt;code&gt;_a_&lt;/code&gt; (&lt;a href="https://github.com/x/y/pull/1"&gt;#1&lt;/a&gt;)&lt;/li&gt;&lt;/ul&gt;</content><author><name>gus</name></author><media:thumbnail height="30" width="30" url="https://avatars.githubusercontent.com/u/1?s=60"/></entry></feed>`},
	"rdf": {text: `<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
<channel rdf:about="https://old.example/"><title>Old</title><link>https://old.example/</link><description>News</description><dc:language>de</dc:language><sy:updatePeriod>daily</sy:updatePeriod><items><rdf:Seq><rdf:li rdf:resource="https://old.example/1"/></rdf:Seq></items></channel>
<image><url>https://old.example/i.gif</url></image>
<item rdf:about="https://old.example/1"><title>Eins</title><link>https://old.example/1</link><description>Ein Text</description><dc:date>2026-11-20T09:00+01:00</dc:date><dc:creator>Eva</dc:creator><dc:subject>Hafen</dc:subject></item></rdf:RDF>`},
	"rss 0.91": {text: `<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><title>Caf` + "\xe9" + `</title><link>http://cafe.example/</link><description>News</description><language>fr</language><item><title>Th` + "\xe9" + ` &eacute;</title><link>http://cafe.example/1</link><description>Ouvert &amp; chaud.
Deux lignes.</description></item></channel></rss>`},
	"json feed 1.1": {text: jsonFeed11},
	"json feed 1.0": {text: `{"version":"https://jsonfeed.org/version/1","title":"One","author":{"name":"Nell"},"items":[{"id":"1","content_text":"Hello","url":"https://one.example/1"}],"home_page_url":"https://one.example/"}`},
	"flickr": {text: `<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#" xmlns:georss="http://www.georss.org/georss"><channel><title>Photos</title><link>https://www.flickr.com/photos/x/</link>
<item><title>Fog</title><link>https://www.flickr.com/photos/x/1/</link><description>&lt;p&gt;&lt;a href=&quot;https://www.flickr.com/people/x/&quot;&gt;x&lt;/a&gt; posted a photo:&lt;/p&gt;&lt;p&gt;&lt;a href=&quot;https://www.flickr.com/photos/x/1/&quot; title=&quot;Fog&quot;&gt;&lt;img src=&quot;https://live.staticflickr.com/1_m.jpg&quot; width=&quot;240&quot; height=&quot;160&quot; alt=&quot;Fog&quot; /&gt;&lt;/a&gt;&lt;/p&gt;</description><pubDate>Sat, 14 Nov 2026 08:00:00 -0800</pubDate><dc:date.Taken>2026-11-14T07:00:00-08:00</dc:date.Taken><author>nobody@flickr.com (x)</author><guid isPermaLink="false">tag:flickr.com,2004:/photo/1</guid><media:content url="https://live.staticflickr.com/1_b.jpg" type="image/jpeg" height="683" width="1024"/><media:title>Fog</media:title><media:thumbnail url="https://live.staticflickr.com/1_s.jpg" height="75" width="75"/><media:category scheme="urn:flickr:tags">fog</media:category><geo:lat>54.5</geo:lat><geo:long>-0.6</geo:long><georss:point>54.5 -0.6</georss:point></item></channel></rss>`},
	"windows-1251":           {text: encodedAs(charmap.Windows1251, russian("windows-1251"))},
	"koi8-r":                 {text: encodedAs(charmap.KOI8R, russian("koi8-r"))},
	"charset of transport":   {text: encodedAs(charmap.KOI8R, russian("windows-1251")), options: Options{Charset: "koi8-r"}},
	"utf-8 with a BOM":       {text: "\xef\xbb\xbf" + russian("windows-1251")},
	"utf-16":                 {text: encodedUTF16(russian("utf-16"))},
	"compressed":             {text: compressed(wordpress)},
	"xhtml, base":            {text: `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://x.example/blog/" xml:lang="ru"><title>X</title><entry xml:base="2026/" xml:lang="en"><id>urn:1</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A &amp; <em>B</em></div></title><link href="a.html"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>1 &lt; 2 <a href="b.html">b</a></p><p><img src="i.png" alt=""/></p></div></content><updated>2026-01-01T00:00:00Z</updated></entry></feed>`},
	"atom 0.3":               {text: `<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old</title><tagline>t</tagline><link rel="alternate" type="text/html" href="http://old.example/"/><entry><title>A</title><link rel="alternate" type="text/html" href="http://old.example/a"/><id>tag:old</id><issued>2004-05-06T07:08:09Z</issued><modified>2004-05-07T00:00:00Z</modified><summary type="text/plain">S</summary></entry></feed>`},
	"atom without namespace": {text: `<feed><title>N</title><author><name>Nell</name></author><entry><id>1</id><title>A</title><link href="https://n.example/1"/><updated>2026-01-02T00:00:00Z</updated></entry></feed>`},
	"markup not escaped":     {text: fmt.Sprintf(rss2, `<item><guid>1</guid><title>A <b>bold</b> one</title><description>Fish & chips<br>for <i>two</i> &copy; AT&T</description></item>`)},
	"two in one field":       {text: fmt.Sprintf(rss2, `<item><guid>1</guid><title><![CDATA[A ]]>&amp;<![CDATA[ B]]></title><description>one <![CDATA[two]]> three</description></item>`)},
	"prefix not declared":    {text: fmt.Sprintf(rss2, `<item><guid>1</guid><title>A</title><dc:creator>Ann</dc:creator><content:encoded>&lt;p&gt;x&lt;/p&gt;</content:encoded></item>`)},
	"relative addresses":     {text: fmt.Sprintf(rss2, `<item><title>A</title><link>/a b</link><enclosure url="a.mp3" type="audio/mpeg"/></item>`), options: Options{Base: "https://rel.example/feed.xml"}},
	"csv, semicolons":        {text: "\xef\xbb\xbfID;Title;date;categories;pictures\r\n1;\"A; \"\"b\"\"\nc\";2026-11-24 10:00;x|y;https://a.example/1.jpg|https://a.example/2.jpg\r\n"},
	"csv, tabs":              {text: "title\tid\tlatitude\tlongitude\nA\t1\t1.5\t-2\n\nB\t2\t\t\n"},
	"ndjson":                 {text: `{"id":7,"title":"A","latitude":59.9,"longitude":30.3,"categories":"one"}` + "\r\n\r\n" + `{"id":"8","html":"<p>B</p>","pictures":["https://a.example/1.jpg"],"url":null}`},
	"complete":               {text: fmt.Sprintf(rss2, `<fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/><item><guid isPermaLink="true">https://a.example/g</guid><title>A</title></item>`)},
	"default namespace":      {text: `<rss version="2.0" xmlns="http://www.w3.org/2005/Atom"><channel><title>T</title><item><guid>1</guid><title>A</title><pubDate>2026-01-02</pubDate></item></channel></rss>`},
	"unknown namespace":      {text: `<rss version="2.0" xmlns="https://unknown.example/"><channel><title>T</title><item><guid>1</guid><title>A</title></item></channel></rss>`},
	"no items":               {text: fmt.Sprintf(rss2, "")},
	"items before the head":  {text: `<rss version="2.0"><channel><item><guid>1</guid><title>A</title></item><title>T</title><language>ru</language></channel></rss>`},
}

func encodedUTF16(s string) string {
	out, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

var update = flag.Bool("update", false, "write the golden file anew")

// F6: the items that are read from feeds as programs write them: RSS, Atom, JSON Feed and our own
// formats. Look at the difference when it changes: all items of all sources get other hashes.
func TestGoodFeeds(t *testing.T) {
	var got bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(goodFeeds)) {
		f := goodFeeds[name]
		items, feed, err := readFeed(f.text, f.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fmt.Fprintf(&got, "== %s\n", name)
		for _, v := range append([]any{feed}, anys(items)...) {
			e := json.NewEncoder(&got)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			if err := e.Encode(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	const file = "testdata/good.golden"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}

func anys(items []*Item) []any {
	var all []any
	for _, i := range items {
		all = append(all, i)
	}
	return all
}

// The beginning of a file is enough to find its format.
func TestDetect(t *testing.T) {
	for name, f := range goodFeeds {
		r, err := NewReader(strings.NewReader(f.text), f.options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kind := ""
		if f.options.Charset != "" {
			kind = "text/xml; charset=" + f.options.Charset
		}
		if got, err := Detect([]byte(f.text), kind); err != nil || got != r.Format() {
			t.Errorf("%s: %q, %v, want %q", name, got, err, r.Format())
		}
	}
	pages := map[string]string{
		"page":            "<!DOCTYPE html><html><head><title>x</title></head></html>",
		"page, xhtml":     `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html xmlns="http://www.w3.org/1999/xhtml">`,
		"page, broken":    "\n<HTML><BODY BGCOLOR=#ffffff><P>x",
		"page without it": "<div>x</div>",
	}
	for name, text := range pages {
		if _, err := Detect([]byte(text), ""); !errors.Is(err, ErrPage) {
			t.Errorf("%s: %v, want %s", name, err, Page)
		}
	}
	if _, err := Detect([]byte("Sorry, try later"), "text/html; charset=utf-8"); !isFatal(err, Page) {
		t.Errorf("text/html: %v", err)
	}
	if f, err := Detect([]byte(fmt.Sprintf(rss2, "")), "text/html"); err != nil || f != RSS {
		t.Errorf("a feed that says it is HTML: %q, %v", f, err)
	}
}

func TestDates(t *testing.T) {
	want := time.Date(2026, 11, 4, 9, 5, 7, 0, time.UTC)
	for _, s := range []string{
		"2026-11-04T09:05:07Z", "2026-11-04T10:05:07+01:00", "2026-11-04t09:05:07z", "2026-11-04T09:05:07", "2026-11-04 09:05:07", "2026-11-04T09:05:07+0000",
		"2026-11-04T02:05:07.000-07:00", "2026-11-04 12:05:07 +0300", "20261104", "Wed, 04 Nov 2026 09:05:07 GMT", "Wed, 4 Nov 2026 09:05:07 +0000",
		"Wed, 04 Nov 2026 09:05:07 Z", "Wed, 04 Nov 2026 09:05:07 UT", "Wed, 04 Nov 2026 04:05:07 EST", "Wed, 04 Nov 2026 01:05:07 PST", "Wed, 4 Nov 26 09:05:07 GMT",
		"04 Nov 2026 09:05:07 GMT", "Wednesday, 04-Nov-26 09:05:07 UTC", "Wed Nov  4 09:05:07 2026", "Wed Nov 4 09:05:07 UTC 2026", "Wed Nov 04 2026 09:05:07 GMT+0000 (Coordinated Universal Time)",
		"Wed, 4 Nov 2026 9:5:7 GMT", "November 4, 2026 09:05:07 AM", "4 November 2026 09:05:07", "Wed, 04 Nov 2026 12:05:07 MSK", "Wed, 04 Nov 2026 12:05:07 +0300", "04.11.2026 09:05:07", "4/11/2026 09:05:07",
		"Wed, 04 Nov 2026 09:05:07 +00:00", "Wed, 04 Nov 2026 16:05:07 +7:00", "Wed,04 Nov 2026 09:05:07 +0000", "wed, 04 nov 2026 09:05:07 gmt", "Tues, 04 Nov 2026 09:05:07 GMT", "Wed, 04 Nov. 2026 09:05:07 GMT", "Nov 4th, 2026 09:05:07",
	} {
		got, ok := parseDate(s)
		if s == "20261104" {
			if ok {
				t.Errorf("%q is taken for a date", s)
			}
			continue
		}
		if !ok || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", s, got, ok, want)
		}
	}
	day := time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC)
	for _, s := range []string{"2026-11-04", "2026/11/04", "4 Nov 2026", "November 4, 2026", "Wed, 04 Nov 2026", "04.11.2026", "4/11/2026", "11-04-2026"} {
		if got, ok := parseDate(s); s == "11-04-2026" && ok && got.Month() == time.April {
			continue
		} else if !ok || !got.Equal(day) {
			t.Errorf("%q: %v, %v, want %v", s, got, ok, day)
		}
	}
	for _, s := range []string{"", "yesterday", "2026", "Nov 2026", "2026-13-01", "2026-02-30", "0000-00-00 00:00:00", "1e9", "2026-11-04T25:00:00Z", "12:00", "2026-11-04 10:00:00 11:00:00", "+++", "Wed, Wed", "99999999999999", "\x00"} {
		if got, ok := parseDate(s); ok {
			t.Errorf("%q is taken for %v", s, got)
		}
	}
}

// A text is what a person would copy from a page.
func TestHTMLText(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{"a<br>b<br><br>c", "a\nb\n\nc"},
		{"<p>a</p>\n<p>b</p>", "a\n\nb"},
		{"<div>a</div><div>b</div>", "a\nb"},
		{"  a \n b\t c ", "a b c"},
		{"<ul><li>a</li><li>b</li></ul>c", "- a\n- b\n\nc"},
		{"<ol><li>a<ol><li>b</ol><li>c</ol>", "1. a\n  1. b\n2. c"},
		{"<li>a", "- a"},
		{"<ul><ul><li>a", "- a"},
		{`<a href="https://a.example/b">word</a> on`, "word (https://a.example/b) on"},
		{`<a href="https://a.example/b">a.example/b</a>`, "a.example/b"},
		{`<a href="/b">word</a>`, "word (https://base.example/b)"},
		{`<a href="javascript:x()">word</a> <a href="#note">1</a>`, "word 1"},
		{`<a href="mailto:a@b.example?subject=x">write</a>`, "write (a@b.example)"},
		{`<a href="https://a.example/"><p>word</p></a>end`, "word (https://a.example/)\n\nend"},
		{`<a href="https://a.example/">one <a href="https://b.example/">two</a>`, "one (https://a.example/) two (https://b.example/)"},
		{"<script>x</script>a<style>y</style><template>z</template>", "a"},
		{"<script>x", ""},
		{"a<svg><svg></svg>x</svg>b", "ab"},
		{"<noscript>b</noscript>a", "a"},
		{"<pre>a\n  b\n\n\nc</pre>d", "a\n  b\n\nc\n\nd"},
		{"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"},
		{"a &lt;b&gt; &amp;amp; &nbsp;c&#0;&#x202e;", "a <b> &amp; c\ufffd\u202e"},
		{"*a* _b_ `c` > d", "*a* _b_ `c` > d"},
		{`<a href="https://t.example/tags/%D1%82%D0%B5%D1%81%D1%82">#тест</a> <a href="https://t.example/@ann">@ann</a> <a href="https://g.example/pull/1">#1</a>`, "#тест @ann #1 (https://g.example/pull/1)"},
		{"<!-- a -->b<![CDATA[c]]>d", "bd"},
		{"a<b", "a"},
		{"b<iframe src='https://v.example/1'>x</iframe>a", "b\n\na"},
		{"<p>caf\u0065\u0301</p>", "café"},
		{"a\u00adb\u200bc", "ab\u200bc"},
		{"<textarea>a</textarea>b<select><option>c</select>", "b"},
	} {
		if got, _ := htmlText(c.html, mustURL("https://base.example/a/")); normal(got) != c.want {
			t.Errorf("%q: got %q, want %q", c.html, got, c.want)
		}
	}
}
