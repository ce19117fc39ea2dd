-- Sources: feeds from elsewhere that flow into a person's feed or into a group (source: 003).

CREATE TABLE sources (
    id             bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT sources_pkey PRIMARY KEY,
    owner_id       bigint      NOT NULL CONSTRAINT sources_owner_fkey REFERENCES accounts ON DELETE CASCADE,
    added_by       bigint      NOT NULL CONSTRAINT sources_added_by_fkey REFERENCES accounts ON DELETE CASCADE,
    token_by       bigint      CONSTRAINT sources_token_by_fkey REFERENCES accounts ON DELETE SET NULL,
    version        bigint      NOT NULL DEFAULT 1,
    loads          bigint      NOT NULL DEFAULT 0,
    ttl            bigint      NOT NULL DEFAULT 0,
    created_at     timestamptz NOT NULL DEFAULT now(),
    next_at        timestamptz,
    claimed_at     timestamptz,
    fetched_at     timestamptz,
    succeeded_at   timestamptz,
    failures       integer     NOT NULL DEFAULT 0,
    errors_visible boolean     NOT NULL DEFAULT true,
    titled         boolean     NOT NULL DEFAULT true,
    code           text        NOT NULL CONSTRAINT sources_code_key UNIQUE
                               CONSTRAINT sources_code CHECK (code ~ '^[0-9a-hjkmnp-tv-z]{10}$'),
    way            text        NOT NULL CONSTRAINT sources_way CHECK (way IN ('link', 'file', 'push')),
    mode           text        NOT NULL CONSTRAINT sources_mode CHECK (mode IN ('append', 'sync')),
    status         text        NOT NULL DEFAULT 'active' CONSTRAINT sources_status CHECK (status IN ('active', 'paused', 'removing')),
    format         text        NOT NULL DEFAULT '',
    slug           text        NOT NULL DEFAULT '',
    title          text        NOT NULL CONSTRAINT sources_title CHECK (length(title) BETWEEN 1 AND 100),
    site_url       text        NOT NULL DEFAULT '',
    url            text        NOT NULL DEFAULT '',
    etag           text        NOT NULL DEFAULT '',
    modified       text        NOT NULL DEFAULT '',
    origin         text        NOT NULL DEFAULT '',
    problem        text        NOT NULL DEFAULT '',
    preview        text        NOT NULL DEFAULT '',
    settings       jsonb       NOT NULL DEFAULT '{}',
    content        bytea,
    token_hash     bytea       CONSTRAINT sources_token_hash CHECK (octet_length(token_hash) = 32),
    CONSTRAINT sources_link CHECK ((way = 'link') = (url <> ''))
);
COMMENT ON COLUMN sources.owner_id IS 'the person or the group whose source it is';
COMMENT ON COLUMN sources.added_by IS 'the author of its posts: the person, or the administrator of the group who added it';
COMMENT ON COLUMN sources.version IS 'each change of what is loaded, or how, adds one: what was fetched for an earlier version is thrown away';
COMMENT ON COLUMN sources.loads IS 'the number of the latest load';
COMMENT ON COLUMN sources.ttl IS 'how many seconds the feed asks to be left alone after each fetch, as its last file says';
COMMENT ON COLUMN sources.next_at IS 'when it is to be fetched; NULL: never by itself';
COMMENT ON COLUMN sources.claimed_at IS 'since when a node fetches it, or is about to; NULL: none does';
COMMENT ON COLUMN sources.failures IS 'how many fetches or loads have failed since the last one that succeeded';
COMMENT ON COLUMN sources.errors_visible IS 'false: a partner shows errors of items to its people itself';
COMMENT ON COLUMN sources.titled IS 'its owner gave the title; else it is the feed''s own, once that is known';
COMMENT ON COLUMN sources.mode IS 'append: a sliding window, where an item that is absent says nothing; sync: a full list, where it is gone';
COMMENT ON COLUMN sources.slug IS 'the person''s sub-feed that its posts go to; empty: the feed, or the group';
COMMENT ON COLUMN sources.content IS 'SHA-256 of the last file that was loaded without a problem for this version: the same file needs no load';
COMMENT ON COLUMN sources.token_hash IS 'SHA-256 of the token that pushes are signed with';
COMMENT ON COLUMN sources.token_by IS 'who made the token: it ends when they may not manage the source any more';
COMMENT ON COLUMN sources.origin IS 'the partner that the source is from, as it names itself';
COMMENT ON COLUMN sources.problem IS 'why it does not load, as a stable code; empty: it does';
COMMENT ON COLUMN sources.preview IS 'asked: somebody waits for a preview; else why the last one could not be fetched; empty: it could';
CREATE UNIQUE INDEX sources_url_key ON sources (owner_id, url) WHERE url <> '';
CREATE INDEX sources_owner_idx ON sources (owner_id, id);
CREATE INDEX sources_token_by_idx ON sources (token_by) WHERE token_by IS NOT NULL;
CREATE INDEX sources_added_by_idx ON sources (added_by);
CREATE INDEX sources_next_idx ON sources (next_at) WHERE status = 'active' AND next_at IS NOT NULL;
CREATE INDEX sources_removing_idx ON sources (id) WHERE status = 'removing';
CREATE INDEX sources_token_idx ON sources (token_hash) WHERE token_hash IS NOT NULL;

CREATE TABLE loads (
    id          bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT loads_pkey PRIMARY KEY,
    source_id   bigint      NOT NULL CONSTRAINT loads_source_fkey REFERENCES sources ON DELETE CASCADE,
    no          bigint      NOT NULL,
    version     bigint      NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    bytes       bigint      NOT NULL DEFAULT 0,
    lines       bigint,
    cursor      bigint      NOT NULL DEFAULT 0,
    added       bigint      NOT NULL DEFAULT 0,
    changed     bigint      NOT NULL DEFAULT 0,
    same        bigint      NOT NULL DEFAULT 0,
    skipped     bigint      NOT NULL DEFAULT 0,
    removed     bigint      NOT NULL DEFAULT 0,
    kept        bigint      NOT NULL DEFAULT 0,
    errors      bigint      NOT NULL DEFAULT 0,
    warnings    bigint      NOT NULL DEFAULT 0,
    unreadable  bigint      NOT NULL DEFAULT 0,
    gone        bigint      NOT NULL DEFAULT 0,
    items       bigint      NOT NULL DEFAULT 0,
    pictures    bigint      NOT NULL DEFAULT 0,
    picture_errors bigint   NOT NULL DEFAULT 0,
    attempts    integer     NOT NULL DEFAULT 0,
    dry         boolean     NOT NULL DEFAULT false,
    way         text        NOT NULL,
    format      text        NOT NULL DEFAULT '',
    media_type  text        NOT NULL DEFAULT '',
    charset     text        NOT NULL DEFAULT '',
    base        text        NOT NULL DEFAULT '',
    state       text        NOT NULL CONSTRAINT loads_state CHECK (state IN
                            ('receiving', 'waiting', 'reading', 'applying', 'finishing', 'sweeping', 'previewed', 'held', 'done', 'failed', 'cancelled')),
    settings    jsonb       NOT NULL DEFAULT '{}',
    codes       jsonb       NOT NULL DEFAULT '{}',
    problem     jsonb,
    file        bytea       CONSTRAINT loads_file CHECK (octet_length(file) = 32),
    canonical   bytea       CONSTRAINT loads_canonical CHECK (octet_length(canonical) = 32),
    CONSTRAINT loads_no_key UNIQUE (source_id, no)
);
COMMENT ON COLUMN loads.version IS 'the source''s when it began';
COMMENT ON COLUMN loads.lines IS 'of the canonical file, or the items of all batches that were pushed; NULL until that is known';
COMMENT ON COLUMN loads.cursor IS 'how many lines are applied';
COMMENT ON COLUMN loads.unreadable IS 'items whose id cannot be read: while there are any, nothing is removed for being absent';
COMMENT ON COLUMN loads.gone IS 'items that would go, or went, for being absent';
COMMENT ON COLUMN loads.items IS 'that the source has: those from before, and those that this load brought so far';
COMMENT ON COLUMN loads.pictures IS 'pictures of its items that stand in posts now; these, and picture_errors, come late, and are in no other count but codes';
COMMENT ON COLUMN loads.picture_errors IS 'pictures of its items that cannot be had';
COMMENT ON COLUMN loads.state IS 'receiving: batches are pushed; waiting; reading: the first pass; applying: the second; finishing: what is absent is looked for; sweeping: it is removed; previewed: the difference is known and not applied; held: too many would go, somebody is asked; done; failed; cancelled';
COMMENT ON COLUMN loads.format IS 'empty: the file tells; media_type and charset are what came with it, base is the address that relative ones start from';
COMMENT ON COLUMN loads.settings IS 'the source''s when it began';
COMMENT ON COLUMN loads.codes IS 'how many problems there were of each code';
COMMENT ON COLUMN loads.problem IS 'why it failed: code, line, column, excerpt';
COMMENT ON COLUMN loads.file IS 'the blob of the bytes as they came';
COMMENT ON COLUMN loads.canonical IS 'SHA-256 of the canonical file: a node that makes it again must get the same, else its lines are not those of the cursor';
-- What is to be worked: the oldest of a source comes first.
CREATE INDEX loads_pending_idx ON loads (source_id, no) WHERE state IN ('waiting', 'reading', 'applying', 'finishing', 'sweeping');
CREATE INDEX loads_file_idx ON loads (file) WHERE file IS NOT NULL;

CREATE TABLE source_items (
    id          bigint NOT NULL GENERATED ALWAYS AS IDENTITY CONSTRAINT source_items_pkey PRIMARY KEY,
    source_id   bigint NOT NULL CONSTRAINT source_items_source_fkey REFERENCES sources ON DELETE CASCADE,
    post_id     bigint CONSTRAINT source_items_post_fkey REFERENCES posts ON DELETE SET NULL,
    address     bigint,
    kept        boolean NOT NULL DEFAULT false,
    external_id text   NOT NULL CONSTRAINT source_items_external_id CHECK (octet_length(external_id) BETWEEN 1 AND 1024),
    hash        bytea  NOT NULL CONSTRAINT source_items_hash CHECK (octet_length(hash) = 16),
    CONSTRAINT source_items_key UNIQUE (source_id, external_id)
);
COMMENT ON TABLE source_items IS 'the items of sources by their own keys, and the posts that they became';
COMMENT ON COLUMN source_items.post_id IS 'NULL: it is present at its source, and not posted: it is wrong, filtered out, or too old';
COMMENT ON COLUMN source_items.kept IS 'it is absent at its source, and its post was kept';
COMMENT ON COLUMN source_items.hash IS 'of the item as it was applied last';
COMMENT ON COLUMN source_items.address IS 'hash of the URL; NULL: it has none';
CREATE INDEX source_items_address_idx ON source_items (source_id, address) WHERE address IS NOT NULL;
CREATE INDEX source_items_post_idx ON source_items (post_id) WHERE post_id IS NOT NULL;

CREATE TABLE load_seen (
    load_id  bigint   NOT NULL CONSTRAINT load_seen_load_fkey REFERENCES loads ON DELETE CASCADE,
    line     bigint   NOT NULL,
    item_ids bigint[] NOT NULL,
    CONSTRAINT load_seen_pkey PRIMARY KEY (load_id, line)
);
COMMENT ON TABLE load_seen IS 'the items that a load met, batch by batch: an item that did not change is written nowhere else';
COMMENT ON COLUMN load_seen.line IS 'the first of the batch';

CREATE TABLE load_gone (
    load_id bigint NOT NULL CONSTRAINT load_gone_load_fkey REFERENCES loads ON DELETE CASCADE,
    item_id bigint NOT NULL CONSTRAINT load_gone_item_fkey REFERENCES source_items ON DELETE CASCADE,
    CONSTRAINT load_gone_pkey PRIMARY KEY (load_id, item_id)
);
COMMENT ON TABLE load_gone IS 'the items that a load has still to remove for being absent';
CREATE INDEX load_gone_item_idx ON load_gone (item_id);

CREATE TABLE load_problems (
    load_id     bigint   NOT NULL CONSTRAINT load_problems_load_fkey REFERENCES loads ON DELETE CASCADE,
    line        bigint   NOT NULL,
    raw_line    bigint   NOT NULL DEFAULT 0,
    no          smallint NOT NULL,
    error       boolean  NOT NULL,
    code        text     NOT NULL,
    field       text     NOT NULL DEFAULT '',
    value       text     NOT NULL DEFAULT '',
    external_id text     NOT NULL DEFAULT '',
    title       text     NOT NULL DEFAULT '',
    CONSTRAINT load_problems_pkey PRIMARY KEY (load_id, line, no)
);
COMMENT ON TABLE load_problems IS 'what was wrong with items, the first so many of a load; loads.codes counts all';
COMMENT ON COLUMN load_problems.raw_line IS 'where the item begins in the file as it came; 0: unknown';
COMMENT ON COLUMN load_problems.error IS 'the item was not posted; else it is a warning';
CREATE INDEX load_problems_level_idx ON load_problems (load_id, error, line, no);

CREATE TABLE load_batches (
    load_id bigint  NOT NULL CONSTRAINT load_batches_load_fkey REFERENCES loads ON DELETE CASCADE,
    no      bigint  NOT NULL,
    items   integer NOT NULL,
    asked   bytea   NOT NULL CONSTRAINT load_batches_asked CHECK (octet_length(asked) = 32),
    results jsonb   NOT NULL,
    CONSTRAINT load_batches_pkey PRIMARY KEY (load_id, no)
);
COMMENT ON TABLE load_batches IS 'the batches that were pushed, with what became of each item: a batch that comes again is answered with that';
COMMENT ON COLUMN load_batches.asked IS 'SHA-256 of the batch: the same number with other items is another request';

CREATE TABLE item_pictures (
    id        bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT item_pictures_pkey PRIMARY KEY,
    item_id   bigint      NOT NULL CONSTRAINT item_pictures_item_fkey REFERENCES source_items ON DELETE CASCADE,
    source_id bigint      NOT NULL,
    load_id   bigint      CONSTRAINT item_pictures_load_fkey REFERENCES loads ON DELETE SET NULL,
    file_id   bigint      CONSTRAINT item_pictures_file_fkey REFERENCES files ON DELETE SET NULL,
    line      bigint      NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    next_at   timestamptz NOT NULL DEFAULT now(),
    tried_at  timestamptz,
    tries     integer     NOT NULL DEFAULT 0,
    no        smallint    NOT NULL,
    state     text        NOT NULL DEFAULT 'waiting' CONSTRAINT item_pictures_state CHECK (state IN ('waiting', 'made', 'there', 'failed', 'left')),
    host      text        NOT NULL,
    url       text        NOT NULL CONSTRAINT item_pictures_url CHECK (octet_length(url) BETWEEN 1 AND 2048),
    text      text        NOT NULL DEFAULT '',
    etag      text        NOT NULL DEFAULT '',
    modified  text        NOT NULL DEFAULT '',
    problem   text        NOT NULL DEFAULT '',
    made      jsonb,
    CONSTRAINT item_pictures_key UNIQUE (item_id, url)
);
COMMENT ON TABLE item_pictures IS 'the pictures that items have at their source, by their addresses, and the files that they became';
COMMENT ON COLUMN item_pictures.source_id IS 'the item''s, which goes with it';
COMMENT ON COLUMN item_pictures.load_id IS 'the load that brought it, as long as it waits';
COMMENT ON COLUMN item_pictures.line IS 'where the item stood in that load';
COMMENT ON COLUMN item_pictures.file_id IS 'two addresses of one picture have the same; NULL: there is none, or somebody removed it from the post';
COMMENT ON COLUMN item_pictures.next_at IS 'when it may be fetched, if it waits; who fetches it moves that ahead for a while';
COMMENT ON COLUMN item_pictures.no IS 'its place in the item, from 1';
COMMENT ON COLUMN item_pictures.state IS 'waiting: it is to be fetched; made: the item has no post yet, whose attachment it will be; there: it was attached to the post; failed: see problem; left: the post was edited or deleted here, or is full';
COMMENT ON COLUMN item_pictures.host IS 'what requests are counted under (package hosts)';
COMMENT ON COLUMN item_pictures.made IS 'what was made of it, until the post is there: its blobs are swept some hours later';
-- What is to be fetched of each host, source by source, so that none waits for all of another.
CREATE INDEX item_pictures_waiting_idx ON item_pictures (host, source_id, next_at, id) WHERE state = 'waiting';
CREATE INDEX item_pictures_load_idx ON item_pictures (load_id) WHERE load_id IS NOT NULL;
CREATE INDEX item_pictures_file_idx ON item_pictures (file_id) WHERE file_id IS NOT NULL;
-- The same address in other items of a source. It may be too long for a tree.
CREATE INDEX item_pictures_url_idx ON item_pictures USING hash (url) WHERE file_id IS NOT NULL;

CREATE TABLE fetch_hosts (
    host    text        NOT NULL CONSTRAINT fetch_hosts_pkey PRIMARY KEY,
    next_at timestamptz NOT NULL
);
COMMENT ON TABLE fetch_hosts IS 'when a host may be asked again, by whichever node';
CREATE INDEX fetch_hosts_next_idx ON fetch_hosts (next_at);

CREATE TABLE source_hubs (
    source_id bigint      NOT NULL CONSTRAINT source_hubs_pkey PRIMARY KEY CONSTRAINT source_hubs_source_fkey REFERENCES sources ON DELETE CASCADE,
    next_at   timestamptz NOT NULL DEFAULT now(),
    asked_at  timestamptz,
    until     timestamptz,
    failures  integer     NOT NULL DEFAULT 0,
    hub       text        NOT NULL,
    topic     text        NOT NULL,
    secret    text        NOT NULL
);
COMMENT ON TABLE source_hubs IS 'hubs that feeds name, and that tell of what is new (WebSub)';
COMMENT ON COLUMN source_hubs.next_at IS 'when the hub is asked next: for the first time, again as it did not answer, or to renew';
COMMENT ON COLUMN source_hubs.asked_at IS 'when it was asked last: what it confirms must have been asked for';
COMMENT ON COLUMN source_hubs.until IS 'until when it tells of what is new; NULL: it does not yet';
COMMENT ON COLUMN source_hubs.failures IS 'how often it was asked since it last confirmed';
COMMENT ON COLUMN source_hubs.topic IS 'the address by which the hub knows the feed';
COMMENT ON COLUMN source_hubs.secret IS 'part of the address that the hub calls, which nobody else knows';
CREATE INDEX source_hubs_next_idx ON source_hubs (next_at);

CREATE TABLE dictionary_words (
    owner_id bigint  NOT NULL CONSTRAINT dictionary_words_owner_fkey REFERENCES accounts ON DELETE CASCADE,
    no       integer NOT NULL,
    tag      text    NOT NULL,
    word     text    NOT NULL,
    first    text    NOT NULL,
    CONSTRAINT dictionary_words_pkey PRIMARY KEY (owner_id, no)
);
COMMENT ON TABLE dictionary_words IS 'words and phrases that give a post a tag, of a person or a group';
COMMENT ON COLUMN dictionary_words.first IS 'the first part of the word, folded: who writes a post is proposed the tags of those that begin with a word of the text';
CREATE INDEX dictionary_words_first_idx ON dictionary_words (owner_id, first);
