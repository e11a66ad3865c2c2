// The REST API and the session. Only the refresh token is stored, in this tab's `sessionStorage`, so that a reload keeps
// the session. It is dropped at a logout, when the service refuses it, and after 30 minutes without a key, a tap or a scroll.

const STORED = "console.refresh_token";
const ANSWER_MS = 15000; // an answer that has not begun by then does not come
const FILE_MS = 120000; // a report is made first
const IDLE_MS = 30 * 60 * 1000;
const CHECK_MS = 15000;

let refreshToken = sessionStorage.getItem(STORED);
let accessToken = null;
let refreshing = null; // one refresh for all calls that wait for it
let active = Date.now();
let ended = () => {};

for (const each of ["pointerdown", "wheel", "keydown"]) addEventListener(each, note, { capture: true, passive: true });
setInterval(isIdle, CHECK_MS);

function note() {
  if (!isIdle()) active = Date.now();
}

// A computer that slept ran no timer, so calls ask too.
function isIdle() {
  if (refreshToken === null || Date.now() - active < IDLE_MS) return false;
  call("POST", "/logout", undefined, accessToken).catch(() => {}); // the token may be over already
  end("Anda sudah keluar, karena 30 menit tidak ada kegiatan.");
  return true;
}

// What the page does when the session is over, with the sentence that says why.
export function onEnd(work) {
  ended = work;
}

export const isStored = () => refreshToken !== null;

export async function logIn(body) {
  const tokens = await call("POST", "/login", body);
  accessToken = tokens.access_token;
  refreshToken = tokens.refresh_token;
  sessionStorage.setItem(STORED, refreshToken);
  active = Date.now();
}

export async function logOut(text = "") {
  try {
    await api("POST", "/logout");
  } finally {
    if (isStored()) end(text);
  }
}

function end(text) {
  sessionStorage.removeItem(STORED);
  refreshToken = accessToken = null;
  ended(text);
}

// After a reload, and when an access token is over.
export function resume() {
  refreshing ??= call("POST", "/refresh", { refresh_token: refreshToken })
    .then((answer) => { accessToken = answer.access_token; })
    .catch((error) => {
      if (error.status === 401 && isStored()) end("Sesi Anda telah berakhir. Silakan masuk kembali.");
      throw error;
    })
    .finally(() => { refreshing = null; });
  return refreshing;
}

export async function api(method, path, body) {
  return (await answer(method, path, body)).body;
}

export async function list(path, query) {
  const { body, headers } = await answer("GET", `${path}?${new URLSearchParams(query)}`);
  const total = headers.get("X-Total-Count");
  return { rows: body, total: total === null ? null : Number(total) };
}

// A file, with the name that the service gives it.
export async function file(path) {
  const { body, headers } = await answer("GET", path, undefined, FILE_MS);
  const [, name] = /filename="?([^";]+)/.exec(headers.get("Content-Disposition") ?? "") ?? [];
  return { body, name };
}

async function answer(method, path, body, patience) {
  if (isIdle()) throw failed("Silakan masuk kembali.", 401);
  const used = accessToken;
  try {
    return await request(method, path, body, used, patience);
  } catch (error) {
    if (error.status !== 401 || !isStored()) throw error;
    if (accessToken === used) await resume();
    return request(method, path, body, accessToken, patience);
  }
}

const call = async (...sent) => (await request(...sent)).body;

async function request(method, path, body, token, patience = ANSWER_MS) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), patience);
  const options = { method, headers, signal: late.signal, body: body === undefined ? undefined : JSON.stringify(body) };
  let response, read;
  try {
    response = await fetch(`/api${path}`, { ...options, credentials: "omit", cache: "no-store" });
    clearTimeout(timer); // what has begun to arrive, arrives
    const type = response.headers.get("Content-Type") ?? "";
    read = response.status === 204 ? null : await (type.includes("json") ? response.json() : response.blob());
  } catch {
    throw failed("Layanan tidak dapat dihubungi. Periksa jaringan Anda.", 0);
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return { body: read, headers: response.headers };
  const details = Object.values(read?.errors ?? {}).flat().join(" ");
  const text = [read?.message ?? `Layanan menjawab ${response.status}.`, details].join(" ").trim();
  throw failed(text, response.status, read?.error);
}

function failed(text, status, code) {
  return Object.assign(new Error(text), { status, code });
}
