const at = (id) => document.getElementById(id);
const say = (id, text) => { at(id).textContent = text; };
let token = null;
let userId = null;

async function api(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const answer = await fetch(`/api${path}`, { method, headers, body: body && JSON.stringify(body) });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.message);
  return found;
}

function bytes(base64url) {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

async function registration() {
  if (!("serviceWorker" in navigator)) throw new Error("this browser has no service workers");
  await navigator.serviceWorker.register("/dev/push-worker.js", { scope: "/dev/" });
  return navigator.serviceWorker.ready;
}

async function look() {
  try {
    const worker = await registration();
    say("worker", worker.active ? `${worker.active.state}, scope ${worker.scope}` : "starting");
    say("permission", Notification.permission);
    const subscription = await worker.pushManager.getSubscription();
    say("subscription", subscription ? subscription.endpoint : "none");
  } catch (error) {
    say("worker", String(error.message ?? error));
  }
}

async function subscribe(form) {
  say("step", "logging in");
  token = null;
  const tokens = await api("POST", "/login", { username: form.username.value, password: form.password.value });
  token = tokens.access_token;
  userId = Number(JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).sub);
  say("step", "asking for the permission");
  if (await Notification.requestPermission() !== "granted") throw new Error("the permission was not given");
  say("step", "asking the browser's push service");
  const worker = await registration();
  const { public_key: key } = await api("GET", "/push/public-key");
  const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
  say("step", "sending the subscription to our service");
  await api("POST", "/push/subscribe", subscription.toJSON());
  say("step", "subscribed");
}

async function unsubscribe() {
  const subscription = await (await registration()).pushManager.getSubscription();
  if (!subscription) throw new Error("there is no subscription");
  await api("DELETE", "/push/subscribe", { endpoint: subscription.endpoint });
  await subscription.unsubscribe();
  say("step", "unsubscribed");
}

async function send() {
  if (userId === null) throw new Error("log in first");
  const payload = { title: "Halo", body: `Sent from this page at ${new Date().toLocaleTimeString()}`, url: "/" };
  const { queued } = await api("POST", "/push/send", { user_id: userId, payload });
  say("step", `queued ${queued} pushes`);
}

function attempt(work) {
  return async (event) => {
    event.preventDefault();
    try {
      await work(event.target);
    } catch (error) {
      say("step", `failed: ${error.message ?? error}`);
    }
    await look();
  };
}

at("login").addEventListener("submit", attempt(subscribe));
at("unsubscribe").addEventListener("click", attempt(unsubscribe));
at("send").addEventListener("click", attempt(send));
navigator.serviceWorker?.addEventListener("message", ({ data }) => {
  const row = document.createElement("li");
  const title = document.createElement("strong");
  title.textContent = data.payload.title ?? "";
  row.append(title, ` ${data.payload.body ?? ""} `, Object.assign(document.createElement("small"), { textContent: data.at }));
  at("received").prepend(row);
});
look();
