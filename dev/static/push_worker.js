// Shows a push as a notification, and sends it to the pages of /dev/.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  const payload = read(event.data);
  event.waitUntil(Promise.all([tell(payload), show(payload)]));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { token } = event.notification.data ?? {};
  event.waitUntil(event.action && token ? answer(token, event.action) : self.clients.openWindow("/dev/push"));
});

function read(data) {
  try {
    return data.json();
  } catch {
    return { title: "(unreadable)", body: data ? data.text() : "" };
  }
}

async function tell(payload) {
  const pages = await self.clients.matchAll({ includeUncontrolled: true, type: "window" });
  for (const page of pages) page.postMessage({ at: new Date().toISOString(), payload });
}

// Without the permission the browser refuses the notification. The page gets the push anyway.
async function show(payload) {
  try {
    const { body, url, token, actions } = payload;
    await self.registration.showNotification(payload.title, { body, data: { url, token }, actions });
  } catch {
    // the page shows the push
  }
}

// A button of the notification answers the reminder without a login. The pages get the response.
async function answer(token, status) {
  const response = await fetch(`/api/konfirmasi/${token}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ status }),
  });
  await tell({ title: `answered: ${status}`, body: await response.text() });
}
