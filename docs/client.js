const REPEATS = 4; // after the first try
const LONGEST_WAIT_S = 30; // a longer `Retry-After` is an error
const ANSWER_MS = 30_000; // until a response begins
const WORTH_REPEATING = new Set([0, 408, 425, 429, 502, 503, 504]); // 0: no response
const OFFLINE_MS = 120_000; // an answer that is sent later was given offline
const LOG = "/log/user-log";
const MAX_LOGS = 500; // log records that wait

/** An error of the service, or no response (`status` 0). `code` is for programs, `message` for people. */
export class ApiError extends Error {
  /** @type {number} */ status;
  /** @type {string | undefined} */ code;
  /** @type {Record<string, string[]>} */ errors; // sentences by field
  /** @type {number | undefined} */ retryAfter; // seconds

  constructor(status, answer, retryAfter) {
    super(answer?.message ?? "Layanan tidak dapat dihubungi. Periksa jaringan Anda.");
    Object.assign(this, { status, code: answer?.error, errors: answer?.errors ?? {}, retryAfter });
  }
}

/** The body to send. Only a late answer has `answered_at`, because the clock of this device may be wrong. */
function withMoment({ path, body, at }) {
  const isLate = path !== LOG && ["done", "skipped"].includes(body.status) && Date.now() - at > OFFLINE_MS;
  return isLate ? { ...body, answered_at: new Date(at).toISOString() } : body;
}

const ownerOf = (token) => JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"))).sub;

export class Client {
  #access = null;
  #refreshing = null;
  #flushing = Promise.resolve();
  #retry = null;
  #pausedUntil = 0;
  #failures = 0; // in a row
  #kept = 0;

  /**
   * `onLogout` is called when a session has ended, here or in another tab. `onRefused(item, error)` is called when the service
   * refuses something that waited, and `onOpen(url)` when the person taps a notification.
   * @param {string} api
   * @param {{ onLogout?: () => void, onRefused?: (item: any, error: ApiError) => void, onOpen?: (url: string) => void, waitMs?: number, answerMs?: number }} options
   */
  constructor(api, { onLogout = () => {}, onRefused = () => {}, onOpen = (url) => location.assign(url), waitMs = 500, answerMs = ANSWER_MS } = {}) {
    Object.assign(this, { api, onLogout, onRefused, waitMs, answerMs });
    window.addEventListener("online", () => this.flush());
    window.addEventListener("storage", ({ key, oldValue }) => {
      if (key !== "user" || oldValue === null) return;
      this.#access = null;
      this.onLogout();
    });
    navigator.serviceWorker?.addEventListener("message", ({ data, ports }) => {
      if (!data?.open) return;
      ports[0]?.postMessage("heard");
      onOpen(data.open);
    });
    this.flush();
  }

  get isLoggedIn() {
    return localStorage.getItem("refresh_token") !== null;
  }

  get user() {
    return localStorage.getItem("user");
  }

  login(username, password, otp) {
    return this.#signIn("/login", { username, password, ...(otp && { otp }) });
  }

  /** Register and sign in. `person` is the body of POST /register. */
  register(person) {
    return this.#signIn("/register", person);
  }

  async #signIn(path, body) {
    const tokens = await this.#send("POST", path, body);
    const owner = ownerOf(tokens.access_token);
    if (![null, owner].includes(localStorage.getItem("pushes_of"))) await this.#unsubscribe().catch(() => {});
    this.#access = tokens.access_token;
    localStorage.setItem("refresh_token", tokens.refresh_token);
    localStorage.setItem("user", owner);
    this.flush();
  }

  /** Sign out here at once. Reject if the service could not be reached: the session then goes on there. */
  async logout() {
    const access = this.#access;
    const refresh = localStorage.getItem("refresh_token");
    this.#forget();
    this.onLogout();
    const end = (token) => this.#send("POST", "/logout", undefined, { token, keepalive: true });
    const renewed = async () => (await this.#send("POST", "/refresh", { refresh_token: refresh }, { keepalive: true })).access_token;
    const ending = access === null ? renewed().then(end) : end(access).catch(async (error) => {
      if (error.status !== 401) throw error;
      return end(await renewed());
    });
    const [ended] = await Promise.allSettled([ending, this.#unsubscribe()]);
    if (ended.status === "rejected") throw ended.reason;
  }

  /** End pushes, so that the next person here does not read them. */
  async #unsubscribe() {
    const registration = await navigator.serviceWorker?.getRegistration();
    const subscription = await registration?.pushManager.getSubscription();
    await subscription?.unsubscribe();
    localStorage.removeItem("pushes_of");
    if (subscription) await this.#send("DELETE", "/push/subscribe", { endpoint: subscription.endpoint }, { keepalive: true });
  }

  get(path) { return this.#persist("GET", path); }
  put(path, body) { return this.#persist("PUT", path, body); }

  /** One page of a list: its `rows`, and the number of all rows (`total`, at most 10,000) and `pages`. */
  async page(path, number = 1, perPage = 20) {
    const rows = await this.get(`${path}${path.includes("?") ? "&" : "?"}page=${number}&per_page=${perPage}`);
    return { rows, total: rows.total, pages: Math.ceil(rows.total / perPage) };
  }

  delete(path, body) { return this.#persist("DELETE", path, body); }

  /**
   * A POST that creates. It is repeated with one key, so that it creates once.
   * @param {string} path
   * @param {string} key
   */
  create(path, body, key = crypto.randomUUID()) { return this.#persist("POST", path, body, key); }

  /** Any other POST, such as a toggle. It is sent once. */
  post(path, body) { return this.#call("POST", path, body); }

  log(record) {
    const logs = this.waiting.filter(({ path }) => path === LOG);
    for (const { key } of logs.slice(0, -MAX_LOGS)) localStorage.removeItem(key);
    return this.#later(LOG, record);
  }

  /** Answer the dose that is due at `dueAt`, now or later. Resolve to whether the answer was sent, also if it was refused. */
  answer(reminderId, dueAt, status, { slot, minutes } = {}) {
    const about = { due_at: dueAt, ...(slot && { slot }), ...(minutes && { minutes }) };
    return this.#later(`/pengingat/${reminderId}/konfirmasi`, { status, ...about });
  }

  /** What waits, oldest first. Each item has its own key, so tabs do not overwrite each other. */
  get waiting() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith("waiting:")).sort();
    return keys.map((key) => ({ key, ...JSON.parse(localStorage.getItem(key)) }));
  }

  /** Send what waits of the signed-in person, in order, from one tab at a time. Drop an item that the service refuses. */
  flush() {
    const flush = () => (navigator.locks ? navigator.locks.request("waiting", () => this.#flush()) : this.#flush());
    this.#flushing = this.#flushing.then(flush, flush);
    return this.#flushing;
  }

  async #flush() {
    clearTimeout(this.#retry);
    for (const item of this.waiting.filter(({ user }) => !user || user === this.user)) {
      if (item.user && item.user !== this.user) return; // somebody else is signed in by now
      let refusal = null;
      try {
        await this.#call("POST", item.path, withMoment(item));
      } catch (error) {
        const { status, retryAfter } = error;
        if (status === 401) return; // until the next login
        if (!(status >= 400) || WORTH_REPEATING.has(status)) {
          this.#pausedUntil = this.#flushLater(retryAfter);
          return;
        }
        if (status >= 500) { // perhaps only this item fails
          this.#flushLater();
          continue;
        }
        refusal = error;
      }
      this.#failures = 0;
      localStorage.removeItem(item.key);
      if (refusal) this.onRefused(item, refusal);
    }
  }

  #flushLater(retryAfter) {
    clearTimeout(this.#retry);
    const wait = (retryAfter ? retryAfter * 1000 : Math.min(60_000, this.waitMs * 2 ** this.#failures)) * (1 + Math.random());
    this.#failures += 1;
    this.#retry = setTimeout(() => this.flush(), wait);
    return Date.now() + wait;
  }

  async #later(path, body) {
    const key = `waiting:${Date.now()}.${String(this.#kept).padStart(6, "0")}.${crypto.randomUUID()}`;
    this.#kept += 1;
    localStorage.setItem(key, JSON.stringify({ user: this.user, path, body, at: Date.now() }));
    if (Date.now() >= this.#pausedUntil) await this.flush();
    return localStorage.getItem(key) === null;
  }

  async #persist(method, path, body, key) {
    const { user } = this;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#call(method, path, body, key);
      } catch (error) {
        const isInVain = !WORTH_REPEATING.has(error.status) || error.retryAfter > LONGEST_WAIT_S;
        if (tries >= REPEATS || isInVain) throw error;
        const wait = error.retryAfter ? error.retryAfter * 1000 : this.waitMs * 2 ** tries * (0.5 + Math.random());
        await new Promise((resolve) => { setTimeout(resolve, wait); });
        if (this.user !== user) throw error;
      }
    }
  }

  async #call(method, path, body, key) {
    const { user } = this;
    if (this.#access === null && this.isLoggedIn) await this.#refresh(null);
    if (this.user !== user) throw new ApiError(0);
    const used = this.#access;
    try {
      return await this.#send(method, path, body, { token: used, key });
    } catch (error) {
      if (error.status !== 401 || used === null) throw error;
      await this.#refresh(used);
      if (this.user !== user) throw error;
      return this.#send(method, path, body, { token: this.#access, key });
    }
  }

  /** Replace the access token `used`, once for all calls that ask meanwhile. */
  async #refresh(used) {
    if (this.#access !== used) return; // another call was faster
    this.#refreshing ??= this.#renew().finally(() => { this.#refreshing = null; });
    await this.#refreshing;
  }

  async #renew() {
    const token = localStorage.getItem("refresh_token");
    const isTheirs = () => localStorage.getItem("refresh_token") === token;
    try {
      const answer = await this.#send("POST", "/refresh", { refresh_token: token });
      if (isTheirs()) this.#access = answer.access_token;
    } catch (error) {
      if (error.status === 401 && isTheirs()) {
        this.#forget();
        this.onLogout();
      }
      throw error;
    }
  }

  #forget() {
    this.#access = null;
    localStorage.removeItem("refresh_token");
    localStorage.removeItem("user");
  }

  async #send(method, path, body, { token, key, keepalive = false } = {}) {
    const isForm = body instanceof FormData; // with a picture
    const headers = {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(key && { "Idempotency-Key": key }),
      ...(body !== undefined && !isForm && { "Content-Type": "application/json" }),
    };
    const late = new AbortController();
    const timer = isForm ? null : setTimeout(() => late.abort(), this.answerMs); // an upload has no time limit
    let response, isJson, answer;
    try {
      const sent = isForm ? body : JSON.stringify(body);
      response = await fetch(this.api + path, { method, headers, body: sent, keepalive, signal: late.signal });
      clearTimeout(timer);
      isJson = (response.headers.get("Content-Type") ?? "").includes("json");
      answer = isJson ? await response.json() : await response.blob();
    } catch {
      throw new ApiError(0); // no response, or an incomplete one
    }
    if (!response.ok) throw new ApiError(response.status, isJson ? answer : null, Number(response.headers.get("Retry-After")));
    const total = response.headers.get("X-Total-Count");
    if (total !== null) Object.defineProperty(answer, "total", { value: Number(total) });
    return answer;
  }
}

/**
 * Subscribe this browser to pushes, and return whether they are on. Call it from a click, because a browser asks for permission
 * only then. Once it is allowed, call it at each start and after each login, because browsers change subscriptions silently.
 */
export async function subscribe(client, worker = "sw.js") {
  const { user } = client;
  if (user === null || (await Notification.requestPermission()) !== "granted") return false;
  await navigator.serviceWorker.register(`${worker}?api=${encodeURIComponent(client.api)}`);
  const registration = await navigator.serviceWorker.ready;
  const { vapid_public_key: applicationServerKey } = await client.get("/features");
  if (!applicationServerKey) return false;
  if (client.user !== user) return false;
  localStorage.setItem("pushes_of", user);
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  await client.post("/push/subscribe", subscription.toJSON());
  return true;
}
