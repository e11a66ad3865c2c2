// REST calls and the session. Only the refresh token is stored, in this tab's `sessionStorage`, so that a reload keeps
// the session. The token is deleted at logout, when the service refuses it, and after 30 minutes without user input.

const STORED = "console.refresh_token";
const ANSWER_MS = 15000; // maximum wait until a response begins
const FILE_MS = 120000; // longer, because the service creates the report first
const IDLE_MS = 30 * 60 * 1000;
const CHECK_MS = 15000;

let refreshToken = sessionStorage.getItem(STORED);
let accessToken = null;
let refreshing = null; // the running refresh, shared by all calls
let active = Date.now();
let ended = () => {};

for (const each of ["pointerdown", "wheel", "keydown"]) addEventListener(each, note, { capture: true, passive: true });
setInterval(isIdle, CHECK_MS);

function note() {
  if (!isIdle()) active = Date.now();
}

// Ends an idle session. Each call checks too, because timers stop while a computer sleeps.
function isIdle() {
  if (refreshToken === null || Date.now() - active < IDLE_MS) return false;
  call("POST", "/logout", undefined, accessToken).catch(() => {}); // the token may have expired
  end("Anda sudah keluar, karena 30 menit tidak ada kegiatan.");
  return true;
}

// Sets the function that runs when the session ends. Its argument is the reason as a sentence.
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

// Refreshes the access token, after a reload or when it has expired.
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

// Returns a file with the name from the service.
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
    clearTimeout(timer); // the limit applies only until the response begins
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
