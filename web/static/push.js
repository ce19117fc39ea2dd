// push.js turns the pushes to this browser on and off, on the page of settings.

const box = document.querySelector('[data-push]');
const { viewer } = document.body.dataset;
const state = box?.querySelector('[role=status]');
const button = box?.querySelector('button');

const post = (address, fields) =>
  fetch(address, { method: 'POST', body: new URLSearchParams({ viewer, ...fields }), headers: { Accept: 'application/json' } });

function show(name) {
  state.textContent = box.dataset[name];
  button.hidden = !['on', 'off'].includes(name);
  button.textContent = name === 'on' ? box.dataset.stop : box.dataset.start;
  box.dataset.state = name;
}

async function begin() {
  if (!isSecureContext || !('PushManager' in window)) return show('none');
  const worker = await navigator.serviceWorker.register('/sw.js');
  const now = await worker.pushManager.getSubscription();
  if (Notification.permission === 'denied') return show('denied');
  show(now && (await known(now)) ? 'on' : 'off');
  button.addEventListener('click', async () => {
    button.disabled = true;
    await (box.dataset.state === 'on' ? stop(worker) : start(worker)).catch(() => show('failed'));
    button.disabled = false;
  });
}

// The subscription may be of a session that has ended, or of somebody else who used this browser.
async function known({ endpoint }) {
  const reply = await post('/push/state', { endpoint });
  return reply.ok && (await reply.json()).on;
}

async function start(worker) {
  if ((await Notification.requestPermission()) !== 'granted') return show('denied');
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: box.dataset.push });
  const { endpoint, keys } = made.toJSON();
  const reply = await post('/push', { endpoint, ...keys });
  if (reply.ok) return show('on');
  await made.unsubscribe();
  show('failed');
}

async function stop(worker) {
  const now = await worker.pushManager.getSubscription();
  if (now) {
    await post('/push/remove', { endpoint: now.endpoint });
    await now.unsubscribe();
  }
  show('off');
}

if (box) begin().catch(() => show('failed'));
