// river.js keeps a page as it would be after a reload, while it is being read
// and written on. Without it every page works by forms and links.
//
// The server says what changed (web/live/PROTOCOL.md); this module puts it into the
// page part by part. It never touches the comment boxes, the composer, the focus, the
// selection, half-typed text, unfolded parts, or the reader's place on the page. HTML
// comes from our own server only, which makes it from text.

const river = document.getElementById('river');
const news = document.getElementById('news');
const lang = document.documentElement.lang;
const { texts } = window; // a file of its own, for each language
const pageSize = 25;

// An entry's parts and the half of its stamp that decides each. The entry's version
// decides its place and the viewer's own parts, the post's fold the rest.
const parts = { why: 0, acts: 0, body: 1, likes: 1, comments: 1 };

const entryOf = (code) => document.getElementById(`p-${code}`);
const partOf = (entry, name) => entry.querySelector(`:scope > .${name}`);
const entries = () => [...river.querySelectorAll(':scope > [data-post]')];
const place = (entry) => Number(entry.dataset.place);
// A version is the two numbers of a stamp, and a token of the server for what the reader
// sees of the entry. The token goes back unchanged.
const stampOf = (version) => version.split('.').slice(0, 2).map(Number);
const tagOf = (version) => version.split('.')[2];
const versions = (list) => Object.fromEntries(list.map((entry) => [entry.dataset.post, entry.dataset.version]));
const newest = () => river.dataset.newest === '1';
// An entry that is to move up stands below its place until the reader asks for it.
const lowest = (list) => list.reduce((low, entry) => (low && place(low) < place(entry) ? low : entry), null);

function parse(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  boxes(template.content);
  menus(template.content);
  return template.content;
}

// boxes puts the box for a comment into each entry that has a link in its place. The page has the
// box once, as a template.
function boxes(within) {
  const box = document.getElementById('box');
  for (const link of box ? within.querySelectorAll('.box > .open') : []) {
    const entry = link.closest('[data-post]');
    const place = link.getAttribute('href').split('#')[0];
    const made = box.content.cloneNode(true);
    const form = made.querySelector('form');
    form.setAttribute('action', `${place}/comments`);
    const own = { key: newKey(), back: `${river.dataset.page}#${entry.id}`, draft: place };
    for (const [name, value] of Object.entries(own)) form.elements[name].setAttribute('value', value);
    link.replaceWith(made);
  }
}

// menus puts the menu into each entry that has a link in its place, with what the link names.
function menus(within) {
  const all = document.getElementById('menus');
  for (const link of all ? within.querySelectorAll('[data-menu]') : []) {
    const place = link.getAttribute('href').split('#')[0];
    const menu = all.content.cloneNode(true);
    const offers = ['', ...link.dataset.menu.split(' ').map((act) => `/${act}`)]; // '' leads to the post
    for (const item of menu.querySelectorAll('[data-to]')) {
      const { to } = item.dataset;
      item.removeAttribute('data-to');
      if (offers.includes(to)) item.setAttribute(item.matches('a') ? 'href' : 'formaction', place + to);
      else item.remove();
    }
    const summary = menu.querySelector('summary');
    summary.title = link.title;
    link.replaceWith(menu);
  }
}
if (river) {
  boxes(river);
  menus(river);
}

// Frames --------------------------------------------------------------------

// Stamps of removed entries, so that an older frame or a late reply does not bring them
// back.
const gone = new Map();
// Set between a `river` frame and its `ok`: the entries confirmed so far.
let confirmed = null;

// Frames wait here for a moment, so that those of one drawing of the screen cost one layout. Those
// that are too many for one are left for the next. A hidden tab is never drawn, and its timers are slow.
const queue = [];
let draining = 0;

function receive() {
  draining ||= setTimeout(drain, 16);
}

function drain() {
  draining = 0;
  steady(() => queue.splice(0, document.hidden ? 999 : 3).forEach(take));
  if (queue.length) receive();
  if (!/^\/(p\/|filter\/notifications|\?|$)/.test(river.dataset.page)) return;
  unseen = true;
  setTimeout(seen, 1000);
}

// The number of unread notifications stands in the places and before the page's title.
const unread = (of = river) => Number(of.dataset.unread ?? 0);
const tally = (n) => (n > 99 ? '99+' : n);
const prefix = (n) => (n ? `(${tally(n)}) ` : '');
// The number on the icon of the installed site, which sw.js sets while no page is open.
const onIcon = (n) => (n ? navigator.setAppBadge?.(n) : navigator.clearAppBadge?.())?.catch(() => null);
if (river) onIcon(unread());
let title = river && document.title.slice(prefix(unread()).length);

function entitle(now) {
  if (now !== title) unhead();
  title = now;
  document.title = prefix(unread()) + now;
}

// The head says to programs without scripts what the page said at first.
function unhead() {
  for (const said of document.querySelectorAll('meta[property], meta[name=description]')) said.remove();
}

function count(n) {
  river.dataset.unread = n;
  for (const badge of document.querySelectorAll('.unread[data-unread]')) {
    badge.hidden = !n;
    badge.firstElementChild.textContent = tally(n);
  }
  onIcon(n);
  entitle(title);
}

// take follows a frame of the socket.
function take(frame) {
  if (frame.t === 'unread') count(frame.n);
  if (frame.t === 'river') {
    // The river was rebuilt: its stamps begin again, and all entries follow.
    river.dataset.river = frame.river;
    for (const entry of entries()) entry.dataset.version = '0.0';
    gone.clear();
    doubts.clear();
    confirmed = new Set();
  }
  if (frame.river !== river.dataset.river) return;
  if (frame.t === 'tabs') {
    retab();
  } else if (frame.t === 'entry' || frame.t === 'gone') {
    confirmed?.add(frame.post);
    apply(frame);
  } else if (frame.t === 'ok') {
    for (const entry of entries()) {
      if (confirmed && !confirmed.has(entry.dataset.post)) takeOff(entry);
    }
    confirmed = null;
    turning = false;
    cameBack();
    // A page that is not followed is told nothing of older entries. The server may not know yet what was trimmed.
    if ('more' in frame) river.dataset.more = frame.more || dropping ? '1' : '0';
    river.dataset.sight = frame.sight;
    if (!socket) return; // it came just before the connection was lost
    tries = 0;
    found();
    document.documentElement.dataset.live = '1'; // for styles and tests
    resend();
  }
}

let retabs = 0;

// retab replaces what stands around the entries by what a reload of the page would show,
// which may be in another mode. It tries until it succeeds, because the server says only
// once that something changed.
async function retab() {
  const mine = ++retabs;
  // All who have the page open were told at the same time, so each waits a random time.
  await new Promise((done) => setTimeout(done, Math.random() * 500));
  for (let wait = 500; mine === retabs; wait = Math.min(2 * wait, 60000)) {
    const reply = await fetch(location.pathname + location.search).catch(() => null);
    const text = await reply?.text().catch(() => null);
    if (mine !== retabs) return; // told again meanwhile
    if ([401, 403, 404].includes(reply?.status)) return; // closed: the socket says so
    if (reply?.ok && typeof text === 'string') {
      const now = new DOMParser().parseFromString(text, 'text/html');
      steady(() => around(now));
      return;
    }
    await new Promise((done) => setTimeout(done, wait * (0.5 + Math.random())));
  }
}

function around(now) {
  const other = now.getElementById('river');
  if (other?.dataset.viewer !== river.dataset.viewer) return; // another signed in, or nobody is
  entitle(now.title.slice(prefix(unread(other)).length));
  for (const name of ['header.account', '.titled', '.facts', '#list', '.note.empty']) {
    const at = document.querySelector(name);
    const fresh = now.querySelector(name);
    if (at && fresh) swap(at, fresh);
  }
  const at = document.getElementById('writing');
  const fresh = now.getElementById('writing');
  if (at && fresh) compose(at, fresh);
  if (other.dataset.page !== river.dataset.page) become(other);
}

// The forms of an account's page that wait until the reader's text is sent or discarded.
let owed = null;

// compose adds and removes the forms for posts, and the text that stands where there is no
// form. Forms that stay are not touched. A form with text in it stays until the text is
// sent or discarded; a line below says why it is to go.
function compose(at, fresh) {
  owed = null;
  const said = (within) => within.querySelector('.unheard');
  if (sorts(at) === sorts(fresh)) {
    if (said(at)) swap(said(at), said(fresh));
    return;
  }
  if (!composing(at)) {
    at.replaceChildren(...fresh.childNodes);
    return;
  }
  owed = fresh;
  said(at)?.remove();
  if (said(fresh)) at.append(said(fresh).cloneNode(true));
}

const sorts = (within) => [...within.children].map((child) => child.className).join();
const composing = (within) =>
  written(within) ||
  [...within.querySelectorAll('.people input')].some((input) => input.value !== input.defaultValue) ||
  within.contains(document.activeElement?.closest('textarea, .people input'));

// become makes the list that of another river, such as the home feed in another mode. The
// server does it: the page tells it that it knows nothing of that river. A page without a river
// is not told of entries, so it is loaded, unless that would lose what somebody writes.
function become(other) {
  if (other.dataset.river === '0' || river.dataset.river === '0') {
    if (!composing(document)) location.reload();
    return;
  }
  const was = river.dataset.page;
  for (const name of ['page', 'river', 'newest', 'more', 'sight']) river.dataset[name] = other.dataset[name];
  for (const entry of entries()) entry.dataset.version = '0.0';
  river.querySelector('.below')?.remove();
  for (const back of document.querySelectorAll('main [name=back]')) {
    if (back.value.startsWith(was)) back.setAttribute('value', river.dataset.page + back.value.slice(was.length));
  }
  gone.clear();
  doubts.clear();
  confirmed = null;
  queue.length = 0;
  turning = true;
  document.documentElement.dataset.live = '0';
  const before = socket;
  socket = null;
  connect();
  before?.close();
}

// apply puts one frame, or the reply to a form of ours, into the page.
function apply(frame, reply = false) {
  if (left) return; // decided before the page closed
  const stamp = stampOf(frame.version);
  if (!reply) confirm(frame, stamp);
  const entry = entryOf(frame.post);
  const shown = entry && stampOf(entry.dataset.version);
  if (frame.t === 'gone') {
    if (!reply && shown && stamp[0] < shown[0] && stamp[1] < shown[1]) return;
    if (entry && reply) doubt(frame.post, null);
    if (entry && hiding.has(frame.post)) putAway(entry);
    else if (entry) takeOff(entry);
    arrived.delete(frame.post);
    remember(frame.post, shown ? [Math.max(stamp[0], shown[0]), Math.max(stamp[1], shown[1])] : stamp);
    return;
  }
  if (!entry) {
    const off = gone.get(frame.post);
    if (off && (reply ? stamp[0] <= off[0] && stamp[1] <= off[1] : stamp[0] < off[0] && stamp[1] < off[1])) return;
    const fresh = frame.html && parse(frame.html).querySelector('[data-post]');
    if (!fresh) return;
    gone.delete(frame.post);
    if (reply) doubt(frame.post, frame.version);
    if (bringBack(frame.post, fresh, reply)) return;
    come(fresh, reply);
    return;
  }
  if (reply) reveal(entry);
  const fresh = frame.html ? parse(frame.html) : null;
  for (const [name, half] of Object.entries(parts)) {
    if (stamp[half] < shown[half]) continue;
    const to = fresh ? partOf(fresh.querySelector('[data-post]'), name) : section(frame.parts?.[name]);
    const at = partOf(entry, name);
    if (to && at) patch(entry, name, at, to);
  }
  if (reply && frame.version !== entry.dataset.version) doubt(frame.post, frame.version);
  reversion(entry, frame, stamp, shown);
  if (stamp[0] >= shown[0] && newest() && frame.place !== place(entry)) {
    entry.dataset.place = frame.place;
    move(entry, reply);
  }
}

// Changes that replies to forms put into the page, by code: the version, or null for a
// removal. The hub sends only what differs from what it sent before. So if a reply brings
// a change that is undone before the hub looks, the hub sees no difference, and the change
// would stay on this page for ever. A frame that says the same as the reply, or that brings
// the whole entry, rules that out; otherwise the page asks.
const doubts = new Map();
let doubting = 0;

function doubt(code, version) {
  doubts.set(code, version);
  doubting ||= setTimeout(ask, 3000);
}

function confirm(frame, stamp) {
  const version = doubts.get(frame.post);
  if (version === undefined) return;
  const at = version && stampOf(version);
  if (frame.t === 'gone' || frame.version === version || (frame.html && (!at || (stamp[0] >= at[0] && stamp[1] >= at[1])))) {
    doubts.delete(frame.post);
  }
}

// ask makes the server send the entries in doubt whole: it subscribes as if the page knew
// nothing of them. The answer also tells waiting forms that the server is there.
function ask() {
  doubting = 0;
  if (socket?.readyState !== WebSocket.OPEN) return;
  if (unsent.size) socket.close(); // as whoever is signed in by now
  else if (doubts.size) subscribe();
}

function subscribe() {
  for (const code of doubts.keys()) {
    const entry = entryOf(code);
    if (entry) entry.dataset.version = '0.0';
  }
  doubts.clear();
  confirmed = null;
  dropped = {};
  clearTimeout(dropping);
  dropping = 0;
  // The server does not follow entries that are not named here. They are removed, and come
  // again if they are still in the river.
  if (entries().length > maxNamed) steady(() => entries().slice(0, -maxNamed).forEach(takeOff));
  const shown = entries();
  const last = lowest(shown);
  send({
    t: 'subscribe',
    page: river.dataset.page,
    lang,
    viewer: river.dataset.viewer,
    river: river.dataset.river,
    sight: river.dataset.sight,
    unread: river.dataset.unread && unread(),
    entries: versions(shown),
    down: last ? `${last.dataset.place}.${last.dataset.post}` : '',
  });
}

// reversion notes which version an entry shows now. The server has no token for an entry
// that was put together of two versions, so the next subscribe brings it whole.
function reversion(entry, frame, stamp, shown) {
  const version = [Math.max(stamp[0], shown[0]), Math.max(stamp[1], shown[1])];
  const all = stamp[0] >= shown[0] && stamp[1] >= shown[1];
  const none = stamp[0] < shown[0] && stamp[1] < shown[1];
  const tag = all ? tagOf(frame.version) : none && tagOf(entry.dataset.version);
  if (tag) version.push(tag);
  entry.dataset.version = version.join('.');
}

function section(html) {
  if (html === undefined) return null;
  const to = document.createElement('div');
  to.append(parse(html));
  return to;
}

function remember(code, stamp) {
  gone.delete(code);
  gone.set(code, stamp);
  if (gone.size > 500) gone.delete(gone.keys().next().value);
}

// The remains of removed entries that hold text, or that can be brought back, by code.
const leftovers = new Map();
// The posts that the reader hides or mutes on this page, until they are shown again.
const hiding = new Set();

// takeOff removes an entry from the page. If its comment box holds text, the box stays,
// with a line that says why it stands alone.
function takeOff(entry) {
  waiting.delete(entry);
  arrived.delete(entry.dataset.post);
  if (written(entry)) strike(entry, texts.left);
  else entry.remove();
}

// putAway replaces an entry that the reader hides or mutes by one line with a button to undo that.
function putAway(entry) {
  const code = entry.dataset.post;
  const focused = entry.contains(document.activeElement) || document.activeElement === document.body;
  waiting.delete(entry);
  const note = strike(entry, texts[entry.away]);
  const undo = undoing(code, `un${entry.away}`);
  note.append(' ', undo);
  if (focused) undo.querySelector('button').focus();
}

// undoing is a form that takes back what was done to a post.
function undoing(code, act) {
  const undo = document.createElement('form');
  const button = document.createElement('button');
  undo.method = 'post';
  undo.action = `/p/${code}/${act}`;
  undo.dataset.live = '';
  undo.dataset.undo = code;
  button.textContent = texts.undo;
  undo.append(button);
  return undo;
}

// strike removes everything of an entry but its comment box, if that holds text, and says why.
function strike(entry, why) {
  leftovers.set(entry.dataset.post, entry);
  const box = partOf(entry, 'box');
  box.hidden = !written(entry);
  for (const child of [...entry.children]) if (child !== box) child.remove();
  for (const { name } of [...entry.attributes]) if (name !== 'class') entry.removeAttribute(name);
  delete entry.unfolded;
  delete entry.latest;
  const note = document.createElement('p');
  note.className = 'hint';
  note.role = 'status';
  note.textContent = why;
  entry.prepend(note);
  return note;
}

// bringBack puts an entry that comes back around its remains, if there are any.
function bringBack(code, fresh, mine) {
  const entry = leftovers.get(code);
  if (!entry) return false;
  const focused = entry.firstElementChild.contains(document.activeElement);
  leftovers.delete(code);
  hiding.delete(code);
  attributes(entry, fresh);
  const box = partOf(entry, 'box');
  box.hidden = false;
  entry.firstElementChild.remove();
  for (const child of [...fresh.children]) if (child.id !== box.id) box.before(child);
  move(entry, mine);
  if (focused) {
    entry.tabIndex = -1;
    entry.focus({ preventScroll: true });
  }
  return true;
}

// clear removes the remains of entries, and of forms for posts, that hold no text any more.
function clear() {
  const writing = document.getElementById('writing');
  if (owed && !composing(writing)) compose(writing, owed);
  for (const [code, entry] of leftovers) {
    if (written(entry) || entry.contains(document.activeElement?.closest('textarea'))) continue;
    if (hiding.has(code)) continue; // with a way to undo that
    entry.remove();
    leftovers.delete(code);
  }
}

// Placing ---------------------------------------------------------------------

// Actions of others move nothing that is on the screen, neither at the top of the page nor
// further down. If the place of an entry is on the screen, a new entry waits hidden, and
// one that is to move up stays where it is. The reader sees how many wait, and asks for
// them (showNews). An entry whose place is above the screen is put there, and the page
// scrolls by its height.
const waiting = new Set();
// The new posts that wait or stand above the screen, until the reader has been at the top.
const arrived = new Set();
// Set while the list becomes that of another river: then nothing has to keep its place.
let turning = false;

const visible = () => entries().filter((entry) => !entry.hidden);
const folded = (entry) => 'over' in entry.dataset; // not shown: one too many in a row (gather)
const atTop = () => river.getBoundingClientRect().top >= 0;

// A stray is shown where its place was before; the order of the others does not go by it.
const stray = (entry) => waiting.has(entry) && !entry.hidden;

// insert puts an entry where its place is among the others, newest first.
function insert(entry) {
  const below = [...river.children].find((other) => !stray(other) && place(other) < place(entry));
  const last = entries().findLast((other) => other !== entry);
  if (below) below.before(entry);
  else if (last) last.after(entry);
  else river.append(entry);
}

// pushes reports whether an entry in its place would push down what is on the screen.
function pushes(entry) {
  if (turning) return false;
  const below = visible().find((other) => !folded(other) && place(other) < place(entry));
  const top = below?.getBoundingClientRect().top;
  return top > 0 && top < innerHeight;
}

// come puts a new entry into the page. The reader's own entry is shown at once.
function come(entry, mine) {
  if (!mine && pushes(entry)) {
    entry.hidden = true;
    waiting.add(entry);
  }
  insert(entry);
  if (!mine) announce(entry);
}

// reveal shows an entry that waited hidden, because the reply says that it is the reader's own.
function reveal(entry) {
  if (!entry.hidden) return;
  entry.hidden = false;
  waiting.delete(entry);
  arrived.delete(entry.dataset.post);
}

function move(entry, mine) {
  const at = entries().indexOf(entry);
  if (entries().every((other, i) => stray(other) || (i < at ? place(other) >= place(entry) : place(other) <= place(entry)))) return;
  if (!entry.hidden && (onScreen(entry) || pushes(entry))) waiting.add(entry);
  else insert(entry);
  if (!mine) announce(entry);
}

// The element that must not move while the page changes: the one with the focus, or the
// first part of an entry on the screen. If it is removed, the ones after it take its place.
let anchors = [];
// The rest of the last scroll: browsers scroll by whole pixels.
let rest = 0;

// steady runs a change of the page and keeps what is being read where it is. If still is
// false, the page may move, to make room for what the reader just wrote.
function steady(change, still = true) {
  anchors = anchorsNow();
  const before = new Map(anchors.map((anchor) => [anchor, anchor.getBoundingClientRect().top]));
  change();
  // Nobody sees an empty page or a hidden tab move.
  if (waiting.size && (!visible().length || (document.hidden && atTop() && waiting.size >= pageSize))) settle();
  thin();
  trim();
  tidy();
  const anchor = still && anchors.find((anchor) => anchor.isConnected && anchor.getClientRects().length);
  if (anchor) {
    const moved = () => anchor.getBoundingClientRect().top - before.get(anchor) + rest;
    if (moved()) scrollBy({ top: moved(), behavior: 'instant' });
    rest = Math.abs(moved()) < 1 ? moved() : 0;
  }
  anchors = [];
}

function anchorsNow() {
  const at = document.activeElement;
  const found = at?.closest('main') && !at.matches('[data-post]') && onScreen(at) ? [at] : [];
  for (const entry of visible().filter(onScreen)) {
    const part = [...entry.querySelectorAll(':scope > *, :scope > .body > *')].find((child) => child.offsetHeight && onScreen(child));
    found.push(...(part ? [part, entry] : [entry]));
  }
  return [...found, river];
}

function onScreen(element) {
  const box = element.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

// announce shows how many posts wait or came in above the screen.
function announce(entry) {
  if (!newest()) return;
  const above = anchors[0].compareDocumentPosition(entry) & Node.DOCUMENT_POSITION_PRECEDING;
  if ((above && river.contains(anchors[0])) || waiting.has(entry)) arrived.add(entry.dataset.post);
}

// settle puts waiting entries in their places.
function settle() {
  for (const entry of waiting) {
    waiting.delete(entry);
    entry.hidden = false;
    if (entry.isConnected) insert(entry);
  }
  arrived.clear();
  setTimeout(seen, 1000);
}

// showNews brings the reader to the top, where everything new stands.
function showNews() {
  settle();
  scrollTo({ top: 0, behavior: 'instant' });
  gather(true);
  trim(true); // the page is short if much of it is gathered
  tidy();
}

// beenAtTop ends the count of new posts once the top of the page is on the screen again.
function beenAtTop() {
  if (!arrived.size || !atTop()) return;
  for (const code of arrived) if (!waiting.has(entryOf(code))) arrived.delete(code);
  tidyNews();
}

// trim keeps an open page no longer than a reload would make it. It removes entries below
// the screen when the reader is at the top, or all if the reader asked for what is new.
function trim(all) {
  if (!newest() || !atTop()) return;
  const busy = (entry) => waiting.has(entry) || (!all && onScreen(entry)) || written(entry) || entry.contains(document.activeElement);
  forgo(visible().slice(pageSize).filter((entry) => !busy(entry)));
}

// The most entries that wait hidden. If there are more, the newest are kept, so that a
// forgotten page does not grow for ever; all are counted.
const maxWaiting = 100;

function thin() {
  const hidden = [...waiting].filter((entry) => entry.hidden);
  if (hidden.length <= maxWaiting) return;
  hidden.sort((a, b) => place(b) - place(a));
  forgo(hidden.slice(maxWaiting));
}

// forgo removes entries that a reload would not show on this page, and tells the server soon.
function forgo(extra) {
  if (!extra.length) return;
  for (const entry of extra) {
    waiting.delete(entry);
    entry.remove();
  }
  river.dataset.more = '1';
  Object.assign(dropped, versions(extra));
  dropping ||= setTimeout(drop, 1000);
}

// How many entries a message to the server names at most. The server accepts a few more.
const maxNamed = 400;
// Removed entries that the server has not been told of yet.
let dropped = {};
let dropping = 0;

function drop() {
  dropping = 0;
  const gone = Object.entries(dropped).filter(([code]) => !entryOf(code));
  if (gone.length) send({ t: 'drop', river: river.dataset.river, entries: Object.fromEntries(gone.splice(0, maxNamed)) });
  dropped = Object.fromEntries(gone);
  if (gone.length) dropping = setTimeout(drop, 1000);
}

// tidy makes what stands around the entries agree with them.
function tidy() {
  clear();
  gather(turning);
  tidyNews();
  const head = river.querySelector('h1'); // of a post's own page
  if (head) entitle(`${head.textContent} · ${document.body.dataset.site}`);
  const shown = entries();
  const empty = document.querySelector('.note.empty');
  if (empty) empty.hidden = shown.length > 0;
  paged(shown);
  times(river);
}

// gather shows at most two entries in a row of one author, where the server says by whom they
// are, and a line for those that are more, as a reload would. Entries that wait do not count. An
// entry that is on the screen, or written in, stays there until the reader asks for what is new,
// as in trim.
function gather(all) {
  if (!river.dataset.row) return; // no such page
  const kept = new Set();
  let by = '';
  let row = 0;
  let first = null;
  let more = 0;
  const close = () => {
    if (!more) return;
    const text = river.dataset.row.replace('{n}', more).replace('{name}', by);
    let line = first.previousElementSibling;
    if (!line?.matches('.more')) {
      line = document.createElement('p');
      line.className = 'more';
      line.append(document.createElement('a'));
      first.before(line);
    }
    const link = line.firstElementChild;
    const to = river.dataset.page.startsWith('/filter/notifications') ? '/filter/mentions' : `/${by}`;
    if (link.getAttribute('href') !== to) link.setAttribute('href', to);
    if (link.textContent !== text) link.textContent = text;
    kept.add(line);
  };
  for (const entry of visible()) {
    const name = entry.dataset.row ?? entry.querySelector('.notice[data-row]')?.dataset.row ?? '';
    if (!name || name !== by) {
      close();
      [by, row, first, more] = [name, 0, null, 0];
    }
    row += 1;
    const hide = row > 2 && (folded(entry) || all || !(onScreen(entry) || written(entry) || entry.contains(document.activeElement)));
    if (hide !== folded(entry)) entry.toggleAttribute('data-over', hide);
    if (!hide) continue;
    first ??= entry;
    more += 1;
  }
  close();
  for (const line of river.querySelectorAll(':scope > .more')) if (!kept.has(line)) line.remove();
}

function tidyNews() {
  if (!news) return;
  news.hidden = arrived.size === 0;
  if (news.hidden) return;
  const form = new Intl.PluralRules(lang).select(arrived.size);
  news.firstElementChild.textContent = (news.dataset[form] || news.dataset.other).replace('{n}', arrived.size);
}

// paged shows the link to older entries if there are any, or a line that there are none.
function paged(shown) {
  const paging = document.querySelector('.paging');
  const last = lowest(shown);
  const more = river.dataset.more === '1';
  if (!paging || (more && !last)) return;
  const ends = !more && (!newest() || shown.length >= pageSize);
  const put = (stands, name, tag, text) => {
    const there = paging.querySelector(name);
    if (!stands) there?.remove();
    if (!stands || there) return null;
    const made = document.createElement(tag);
    made.className = name.slice(1);
    made.textContent = text;
    paging.insertBefore(made, paging.querySelector('.feed'));
    return made;
  };
  put(ends, '.notes', 'span', texts.end);
  const fresh = put(more, '.older', 'a', texts.older);
  if (fresh) fresh.rel = 'next';
  if (more && (fresh || newest())) {
    const to = new URL(river.dataset.page, location);
    to.searchParams.set('before', `${last.dataset.place}.${last.dataset.post}`);
    paging.querySelector('.older').href = to.pathname + to.search;
  }
}

// Patching ----------------------------------------------------------------------

// patch makes a part of an entry like the part that came.
function patch(entry, name, at, to) {
  if (name === 'comments') keepUnread(at, to);
  if (entry.unfolded?.[name]) unfold(entry, name, at, to);
  else swap(at, to);
}

// keepUnread keeps the line above the first unread comment, which only the page that was
// served has. The comments that come while the page is shown are seen; the server is told.
function keepUnread(at, to) {
  const line = at.querySelector('#unread');
  const next = line && to.querySelector(`#${CSS.escape(line.nextElementSibling?.id || '-')}`);
  if (next) next.before(line.cloneNode(true));
}

// On a post's own page, on the home page and on that of notifications the server is told that
// what came in was seen: a second later, on the home page once a minute at most, and when the
// page is left.
let unseen = false;
let told = 0;

function seen(leaving = false) {
  if (!unseen || (document.hidden && !leaving) || socket?.readyState !== WebSocket.OPEN) return;
  const { page } = river.dataset;
  const often = page.startsWith('/f') || leaving;
  if (!page.startsWith('/p/') && (waiting.size || arrived.size || (!often && Date.now() - told < 60000))) return;
  unseen = false;
  told = Date.now();
  send({ t: 'seen' });
}

document.addEventListener('visibilitychange', () => seen(document.hidden));

// How long the server was not heard of until a page that comes back says what changed.
const longAway = 60000;
let spoke = 0; // when the server last said anything
let known = null; // what such a page showed, by entry

// looks is what an entry says, but for the time and for what its reader has read. Stamps would
// count what the reader does not see.
const looks = (entry) =>
  ['body', 'likes', 'comments'].map((name) => partOf(entry, name).innerHTML.replace(/<time.*?<\/time>|<a class="fresh".*?<\/a>/gs, '')).join();

// cameBack counts the entries that are new or changed since the page lost its connection, and
// says so in a line that goes by itself, or when it is pressed.
function cameBack() {
  const was = known;
  known = null;
  const changed = was && entries().filter((entry) => was.get(entry.dataset.post) !== looks(entry)).length;
  if (!changed) return;
  const line = document.createElement('button');
  line.type = 'button';
  line.textContent = (texts[`away.${new Intl.PluralRules(lang).select(changed)}`] || texts['away.other']).replace('{n}', changed);
  line.onclick = () => line.remove();
  away.replaceChildren(line);
  setTimeout(() => line.remove(), 15000);
}

const away = document.createElement('div');

// swap is morph, and gives the focus back to a button that was replaced by its
// successor (like, unlike).
function swap(at, to) {
  const focus = at.contains(document.activeElement) ? document.activeElement : null;
  const nth = focus ? [...at.querySelectorAll('a, button')].indexOf(focus) : -1;
  morph(at, to);
  if (focus && !focus.isConnected) {
    const there = at.querySelectorAll('a, button');
    there[Math.min(nth, there.length - 1)]?.focus({ preventScroll: true });
  }
}

// morph turns the children of at into those of to, keeping every element that
// stays the same: the selection in it, its focus, whether it is open.
function morph(at, to) {
  const wanted = new Set([...to.children].map((child) => child.id));
  const known = new Map();
  for (const child of [...at.children]) {
    if (!child.id) continue;
    if (wanted.has(child.id)) known.set(child.id, child);
    else child.remove();
  }
  let next = at.firstChild;
  for (const want of [...to.childNodes]) {
    const have = want.id ? known.get(want.id) : next && alike(next, want) ? next : null;
    if (!have || have.nodeName !== want.nodeName) {
      at.insertBefore(want, next);
      continue;
    }
    if (have === next) next = next.nextSibling;
    else at.insertBefore(have, next);
    if (have.nodeType !== Node.ELEMENT_NODE) {
      if (have.data !== want.data) have.data = want.data;
    } else if (!have.isEqualNode(want)) {
      attributes(have, want);
      morph(have, want);
    }
  }
  while (next) {
    const rest = next.nextSibling;
    next.remove();
    next = rest;
  }
}

function alike(a, b) {
  return a.nodeName === b.nodeName && !a.id;
}

function attributes(at, to) {
  for (const { name } of [...at.attributes]) {
    if (!to.hasAttribute(name) && name !== 'open') at.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (at.getAttribute(name) !== value) at.setAttribute(name, value);
  }
}

// Unfolding ---------------------------------------------------------------------

// An entry's unfolded[part] counts the steps in which the reader unfolded that part.

// unfold unfolds a part that came folded as far as the reader had unfolded it, step by step
// from the server, and only then shows it. If that fails, the folded part is shown: it is
// shorter, but right.
async function unfold(entry, name, at, to) {
  const goal = entry.unfolded[name];
  entry.latest ??= {};
  entry.latest[name] = to;
  const opened = name === 'likes' ? (more, steps) => steps < goal : (more) => stood(more, at);
  try {
    for (let steps = 0; ; steps++) {
      const more = [...to.querySelectorAll('[data-unfold]')].find((more) => opened(more, steps));
      if (!more) break;
      await step(more, name, to);
    }
  } catch {
    delete entry.unfolded[name];
  }
  if (entry.latest[name] === to && entry.isConnected) steady(() => swap(at, to));
}

// stood reports whether at shows some of the comments that a "more" stands for: any between
// the comment before it and the first one after it that is there.
function stood(more, at) {
  const all = [...at.querySelectorAll('.comment')].map((comment) => comment.id);
  const fold = more.parentElement;
  let next = fold.nextElementSibling;
  while (next && !all.includes(next.id)) next = next.nextElementSibling;
  const to = next ? all.indexOf(next.id) : all.length;
  return to - all.indexOf(fold.previousElementSibling?.id) > 1;
}

// step replaces the line of a "more" among comments by the comments it stands for. Among
// likes it replaces the whole part.
async function step(more, name, part) {
  const reply = await fetch(more.dataset.unfold, { headers: { 'X-River-Page': river.dataset.page } });
  if (!reply.ok) throw new Error(reply.status);
  const html = parse(await reply.text());
  if (name === 'likes') part.replaceChildren(html);
  else more.parentElement.replaceWith(html);
}

addEventListener('click', async (event) => {
  const more = event.target.closest?.('[data-unfold]');
  const entry = more?.closest('[data-post]');
  if (!entry || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (more.ariaBusy) return;
  more.ariaBusy = 'true';
  const part = more.closest('[data-post] > *');
  const name = part.className;
  try {
    await step(more, name, part);
  } catch {
    // Open the page that has them all. If the server is away, another click tries again.
    more.ariaBusy = null;
    if (!written(document) && (await answers())) location.href = more.href;
    return;
  }
  entry.unfolded ??= {};
  entry.unfolded[name] = (entry.unfolded[name] ?? 0) + 1;
  times(part);
});

// Forms ---------------------------------------------------------------------------

// Text that would be lost by a reload.
const written = (within) => [...within.querySelectorAll('textarea')].some((t) => t.value !== t.defaultValue);

// Every form says whose page it stands on, however it is sent: somebody else may have
// signed in to this browser meanwhile.
addEventListener('formdata', ({ target: form, formData }) => {
  const { viewer } = document.body.dataset;
  if (viewer && form.method === 'post') formData.set('viewer', viewer);
});

// The last press of one of our buttons by a pointer. A second press at the same place is
// the other half of a double click: the first button may be gone by then, and another
// entry's button in its place. Clicks by keys have no place.
let pressed = { at: -Infinity };

addEventListener('click', (event) => {
  const { clientX: x, clientY: y, timeStamp: at } = event;
  const button = event.target.closest?.('button');
  if (!event.detail) return;
  if (at - pressed.at < 500 && Math.hypot(x - pressed.x, y - pressed.y) < 10) {
    pressed.at = at;
    event.preventDefault();
    event.stopImmediatePropagation();
  } else if (button?.type === 'submit' && button.form?.matches('[data-live]')) {
    pressed = { x, y, at };
  }
}, { capture: true });

// A form with several buttons that have an address each counts as one form for each of them: a
// press of one does not wait for the answer to another.
const addressOf = (form) => form.formAction ?? form.action;

addEventListener('submit', (event) => {
  const { target, submitter } = event;
  if (!target.matches?.('form[data-live]') || !river) return;
  if ([...target.querySelectorAll('[type=file]')].some((input) => input.files.length)) return; // upload.js is not there
  event.preventDefault();
  const form = submitter?.hasAttribute('formaction') ? submitter : target;
  const text = form.querySelector('textarea');
  if (form.ariaBusy) {
    // The reader sent more meanwhile. It is sent when the answer to this one has come.
    form.again = text && text.value !== form.sending;
    return;
  }
  // A double click counts once: its second half must not unlike what the first liked.
  if (event.timeStamp - form.answered < 500) return;
  form.sending = text?.value;
  const values = new FormData(target, submitter);
  values.delete('file'); // upload.js has sent them
  deliver(form, new URLSearchParams(values));
});

// A form that leads to another page is sent when the server is there, so that its text does not
// make room for the browser's error page.
addEventListener('submit', async (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.sure || !form.querySelector('textarea')) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (form.ariaBusy) return;
  form.ariaBusy = 'true';
  const there = await answers();
  form.ariaBusy = null;
  complain(form, there ? '' : texts.unsent);
  form.sure = there;
  if (there) form.requestSubmit(submitter);
  form.sure = false;
});

// deliver sends a form, or a button with an address of its own, with the values of the moment it
// was submitted, and puts the answer into the page.
async function deliver(form, body) {
  const text = form.querySelector('textarea');
  const page = river.dataset.page;
  const address = addressOf(form);
  const request = () => post(address, body, page);
  const draft = settleDraft(form);
  const entry = form.closest('[data-post]');
  const away = address.match(/\/(hide|mute)$/)?.[1];
  const hides = away && entry?.dataset.post;
  const tells = lettered;
  if (hides) {
    hiding.add(hides);
    entry.away = away;
  }
  form.ariaBusy = 'true';
  unsent.delete(form);
  complain(form, '');
  await draft;
  if (form.elements?.saved) body.set('saved', form.elements.saved.value);
  // If it was not sent, or no answer came, it is sent once more. That is safe: a form has a
  // key, or it only says how something is to be.
  let reply = await request();
  let there = reply || (await answers());
  if (!reply && there) {
    reply = await request();
    there = reply || (await answers());
  }
  const json = reply?.headers.get('Content-Type')?.startsWith('application/json');
  const answer = json ? await reply.json().catch(() => null) : null;
  form.ariaBusy = null; // from here to the form's next key nothing waits
  if (answer?.t !== 'gone') hiding.delete(hides); // the page shows what is hidden, or it was not done
  if (reply) waits = 1500;
  if (reply?.ok && answer) {
    if (!text) form.answered = performance.now();
    sent(form, text);
    const { undo } = form.dataset;
    if (toast.contains(form)) {
      toast.replaceChildren();
      chosen?.focus({ preventScroll: true });
    } else if (undo && answer.t === 'gone') form.replaceWith(texts.left);
    if (tells) tell(address);
    // An entry that is shown again has the stamp at which it was removed.
    if (undo) gone.delete(undo);
    // The page shows another river by now, so the reply does not apply; the socket tells.
    if (page === river.dataset.page) steady(() => apply(answer, true), river.contains(form));
    // The new post is not on this page: go to it, or to the list of those that wait.
    if (answer.to && !text?.value) location.assign(answer.to);
    else if (form.again && text.value) form.requestSubmit();
    form.again = false;
  } else if (answer?.error) {
    complain(form, answer.error, answer.field, reply.status === 401);
    // The key belongs to another text. With a new key this text is a new post.
    if (answer.field === 'key') form.elements.namedItem('key').value = newKey();
  } else if (there && losesNothing(form)) {
    const plain = form.form ?? form;
    plain.action = address;
    HTMLFormElement.prototype.submit.call(plain); // the plain way works, or shows what is wrong
  } else {
    const holds = !there && !left && text?.value === form.sending;
    complain(form, holds ? texts.offline : texts.unsent);
    if (holds) hold(form, body);
  }
  if (!reply?.ok && drafting(form)) stir(form);
}

// post returns the server's answer to a form. It returns null if there is no answer, or
// only a gateway's, which says that no server is behind it.
async function post(address, body, page, keepalive = false) {
  const reply = await fetch(address, {
    method: 'POST',
    body,
    keepalive,
    headers: { Accept: 'application/json', 'X-River-Page': page },
    signal: AbortSignal.timeout(30000),
  }).catch(() => null);
  const json = reply?.headers.get('Content-Type')?.startsWith('application/json');
  return [502, 503, 504].includes(reply?.status) && !json ? null : reply;
}

// answers reports whether the server is there. If it is not, loading one of its pages would
// replace this page by the browser's error page.
async function answers() {
  const reply = await fetch('/healthz', { method: 'HEAD', signal: AbortSignal.timeout(10000) }).catch(() => null);
  return reply !== null && reply.status < 500;
}

// losesNothing reports whether sending the form without scripts would lose no other text.
function losesNothing(form) {
  const text = form.querySelector('textarea');
  if (text && text.value !== form.sending) return false;
  return form.isConnected && [...document.querySelectorAll('textarea')].every((t) => t === text || t.value === t.defaultValue);
}

// Forms that were sent while the server was away, with their values. They are sent again
// when the socket has said that the server is there, that the same person is still signed
// in, and what changed meanwhile. A form is not sent again if its text was changed, or if
// it has become the opposite of what it was.
const unsent = new Map();
let waits = 1500;

// While a form waits, the pauses between two tries to connect stay short, however long the
// server was away.
function hold(form, body) {
  unsent.set(form, { body, action: addressOf(form) });
  if (!socket && !over) closed({ code: 1006 });
  doubting ||= setTimeout(ask, waits = Math.min(2 * waits, 60000));
}

function resend() {
  for (const [form, { body, action }] of unsent) {
    unsent.delete(form);
    if (!form.isConnected || form.ariaBusy) continue;
    if (addressOf(form) === action && form.querySelector('textarea')?.value === form.sending) deliver(form, body);
    else complain(form, '');
  }
}

// giveUp ends the automatic sending of a form.
function giveUp(form) {
  if (unsent.delete(form)) complain(form, '');
}

addEventListener('input', (event) => giveUp(event.target.form));

// Comment opens the box and puts the caret into it.
addEventListener('click', (event) => {
  const button = event.target.closest?.('.box summary, .acts .talk');
  if (!button || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (write(button.closest('[data-post], .entry'))) event.preventDefault();
});

// write opens an entry's box for a comment, if it has one.
function write(entry) {
  const text = entry?.querySelector('.box textarea');
  if (!text) return false;
  const box = text.closest('details');
  if (box) {
    box.open = true;
    delete box.querySelector('summary').dataset.draft;
  }
  text.focus();
  return true;
}

// The arrow in the head of a page leads to where the reader came from, if that is known.
addEventListener('click', (event) => {
  if (!event.target.closest?.('.back') || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (history.length < 2 || !document.referrer.startsWith(location.origin + '/')) return;
  event.preventDefault();
  history.back();
});

// A section of the settings that a link leads to opens.
function unfoldSection() {
  const section = document.getElementById(location.hash.slice(1))?.closest('details.part');
  if (!section) return;
  section.open = true;
  section.scrollIntoView();
}
addEventListener('hashchange', unfoldSection);
unfoldSection();

// A menu closes when something else is pressed, one of its own buttons included.
addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('.menu[open]')) {
    if (!menu.contains(target) || target.closest?.('.act:not(summary)')) menu.open = false;
  }
});

// Pictures ------------------------------------------------------------------------

// A picture of a post opens over the page, with the others of the same post or comment beside
// it. It closes with the post, if that goes while the picture is looked at.
const viewer = document.querySelector('.viewer');
let looked = ''; // the address of the picture

const lookedAt = () => document.querySelector(`a.pic[href="${looked}"]`);
const beside = (by) => {
  const all = [...(lookedAt()?.parentElement.querySelectorAll('a.pic') ?? [])];
  return all[all.indexOf(lookedAt()) + by];
};

function present(link) {
  looked = link.getAttribute('href');
  const [image, words, back, on] = viewer.children;
  image.src = looked;
  words.textContent = image.alt = link.lastElementChild.alt;
  if (!viewer.open) viewer.showModal();
  // A button that is pressed keeps the focus, even if there is nothing more that way.
  back.ariaDisabled = !beside(-1);
  on.ariaDisabled = !beside(1);
}

addEventListener('click', (event) => {
  const link = event.target.closest?.('a.pic');
  if (!viewer || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const by = event.target.closest?.('.viewer button')?.value;
  const to = link ?? (by && beside(Number(by)));
  if (link) event.preventDefault();
  if (by === '0' || event.target === viewer) viewer.close();
  else if (to) present(to);
});

addEventListener('keydown', ({ key }) => {
  const to = viewer?.open && beside({ ArrowLeft: -1, ArrowRight: 1 }[key]);
  if (to) present(to);
});
viewer?.addEventListener('close', () => viewer.firstElementChild.removeAttribute('src'));
if (viewer) new MutationObserver(() => viewer.open && !lookedAt() && viewer.close()).observe(document.body, { childList: true, subtree: true });

// A menu that opens is not cut off by the edge of the screen.
addEventListener('toggle', ({ target }) => {
  if (target.dataset.src) import(target.dataset.src);
  if (target.open && target.matches('.acts .menu')) target.lastElementChild.scrollIntoView({ block: 'nearest' });
}, { capture: true });

// The composer unfolds when somebody begins to write. It does not fold when the focus leaves
// it, which would move the page under a press of the mouse, but when the post is sent. For the
// same reason a press opens it when it is over.
function spread(event) {
  const composer = event.target.closest?.('.composer');
  if (composer && (event.type === 'click' || !composer.matches(':active'))) composer.dataset.open = '';
}
addEventListener('focusin', spread);
addEventListener('click', spread);

// fold folds the composer around a form.
function fold(form) {
  const composer = form.closest('.composer');
  if (form.contains(document.activeElement)) document.activeElement.blur();
  if (!composer) return;
  delete composer.dataset.open;
  for (const places of composer.querySelectorAll('details')) places.open = false;
  if (composer.matches(':popover-open')) composer.hidePopover();
  composer.scrollIntoView({ block: 'nearest' });
}

// The composer is a sheet on a phone. Where the page has none, the link leads to one.
addEventListener('click', (event) => {
  if (!event.target.closest?.('.bar .compose') || !document.getElementById('composer')) return;
  event.preventDefault();
  begin();
});

// begin goes to the form for a post.
function begin() {
  const composer = document.getElementById('composer');
  if (!composer) {
    go('/posts/new');
    return;
  }
  if (!composer.offsetWidth) composer.showPopover();
  composer.querySelector('textarea').focus();
}

// Ctrl+Enter sends the text that is being written. Esc closes the box around it and keeps
// the text. Home shows new posts.
addEventListener('keydown', (event) => {
  if (event.isComposing || event.defaultPrevented) return;
  const text = event.target.closest?.('textarea');
  if (text && event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (!event.repeat) text.form?.requestSubmit(text.form.querySelector('button:not([type=button])'));
  } else if (text && event.key === 'Escape') {
    const box = text.closest('.box details');
    if (!box) {
      if (text.closest('.composer') && !written(text.form)) fold(text.form);
      return;
    }
    box.open = false;
    const summary = box.querySelector('summary');
    if (text.value !== text.defaultValue) summary.dataset.draft = texts.draft;
    (box.closest('.entry').querySelector('.acts .talk') ?? summary).focus({ preventScroll: true });
  } else if (event.key === 'Escape' && document.querySelector('.menu[open]')) {
    const menu = document.querySelector('.menu[open]');
    if (menu.contains(event.target)) menu.querySelector('summary').focus();
    menu.open = false;
  } else if (event.key === 'Escape') {
    event.target.closest?.('[type=search]')?.blur();
  } else if (event.key === 'Home' && waiting.size && !event.target.closest?.('input, textarea, select')) {
    event.preventDefault();
    showNews();
  }
});

// One-letter keys, which the settings can turn off.
const letters = {
  j: () => walk(1),
  k: () => walk(-1),
  l: () => press('.heart'),
  s: () => press('.save'),
  c: () => write(current()),
  o: () => {
    const link = current()?.querySelector('.when');
    if (link) go(link.href);
  },
  n: () => document.body.dataset.viewer && begin(),
  '/': () => search(),
  '?': () => go('/help/keys'),
  g: () => {
    going = performance.now();
  },
  h: () => {
    if (performance.now() - going < 1500) go('/');
  },
};
let going = -Infinity; // when g was pressed

// In a river the Tab key passes over the links in the middle of an entry, so that it takes few
// steps to the next one; on the post's own page, to which each leads, it stops at all of them.
addEventListener('keydown', ({ key }) => {
  for (const link of key === 'Tab' ? document.querySelectorAll('.river:not([data-page^="/p/"]) :is(:is(.why, .body) a:not(h2 > a, .when), .likes a, .comments :is(a, button), .spoiler input)') : []) link.tabIndex = -1;
});

addEventListener('keydown', (event) => {
  const { code, target } = event;
  // Where a key makes no Latin letter, the letter printed on it counts.
  const key = code.startsWith('Key') && event.key > '~' ? code.slice(3).toLowerCase() : event.key;
  if (document.querySelector(':popover-open, .viewer[open]')) return;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (document.body.dataset.keys === 'off' || !Object.hasOwn(letters, key)) return;
  if (target.closest?.('input, textarea, select, [contenteditable]')) return;
  event.preventDefault();
  for (const menu of document.querySelectorAll('.menu[open]')) menu.open = false;
  letters[key]();
  if (key !== 'g') going = -Infinity;
});

// go opens a page: beside this one if text would be lost here.
function go(address) {
  if (written(document)) open(address);
  else location.assign(address);
}

let chosen = null; // the entry that j or k went to last

// current is the chosen entry, as long as the reader sees that it is.
const current = () => (focused() && focused() === chosen && onScreen(chosen) ? chosen : null);
const focused = () => river && document.activeElement.closest('#river > [data-post]');

// walk moves the focus to the next or the previous entry: at first to the one at the top of the
// screen.
function walk(by) {
  if (!river) return;
  const all = visible().filter((entry) => !folded(entry));
  const to = focused() ? all[all.indexOf(focused()) + by] : all.find((entry) => entry.getBoundingClientRect().bottom > 80);
  chosen = to ?? focused();
  if (!to) return;
  to.tabIndex = -1;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'start', behavior: 'instant' });
}

// The page says below what a letter did to a post, with a button to take it back: a key is
// pressed by mistake more easily than a button.
const toast = document.createElement('div');
let lettered = false;
let telling = 0;

function press(button) {
  lettered = true;
  current()?.querySelector('.acts ' + button)?.click();
  lettered = false;
}

// tell says what was done at an address, until it is taken back or for a while.
function tell(address) {
  const [, code, act] = address.match(/([^/]+)\/(\w+)$/);
  const said = document.createElement('span');
  said.textContent = texts[act];
  toast.replaceChildren(said, undoing(code, act.startsWith('un') ? act.slice(2) : 'un' + act));
  clearTimeout(telling);
  telling = setTimeout(() => toast.replaceChildren(), 15000);
}

// search goes to the search field.
function search() {
  const field = [...document.querySelectorAll('[role=search] input')].find((input) => input.offsetWidth);
  if (field) {
    field.focus();
    field.select();
  }
  if (!field) go('/search');
}

// Names ---------------------------------------------------------------------------

// While somebody types an @name, or a name where people are named, a list offers those whom
// it may be. The focus stays in the text; the arrows choose, Enter or Tab takes, Esc closes.
const offers = document.createElement('div');
let asked = 0; // questions so far: only the answer to the last one counts
let asking = 0;
let typing = null; // the field, and where the name in it begins

function typed(field) {
  const before = field.value.slice(0, field.selectionStart);
  const name = field.matches('textarea') ? /(?:^|[\s([{"'«„,;:!?/-])@([\p{L}\d-]{1,35})$/u.exec(before) : /(?:^|[\s,])@?([\p{L}\d-]{1,35})$/u.exec(before);
  return name && field.selectionStart === field.selectionEnd ? { field, name: name[1], from: before.length - name[1].length } : null;
}

addEventListener('input', ({ target }) => {
  if (!document.body.dataset.viewer || !target.matches?.('textarea[name=body], .people input')) return;
  target.removeAttribute('list'); // one list is enough
  typing = typed(target);
  clearTimeout(asking);
  asked++;
  if (typing) asking = setTimeout(offer, 120, asked);
  else withhold();
});

async function offer(mine) {
  if (mine !== asked) return; // the field was left, or more was typed
  const reply = await fetch('/search/names?q=' + encodeURIComponent(typing.name) + (typing.field.name === 'to' ? '&to' : ''), { headers: { Accept: 'application/json' } }).catch(() => null);
  const html = reply?.ok ? await reply.text().catch(() => '') : '';
  if (mine !== asked || document.activeElement !== typing?.field) return;
  offers.replaceChildren(parse(html));
  for (const option of offers.children) met.set(option.dataset.name, option.dataset);
  if (!offers.childElementCount) {
    withhold();
    return;
  }
  const { field } = typing;
  const box = field.getBoundingClientRect();
  field.after(offers);
  field.setAttribute('aria-controls', offers.id);
  offers.classList.toggle('above', box.bottom + offers.offsetHeight > innerHeight && box.top > offers.offsetHeight);
  point(offers.firstElementChild);
}

// point makes an option the one for Enter to take.
function point(option) {
  for (const other of offers.children) other.ariaSelected = String(other === option);
  typing.field.setAttribute('aria-activedescendant', option.id);
}

function withhold() {
  asked++;
  offers.remove();
  typing?.field.removeAttribute('aria-activedescendant');
  typing = null;
}

function accept(option) {
  const { field, from } = typing;
  const chips = field.name === 'to' && field.form.querySelector('.chips');
  field.setRangeText(chips ? '' : option.dataset.name + ' ', from, field.selectionStart, 'end');
  if (chips) choose(chips, option);
  withhold();
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

// choose checks the box of a destination that was taken from the list, and makes it if there is
// none.
function choose(chips, { dataset, children: [face, title] }) {
  let box = [...chips.querySelectorAll('input')].find((other) => other.value === dataset.name);
  if (!box) {
    const chip = chips.querySelector('.chip').cloneNode(true);
    chips.append(chip);
    box = chip.querySelector('input');
    box.value = dataset.name;
    box.removeAttribute('checked');
    for (const key of ['level', 'who', 'alone']) delete box.dataset[key];
    Object.assign(box.dataset, dataset);
    chip.querySelector('bdi').textContent = title.textContent;
    chip.querySelector('.avatar').replaceWith(face);
    face.classList.replace('a24', 'a20');
  }
  box.checked = true;
}

addEventListener('keydown', (event) => {
  if (!offers.isConnected || event.target !== typing?.field || event.isComposing) return;
  const at = [...offers.children].findIndex((option) => option.ariaSelected === 'true');
  const n = offers.childElementCount;
  if (event.key === 'ArrowDown') point(offers.children[(at + 1) % n]);
  else if (event.key === 'ArrowUp') point(offers.children[(at + n - 1) % n]);
  else if ((event.key === 'Enter' && !event.ctrlKey && !event.metaKey) || (event.key === 'Tab' && !event.shiftKey)) accept(offers.children[at]);
  else if (event.key === 'Escape') withhold();
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });

offers.addEventListener('mousedown', (event) => {
  event.preventDefault(); // the focus stays in the text
  const option = event.target.closest('[role=option]');
  if (option) accept(option);
});
addEventListener('focusout', ({ target }) => {
  if (target === typing?.field) withhold();
});
offers.id = 'names';
offers.role = 'listbox';
offers.className = 'offers';
offers.ariaLabel = texts.names ?? '@';

// Readers of posts -----------------------------------------------------------------

// met has the known facts about the names that were offered, by name: for a group, who can
// read it.
const met = new Map();

// audience makes the line of a form for posts say who can read what it would send now. If a place
// is unknown, it says nothing.
function audience(form) {
  const line = form?.querySelector('.audience');
  if (!line) return;
  const { unchosen, public: all, protected: members, people, some } = line.dataset;
  const typed = (form.querySelector('.people input')?.value ?? '').split(/[\s,;]+/).filter(Boolean).map((name) => name.replace(/^@/, '').toLowerCase());
  const known = (name) => met.get(name) ?? (form.querySelector(`#followed option[value="${CSS.escape(name)}"]`) && {});
  const to = [...[...form.querySelectorAll('.chip :checked')].map(({ dataset: is }) => (is.level || is.name) && is), ...typed.map(known)];
  const who = to.map((place, i) => place?.who ?? place?.name ?? typed[i - to.length + typed.length]).join(', ');
  const level = Math.min(...to.map((place) => place?.level ?? 2));
  let text = to.length ? some.replace('{who}', who) : unchosen;
  if (to.some((place) => !place)) text = '';
  else if (level === 0) text = all;
  else if (level === 1) text = members;
  else if (to.length === 1 && to[0].alone) text = to[0].alone;
  else if (to.length && to.every((place) => !place.who)) text = people.replace('{who}', who);
  line.dataset.follows = '';
  line.lastElementChild.textContent = text;
}

addEventListener('input', ({ target }) => audience(target.closest?.('.composer form')));
for (const form of document.querySelectorAll('.composer form')) audience(form);
// Drafts --------------------------------------------------------------------------

// The words in a form are kept on the server a second after the last letter, and when the
// page is hidden, so that they are there on the writer's other devices and after a mishap. A
// form remembers: filled, the text that the server has as far as the page knows; stirred,
// whether something was written since; fetched, whether the page has seen the draft that was
// there before; keeping, the one request under way; over, the draft of another device that
// is to be replaced. Its field saved names the draft that it has: only that one is replaced
// when it is kept, and removed when it is sent.
const drafting = (form) => form?.elements?.draft && form.querySelector('textarea');

addEventListener('input', ({ target }) => {
  if (drafting(target.form)) stir(target.form);
});

function stir(form, soon = 1000) {
  form.stirred = true;
  clearTimeout(form.pause);
  form.pause = setTimeout(keep, soon, form);
}

// settleDraft ends the keeping of a draft whose form is being sent: it goes with what becomes
// of it.
function settleDraft(form) {
  clearTimeout(form.pause);
  form.stirred = false;
  return form.keeping;
}

// A form that the browser sends waits for what is being kept, as it is to name that.
addEventListener('submit', (event) => {
  const form = event.target;
  const keeping = settleDraft(form);
  if (!keeping || event.defaultPrevented) return;
  event.preventDefault();
  const { submitter } = event;
  keeping.then(() => form.requestSubmit(submitter));
});

document.addEventListener('visibilitychange', () => {
  if (document.hidden) for (const form of document.forms) if (form.stirred) keep(form, true);
});

async function keep(form, closing = false) {
  clearTimeout(form.pause);
  if (form.keeping || form.ariaBusy || left) return;
  form.fetched ??= 'filled' in form.dataset;
  if (closing && !form.fetched) return; // what was kept before may be more
  if (!(await recall(form))) {
    if (form.stirred) stir(form, 5000);
    return;
  }
  if (!form.stirred || form.keeping) return;
  form.stirred = false;
  const body = new URLSearchParams(new FormData(form));
  if (form.over) body.set('keep', form.over); // shown by now
  form.keeping = post('/drafts', body, '', closing && String(body).length < 60000).then((reply) =>
    reply?.status < 500 && reply.status !== 429 ? reply.json().catch(() => null) : null,
  );
  const answer = await form.keeping;
  form.keeping = null;
  form.over = answer?.t === 'newer' && answer.saved;
  if (answer?.t && !form.over) has(form, answer.saved);
  if (answer?.t === 'done') {
    form.filled = body.get('body');
    fitting(form, answer.tags);
    if (!form.stirred) note(form);
  } else if (form.over) {
    replaces(form, answer.body);
    form.stirred = true;
  } else if (answer?.t === 'sent') {
    // The browser brought back a form that was sent. The words that are written now
    // are something else.
    const { key } = form.elements;
    if (key.value === body.get('key') && drafting(form).value) {
      key.value = newKey();
      form.stirred = true;
    }
  } else if (answer?.error) {
    complain(form, answer.error);
  } else {
    form.stirred = true; // without an answer; or its draft is gone, and the text is sent as a new one
  }
  if (form.stirred) stir(form, answer ? 1000 : 5000);
}

// fitting shows tags that fit the text, each with a press to add it.
function fitting(form, tags = []) {
  form.querySelector('.offered')?.replaceChildren(
    ...tags.map((tag) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = '#' + tag;
      button.onclick = () => {
        const text = drafting(form);
        text.value = text.value.trimEnd() + ' #' + tag;
        button.remove();
        text.focus();
        stir(form);
      };
      return button;
    }),
  );
}

// has notes which draft the form has, none by default. A page that was left has no fields.
function has(form, saved = '') {
  if (form.elements.saved) form.elements.saved.value = saved;
}

// replaces shows below a text the draft of another device that it is about to replace. It can be
// copied from there until the page is left.
function replaces(form, body) {
  const label = (form.other ??= document.createElement('label'));
  const other = document.createElement('textarea');
  label.className = 'newer';
  label.textContent = texts.replaced;
  other.rows = 4;
  other.readOnly = true;
  other.defaultValue = body;
  label.append(other);
  drafting(form).after(label);
}

// recall fetches the draft of a form before the first letter is kept, and puts it in. It
// reports whether it could.
async function recall(form) {
  const text = drafting(form);
  if ((form.fetched ??= 'filled' in form.dataset) || !document.body.dataset.viewer) return true;
  const reply = await fetch('/drafts?place=' + encodeURIComponent(form.elements.draft.value), { headers: { Accept: 'application/json' } }).catch(() => null);
  const draft = reply?.ok ? await reply.json().catch(() => null) : null;
  if (!draft || form.fetched) return form.fetched;
  form.fetched = true;
  has(form, draft.saved);
  const { value } = text;
  if (draft.uploads?.length) form.dispatchEvent(new CustomEvent('recall', { bubbles: true, detail: draft.uploads }));
  if (!draft.body) delete localStorage[mark(form)];
  if (!draft.body || draft.body === value) return true;
  if (value && value !== form.filled) {
    // Something was written meanwhile: both stay.
    const caret = text.selectionStart + draft.body.length + 1;
    text.value = `${draft.body}\n${value}`;
    if (document.activeElement === text) text.setSelectionRange(caret, caret);
    stir(form);
    return true;
  }
  text.value = form.filled = draft.body;
  const to = [...form.elements].filter((field) => field.name === 'to');
  const boxes = to.filter((field) => field.type === 'checkbox');
  for (const box of boxes) box.checked = draft.to?.includes(box.value);
  for (const field of to) {
    if (boxes.includes(field)) continue;
    field.value = (draft.to ?? []).filter((name) => !boxes.some((box) => box.value === name)).join(' ');
    if (field.value && field.closest('details')) field.closest('details').open = true;
  }
  if (form.elements.language) form.elements.language.value = draft.language;
  const box = form.closest('.box details:not([open])');
  if (box) box.firstElementChild.dataset.draft = texts.draft;
  note(form);
  return true;
}

// A browser remembers for which places it kept drafts, so that a page shows them from the start.
const mark = (form) => `draft ${document.body.dataset.viewer} ${form.elements.draft?.value}`;
for (const form of document.forms) if (drafting(form) && mark(form) in localStorage) recall(form);

// The draft is fetched when somebody begins to write, and again when they come back to a form
// that shows what the server had: another device may have gone on with it.
addEventListener('focusin', ({ target }) => {
  const { form } = target;
  const text = drafting(form);
  if (!text || form.stirred || form.keeping || form.ariaBusy) return;
  if (target === text && text.value === (form.filled ?? '')) form.fetched = undefined;
  recall(form);
});
if (drafting(document.activeElement.form)) recall(document.activeElement.form);

// note says below a text that it is kept, with a button that discards it.
function note(form) {
  if (form.noted?.isConnected || !drafting(form)?.value) return;
  localStorage[mark(form)] = 1;
  const line = (form.noted = document.createElement('p'));
  const said = document.createElement('span');
  const button = document.createElement('button');
  line.className = 'kept';
  said.role = 'status';
  button.type = 'button';
  button.textContent = texts.discard;
  button.onclick = async () => {
    await settleDraft(form);
    const reply = await post('/drafts/discard', new URLSearchParams(new FormData(form)), '');
    if (!reply?.ok) return;
    drafting(form).value = '';
    emptied(form);
    drafting(form).focus();
  };
  line.append(said, ' ', button);
  drafting(form).after(line);
  said.textContent = texts.kept;
}

// emptied notes that the form has no draft any more.
function emptied(form) {
  delete localStorage[mark(form)];
  form.noted?.remove();
  fitting(form);
  form.querySelector('.tiles')?.remove();
  form.filled = drafting(form)?.defaultValue;
  has(form);
  form.fetched = true;
}

// sent empties a form that was accepted, and gives it a new key. Text that was written into
// it meanwhile stays.
function sent(form, text) {
  if (!text) return;
  const key = form.elements.namedItem('key');
  if (text.value !== form.sending) {
    if (key) key.value = newKey();
    if (drafting(form)) stir(form);
    return;
  }
  form.reset();
  text.defaultValue = text.value = '';
  if (drafting(form)) emptied(form);
  audience(form);
  if (key) key.value = newKey();
  const box = form.closest('.box details');
  if (box) {
    box.open = false;
    box.closest('.entry').querySelector('.acts .talk')?.focus({ preventScroll: true });
  } else {
    fold(form);
  }
}

function newKey() {
  const random = crypto.getRandomValues(new Uint8Array(15));
  return btoa(String.fromCharCode(...random)).replaceAll('+', '-').replaceAll('/', '_');
}

// complain shows the error of a form beside it; the text stays. A form that is only a button
// has no room, so its error stands below the row of buttons.
function complain(form, text, name, login) {
  form.said?.remove();
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  if (!text) return;
  const said = document.createElement('p');
  said.className = 'wrong';
  said.dataset.said = '';
  said.role = 'alert';
  said.textContent = text;
  if (login) {
    const link = document.createElement('a');
    link.href = '/login?back=' + encodeURIComponent(location.pathname + location.search);
    link.textContent = texts.login;
    said.append(' ', link);
  }
  const field = name && form.querySelector(`[name="${CSS.escape(name)}"]:not([type=hidden], [type=checkbox])`);
  field?.setAttribute('aria-invalid', 'true');
  form.said = said;
  const last = form.querySelector('textarea') ? form.lastElementChild : (form.closest('.comment') ?? form.parentElement)?.lastElementChild;
  const acts = form.closest('.entry > .acts');
  (field && field.matches('textarea') ? field : (acts ?? last))?.after(said);
  field?.focus();
}

// Times ---------------------------------------------------------------------------

// times words instants in the reader's time zone: "5 min", or the date.
const wording = (form) => new Intl.DateTimeFormat(texts.dates, form).format;
const exact = wording({ dateStyle: 'medium', timeStyle: 'short' });
const day = wording({ day: 'numeric', month: 'short' });

function times(within) {
  const now = new Date();
  for (const time of within?.querySelectorAll('time') ?? []) {
    const at = new Date(time.dateTime);
    const minutes = ((now - at) / 60000) | 0;
    let text;
    if (minutes < 1) text = texts.now;
    else if (minutes < 60) text = texts.minutes.replace('{n}', minutes);
    else if (minutes < 1440) text = texts.hours.replace('{n}', (minutes / 60) | 0);
    else text = at.getFullYear() === now.getFullYear() ? day(at) : exact(at).split(',')[0];
    time.title = exact(at);
    if (time.textContent !== text) time.textContent = text;
  }
}

// The socket ------------------------------------------------------------------------

let socket = null;
let tries = 0; // since the last answer
let timer = 0;
let over = false; // the server said not to come back
let heard = 0; // when the server last said anything; it does so every 18 seconds

function send(frame) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}

function connect() {
  clearTimeout(timer);
  if (over || (socket && socket.readyState <= WebSocket.OPEN)) return;
  heard = Date.now();
  const address = new URL('/ws', location);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const mine = (socket = new WebSocket(address));
  mine.onopen = () => {
    if (spoke && Date.now() - spoke > longAway) known ??= new Map(entries().map((entry) => [entry.dataset.post, looks(entry)]));
    subscribe();
  };
  mine.onmessage = (event) => {
    if (mine !== socket) return;
    heard = spoke = Date.now();
    queue.push(JSON.parse(event.data));
    receive();
  };
  mine.onclose = (event) => {
    if (mine === socket) closed(event);
  };
}

// check finds a connection that died without a close, as after a sleep.
function check() {
  if (socket && Date.now() - heard > 60000) {
    const dead = socket;
    closed({ code: 1006 });
    dead.close();
  }
}

// The line above the page that says there is no connection. It comes after a second, because
// a server that restarts is back sooner.
const lost = document.createElement('p');
let losing = 0;

function lose() {
  losing ||= setTimeout(() => {
    lost.textContent = texts.lost;
  }, 1000);
}

function found() {
  clearTimeout(losing);
  losing = 0;
  lost.textContent = '';
}

function closed({ code, reason }) {
  socket = null;
  clearTimeout(timer);
  document.documentElement.dataset.live = '0';
  lose();
  switch (code) {
    case 4001: // signed out, or as somebody else
    case 4004: // no such page any more
      over = true;
      found();
      leave(code);
      return;
    case 4002: // we speak wrongly: trying again would not help
      over = true;
      found();
      console.error('river.js:', reason);
      return;
    case 4000: // the server goes and comes back: everybody at another moment
      tries = 0;
      timer = setTimeout(connect, Math.min(Number(reason) || 0, 30000) + Math.random() * 500);
      return;
    case 4008:
      timer = setTimeout(connect, 30000 + Math.random() * 30000);
      return;
  }
  // A try that nobody answers costs the server nothing, so the pauses stay short. They are of any length
  // up to the longest, so that everybody comes at another moment after the server was away.
  timer = setTimeout(connect, Math.random() * Math.min(500 * 2 ** tries++, 5000));
}

let left = false; // the page is not the reader's any more

// How often in a row this tab has loaded the page again because it closed. A page that opens
// and closes all the time, or that is closed for the socket but not for a request, is loaded
// less and less often.
const leaving = `left ${location.pathname}`;

function leaves() {
  try {
    const { at, times } = JSON.parse(sessionStorage.getItem(leaving) ?? '{}');
    return Date.now() - at < 120000 ? times : 0;
  } catch {
    return undefined; // nothing is kept here
  }
}

// look loads the page again, which shows the present state.
function look() {
  try {
    sessionStorage.setItem(leaving, JSON.stringify({ at: Date.now(), times: leaves() + 1 }));
  } catch {
    // the browser keeps nothing for this site
  }
  location.reload();
}

// leave loads the page again, at once if it was not loaded lately, otherwise in a moment.
// Half-typed text is not lost: while there is any, it alone stays of the page.
function leave(code) {
  const times = leaves() ?? 1;
  if (!written(document) && !times) {
    look();
    return;
  }
  left = true;
  for (const form of unsent.keys()) giveUp(form);
  owed = null;
  queue.length = 0;
  toast.replaceChildren();
  retabs++;
  for (const entry of entries()) takeOff(entry);
  hiding.clear();
  clear();
  river.dataset.more = '0';
  const note = document.createElement('p');
  note.className = 'note';
  note.role = 'status';
  const link = document.createElement('a');
  link.href = location.pathname + location.search;
  link.textContent = texts.ended;
  note.append(link);
  const main = document.getElementById('main');
  main.prepend(note);
  for (const said of document.querySelectorAll('.side section, .heading')) said.remove();
  // A text in a sheet that nothing can open any more stands in the page.
  for (const composer of document.querySelectorAll('.composer')) {
    if (composer.matches(':popover-open')) composer.hidePopover();
    composer.removeAttribute('popover');
    composer.classList.add('open');
  }
  const texting = [...document.querySelectorAll('textarea')].filter((text) => text.value !== text.defaultValue);
  // The reader sees by the site's header whose page it was.
  if (code === 4001) strip(document.body, [main, document.querySelector('.site .mark')]);
  strip(main, [note, river, ...texting]);
  document.title = document.body.dataset.site;
  unhead();
  // If the browser keeps nothing, the page cannot know how often it was loaded.
  if (leaves() !== undefined) attend(Math.min(2000 * 1.5 ** times, 60000), answers, look);
}

// strip removes everything in an element but the kept elements and what encloses them.
function strip(element, kept) {
  for (const child of [...element.childNodes]) {
    if (kept.includes(child)) continue;
    if (kept.some((keep) => child.contains(keep))) strip(child, kept);
    else child.remove();
  }
}

// A closed page ---------------------------------------------------------------------

// attend checks now and then, while the tab is visible and no text is being written, whether
// it is time to load the page again.
function attend(first, come, load) {
  let turns = 0;
  const ask = async () => {
    const mine = ++turns;
    let wait = first;
    while (mine === turns && !document.hidden) {
      await new Promise((done) => setTimeout(done, wait * (0.5 + Math.random())));
      if (mine !== turns || document.hidden) return;
      wait = written(document) ? first : Math.min(1.5 * wait, 60000);
      if (!written(document) && (await come()) && mine === turns && !written(document)) {
        load();
        return;
      }
    }
  };
  document.addEventListener('visibilitychange', ask);
  addEventListener('online', ask);
  addEventListener('pageshow', ask);
  ask();
}

// opened reports whether a page that was closed to its reader is open now. A closed page has
// no river, and so no socket.
async function opened() {
  const request = { method: 'HEAD', headers: { Accept: 'application/json' } };
  const reply = await fetch(location.pathname + location.search, request).catch(() => null);
  return reply?.ok;
}

// The server answers the same for a page that closed as for one that never existed. Only the
// tab knows that it showed the page.
const problem = document.querySelector('.problem');
const missing = problem && !problem.querySelector('textarea');
if (document.querySelector('[data-closed]') || (missing && leaves())) attend(3000, opened, () => location.reload());

// Work under way --------------------------------------------------------------------

// A part of a page that says so is fetched again until it says so no more. It brings others that
// change with it. A part that is being used stays as it is until the next time.
async function follow(wait = 1000) {
  const at = document.querySelector('[data-again]');
  if (!at) return;
  await new Promise((done) => setTimeout(done, wait));
  const reply = document.hidden || (await fetch(at.dataset.again, { headers: { 'X-River-Page': '1' } }).catch(() => null));
  if (reply?.redirected || reply?.status === 404) return;
  for (const fresh of reply?.ok ? [...parse(await reply.text()).children] : []) {
    const part = document.getElementById(fresh.id);
    if (!part?.matches(':focus-within, :active')) part?.replaceWith(fresh);
  }
  follow(reply ? 1000 : Math.min(2 * wait, 60000));
}
follow();

if (river) {
  // This module keeps the reader's place, so the browser must not do it as well.
  document.documentElement.style.overflowAnchor = 'none';
  if (news) {
    const bar = document.createElement('button');
    bar.type = 'button';
    bar.onclick = () => {
      document.activeElement?.blur();
      getSelection()?.removeAllRanges();
      showNews();
    };
    news.append(bar);
  }
  addEventListener('scroll', beenAtTop, { passive: true });
  addEventListener('focusout', () => setTimeout(clear));
  lost.className = 'lost';
  lost.role = 'status';
  away.className = 'away';
  away.role = 'status';
  toast.className = 'acted';
  toast.role = 'status';
  document.body.append(lost, away, toast);
  addEventListener('offline', lose);
  addEventListener('online', () => {
    // The connection may have survived; then the server answers a subscribe.
    if (socket?.readyState === WebSocket.OPEN) subscribe();
    else connect();
  });
  addEventListener('pageshow', connect);
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    check();
    connect();
  });
  setInterval(check, 15000);
  setInterval(() => times(river), 30000);
  times(river);
  // The page may come from the browser's cache, or be open in two tabs.
  for (const key of document.querySelectorAll('[name=key][value^="~"]')) key.value = newKey();
  connect();
}
