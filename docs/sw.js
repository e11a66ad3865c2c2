const API = new URL(self.location.href).searchParams.get("api");
const ANSWER_MS = 30_000;
const BUTTONS = { done: { status: "done" }, snooze: { status: "snooze", minutes: 30 } };
const SAID = { done: "Sudah dicatat. Terima kasih.", snooze: "Kami ingatkan lagi 30 menit lagi." };

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

let showing = Promise.resolve(); // two pushes at once name both doses

self.addEventListener("push", (event) => {
  const pushed = read(event.data);
  showing = showing.then(() => show(pushed), () => show(pushed));
  event.waitUntil(showing);
});

function read(data) {
  const unreadable = { title: "Pengingat", body: "Buka aplikasi untuk melihatnya." };
  try {
    return { ...unreadable, ...data.json() };
  } catch {
    return unreadable;
  }
}

/** Show a push. Pushes with the same token share one notification. */
async function show({ title, body, url, actions = [], token }) {
  const [shown] = token ? await self.registration.getNotifications({ tag: token }) : [];
  const others = (shown?.data?.bodies ?? []).filter((each) => !body.startsWith(each) && !each.startsWith(body));
  const bodies = [...others, body];
  const named = bodies.length > 1 ? `${bodies.length} pengingat` : title;
  await self.registration.showNotification(named, {
    body: bodies.join("\n"), actions, data: { title: named, bodies, url, actions, token },
    ...(token && { tag: token, renotify: true }), // a repeated push sounds again
  });
}

self.addEventListener("notificationclick", (event) => {
  const { action, notification } = event;
  notification.close();
  const work = BUTTONS[action] ? answer(action, notification.data) : open(notification.data.url);
  event.waitUntil(work);
});

async function answer(action, shown) {
  let text = SAID[action];
  try {
    const response = await fetch(`${API}/konfirmasi/${shown.token}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(BUTTONS[action]),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.status === 429 || response.status >= 500) throw new Error("not now");
    if (!response.ok) text = (await response.json()).message;
  } catch {
    // Show the notification again, so that its buttons can be pressed again.
    await self.registration.showNotification(shown.title, { body: `Belum terkirim. ${shown.bodies.join("\n")}`, actions: shown.actions, tag: shown.token, data: shown });
    return;
  }
  await self.registration.showNotification(shown.title, { body: text, tag: shown.token, data: { url: shown.url } });
}

/** Open an address of this site in the open page, or in a new one. */
async function open(url = "./") {
  const address = new URL(url, self.registration.scope);
  const target = address.origin === self.location.origin ? address.href : self.registration.scope;
  const [page] = await self.clients.matchAll({ type: "window" });
  if (!page) return self.clients.openWindow(target);
  await page.focus();
  const { port1, port2 } = new MessageChannel();
  const isHeard = new Promise((resolve) => {
    port1.onmessage = () => resolve(true);
    setTimeout(resolve, 1000, false);
  });
  page.postMessage({ open: target }, [port2]);
  return (await isHeard) || page.navigate(target);
}
