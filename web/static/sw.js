// sw.js is the service worker: it makes the site one that can be installed, and shows what is new
// when a push says that something is. The push carries nothing. The worker shows the site's
// answer to this browser's session at that moment; without an answer it says only that something
// is new, since a browser must show something.

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

addEventListener('push', (event) => event.waitUntil(tell()));

async function tell() {
  const tabs = await clients.matchAll({ type: 'window' });
  if (tabs.some((tab) => tab.focused)) return; // it is on the screen
  const reply = await fetch('/push/news', { headers: { Accept: 'application/json' } }).catch(() => null);
  const news = reply?.ok ? await reply.json().catch(() => null) : null;
  if (news) await (news.unread ? navigator.setAppBadge?.(news.unread) : navigator.clearAppBadge?.())?.catch(() => null);
  if (news && !news.unread) return; // read in the meantime
  const { title = 'riverrun', body = '', url = '/filter/notifications', icon = '/static/icon-192.png' } = news ?? {};
  await registration.showNotification(title, { body, icon, badge: icon, tag: 'news', renotify: true, data: { url } });
}

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});

async function open(url) {
  // Another page may hold half-written text, so it is not led away.
  const there = new URL(url, location).href;
  const tab = (await clients.matchAll({ type: 'window' })).find((open) => open.url === there);
  return tab ? tab.focus() : clients.openWindow(url);
}
