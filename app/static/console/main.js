// The administrators' page: login and tabs. It uses only the REST API.

import * as account from "./account.js";
import * as audit from "./audit.js";
import { button, element, field, form, paragraph, put, say } from "./dom.js";
import * as moderation from "./moderation.js";
import * as people from "./people.js";
import * as reports from "./reports.js";
import * as service from "./service.js";
import * as session from "./session.js";
import * as today from "./today.js";

const TABS = {
  "hari-ini": ["Hari ini", today.show],
  pengguna: ["Pengguna", people.show],
  moderasi: ["Moderasi", moderation.show],
  laporan: ["Laporan", reports.show],
  layanan: ["Layanan", service.show],
  catatan: ["Catatan", audit.show],
  akun: ["Akun", account.show],
};

const main = document.getElementById("main");
const tabs = document.getElementById("tabs");
const logout = document.getElementById("logout");

let me = null; // the caller's profile while logged in
let shown = {}; // the current view; a late response for another view is ignored

function showLogin() {
  const [otpLabel, otp] = field("otp", "Kode verifikasi", { autocomplete: "one-time-code", maxlength: 40 });
  otpLabel.hidden = otp.hidden = true;
  const login = form("Masuk", async ({ username, password }) => {
    const sent = { username: username.value, password: password.value };
    if (!otp.hidden) sent.otp = otp.value;
    try {
      await session.logIn(sent);
    } catch (error) {
      if (error.code === "otp_required") {
        otpLabel.hidden = otp.hidden = false;
        otp.focus();
      }
      throw error;
    }
    await enter();
  },
  ...field("username", "Nama pengguna", { autocomplete: "username", required: true, autocapitalize: "none" }),
  ...field("password", "Kata sandi", { type: "password", autocomplete: "current-password", required: true }),
  otpLabel, otp);
  put(main, element("h2", {}, "Masuk sebagai administrator"), login);
  login.elements.username.focus();
}

// Opens the page. The service refuses users who are no administrators or lack a required second factor.
async function enter() {
  try {
    await session.api("GET", "/admins/operasi");
    me = await session.api("GET", "/profile");
  } catch (error) {
    if (error.status === 403) await session.logOut(error.message);
    else throw error;
    return;
  }
  put(tabs, ...Object.entries(TABS).map(([name, [label]]) => element("a", { href: `#${name}`, "data-tab": name }, label)));
  tabs.hidden = logout.hidden = false;
  open();
}

function open() {
  if (me === null) return;
  const [name, wanted] = decodeURIComponent(location.hash.slice(1)).split("/");
  const tab = TABS[name] ? name : "hari-ini";
  const [label, show] = TABS[tab];
  const place = element("section", { "aria-label": label });
  const view = shown = { place, me, wanted, isOpen: () => shown === view };
  for (const each of tabs.children) {
    if (each.dataset.tab === tab) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  say("");
  document.title = `${label} · Konsol`;
  put(main, element("h2", { tabindex: -1 }, label), place);
  place.append(paragraph("Memuat…", "soft"));
  show(view).catch((error) => {
    if (!view.isOpen()) return;
    put(place, paragraph("Halaman ini belum dapat ditampilkan.", "bad"), button("Coba lagi", async () => open()));
    say(error.message);
  });
}

session.onEnd((text) => {
  me = null;
  shown = {};
  tabs.hidden = logout.hidden = true;
  say(text);
  showLogin();
});

addEventListener("hashchange", () => {
  open();
  main.querySelector("h2")?.focus();
});
tabs.addEventListener("click", (event) => { // a click on the open tab reloads it
  if (event.target.hash === location.hash && location.hash) open();
});
logout.addEventListener("click", () => session.logOut().catch((error) => say(error.message)));

async function begin() {
  if (!session.isStored()) return showLogin();
  put(main, paragraph("Memuat…", "soft"));
  try {
    await session.resume();
    await enter();
  } catch (error) {
    if (!session.isStored()) return undefined; // the message is already shown
    say(error.message);
    put(main, button("Coba lagi", begin));
  }
  return undefined;
}

begin();
