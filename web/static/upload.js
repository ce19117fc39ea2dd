// upload.js sends files as soon as they are chosen, pasted or dropped, while the text is still
// being written. Each becomes a tile of its form, which brings the code of the file. Without
// this module a form sends its files itself.

const { viewer } = document.body.dataset;
const texts = window.texts.files;
const fill = (text, name) => text.replace('{name}', name);

// busy has the uploads under way, by form. A form that is submitted meanwhile is sent when
// none is left.
const busy = new Map();
const waiting = new Map(); // with the button that was pressed

const el = (name, props) => Object.assign(document.createElement(name), props);

// changed tells the form's draft that there is something to keep.
const changed = (form) => form.elements.body?.dispatchEvent(new Event('input', { bubbles: true }));

function tilesOf(form) {
  let tiles = form.querySelector('.tiles');
  if (!tiles) {
    tiles = el('div', { className: 'tiles' });
    form.querySelector('.audience, .send').before(tiles);
  }
  return tiles;
}

async function add(form, list) {
  let last = busy.get(form) ?? Promise.resolve();
  for (const file of list) {
    const tile = show(form, file);
    const before = last;
    last = before.then(() => (tile.isConnected ? upload(file, tile) : null));
  }
  busy.set(form, last);
  await last;
  if (busy.get(form) !== last) return;
  busy.delete(form);
  const button = waiting.get(form);
  if (waiting.delete(form) && form.isConnected && !form.querySelector('.tile.wrong')) form.requestSubmit(button);
}

// show puts the tile of a file into its form: what it looks like, its name, how far it is.
function show(form, file) {
  const tile = el('div', { className: 'tile' });
  const progress = el('progress', { max: 1, value: 0, ariaLabel: fill(texts.uploading, file.name) });
  const remove = el('button', { type: 'button', className: 'tool', ariaLabel: fill(texts.remove, file.name) });
  remove.append(el('i', { className: 'i i-x' }));
  remove.addEventListener('click', () => {
    const { code } = tile.dataset;
    tile.request?.abort();
    tile.remove();
    form.querySelector('.attach input').focus();
    changed(form);
    if (code) fetch(`/files/${code}/discard`, { method: 'POST', body: new URLSearchParams({ viewer }), headers: { Accept: 'application/json' } }).catch(() => null);
  });
  tile.append(el('i', { className: 'i i-file' }), el('span', { className: 'name', textContent: file.name }), progress, remove);
  tilesOf(form).append(tile);
  preview(file, tile);
  return tile;
}

async function preview(file, tile) {
  if (!/^image\/(jpeg|png|gif|webp)$/.test(file.type)) return;
  // Its room is there at once, so that no button moves when it can be shown.
  const canvas = el('canvas', { ariaHidden: 'true' });
  tile.prepend(canvas);
  tile.classList.add('picture');
  const drawn = await createImageBitmap(file, { resizeWidth: 320, resizeQuality: 'medium' }).catch(() => null);
  if (!drawn) {
    canvas.remove();
    tile.classList.remove('picture');
    return;
  }
  Object.assign(canvas, { width: drawn.width, height: drawn.height });
  canvas.getContext('2d').drawImage(drawn, 0, 0);
}

function upload(file, tile) {
  const body = new FormData();
  body.append('viewer', viewer);
  body.append('file', file, file.name || 'picture.png');
  const request = (tile.request = new XMLHttpRequest());
  const progress = tile.querySelector('progress');
  request.upload.addEventListener('progress', (event) => {
    if (event.lengthComputable) progress.value = event.loaded / event.total;
  });
  return new Promise((done) => {
    request.addEventListener('loadend', () => {
      tile.request = null;
      if (tile.isConnected) arrive(request, file, tile);
      done();
    });
    request.open('POST', '/files');
    request.setRequestHeader('Accept', 'application/json');
    request.send(body);
  });
}

// arrive makes the tile of a file that was uploaded one of its form's fields.
function arrive(request, file, tile) {
  let answer = null;
  try {
    answer = JSON.parse(request.responseText);
  } catch {} // a gateway's page
  const [made] = Array.isArray(answer) ? answer : [];
  if (request.status !== 200 || !made) {
    tile.querySelector('progress').remove();
    tile.classList.add('wrong');
    tile.append(el('p', { role: 'alert', textContent: answer?.error ?? fill(texts.unsent, file.name) }));
    return;
  }
  keep(tile, made);
  changed(tile.closest('form'));
}

function keep(tile, made) {
  tile.querySelector('progress').remove();
  tile.dataset.code = made.code;
  tile.append(el('input', { type: 'hidden', name: 'upload', value: made.code }));
  if (made.state !== 'download') {
    tile.append(el('input', { name: `alt.${made.code}`, value: made.alt ?? '', maxLength: 1000, placeholder: texts.alt, ariaLabel: fill(texts.altOf, made.name) }));
  }
}

// recall shows the files of a draft, which were uploaded before, perhaps by another device.
addEventListener('recall', async ({ target: form, detail }) => {
  const fresh = detail.filter((code) => !form.querySelector(`[name=upload][value="${CSS.escape(code)}"]`));
  const fields = fresh.map((code) => el('input', { type: 'hidden', name: 'upload', value: code }));
  tilesOf(form).append(...fields); // a draft that is kept now has them too
  for (const held of fields) {
    const code = held.value;
    const reply = await fetch(`/files/${code}/state`, { headers: { Accept: 'application/json' } }).catch(() => null);
    const made = reply?.ok ? await reply.json().catch(() => null) : null;
    if (!made && reply?.status !== 404) continue; // it may be there
    held.remove();
    if (!made) continue; // it was thrown away
    const tile = show(form, { name: made.name });
    if (made.state === 'picture') {
      tile.prepend(el('img', { src: `/files/${code}/${made.thumb}`, alt: '' }));
      tile.classList.add('picture');
    }
    keep(tile, made);
  }
});

addEventListener('change', ({ target }) => {
  if (!target.matches?.('.attach input')) return;
  add(target.form, [...target.files]);
  target.value = '';
});

addEventListener('paste', (event) => {
  const form = event.target.form;
  const list = [...(event.clipboardData?.files ?? [])];
  if (!list.length || !form?.querySelector('.attach') || event.clipboardData.types.includes('text/plain')) return;
  event.preventDefault();
  add(form, list);
});

// A file that is dropped beside the forms goes to the composer: the browser would open it, and
// what is half written would be gone.
const under = (event) => {
  const near = event.target.closest?.('form.write, .composer, .box');
  return (near?.matches('form') ? near : near?.querySelector('form.write')) ?? document.getElementById('compose');
};
for (const kind of ['dragover', 'drop', 'dragleave']) {
  addEventListener(kind, (event) => {
    const form = event.dataTransfer?.types.includes('Files') && under(event);
    if (!form?.querySelector('.attach')) return;
    event.preventDefault();
    form.classList.toggle('dropping', kind === 'dragover');
    if (kind === 'drop') add(form, [...event.dataTransfer.files]);
  });
}

addEventListener('submit', (event) => {
  if (!busy.has(event.target)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  waiting.set(event.target, event.submitter);
}, { capture: true });

// A picture that is being made: the page is loaded again when it can be fetched.
async function reloadWhenMade(note) {
  for (let n = 0; n < 60; n++) {
    await new Promise((done) => setTimeout(done, 1000));
    const reply = await fetch(note.dataset.await, { method: 'HEAD' }).catch(() => null);
    if (!reply?.ok) continue;
    const address = new URL(location);
    address.searchParams.delete('picture');
    location.replace(address);
    return;
  }
}
const note = document.querySelector('[data-await]');
if (note) reloadWhenMade(note);
