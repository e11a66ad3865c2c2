// A strict client of the service, with types from its OpenAPI document only: node build/walk.js ADDRESS CAPTCHA
import createClient from "openapi-fetch";

import type { ApiError, ObatDetails, paths, Pengingat, PengingatCreate, Province, Thread } from "./build/schema.js";

declare const process: { argv: string[] };

/** A picture of four pixels. */
const PICTURE =
  "data:image/png;base64," +
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGNkaGhgYGBgYmBgYGBgAAALqgEE5z0TngAAAABJRU5ErkJggg==";

const [, , baseUrl = "http://127.0.0.1:8000", captcha = null] = process.argv;
const api = createClient<paths>({ baseUrl });
const domicile: Province = "Jawa Barat";
// @ts-expect-error: a province is one of the 38
const elsewhere: Province = "Atlantis";

/** Describe a reminder. Each variant has its own details. */
function describe(reminder: Pengingat): string {
  switch (reminder.tipe) {
    case "obat":
      return `${reminder.details.nama_obat} ${reminder.details.jadwal.map((dose) => dose.jam).join(", ")}`;
    case "makan":
      return reminder.details.sarapan?.jam ?? reminder.judul;
    case "terapi":
      return reminder.details.jadwal?.map((session) => session.hari).join(", ") ?? reminder.judul;
    case "kontrol":
      return reminder.details.nama_dokter ?? reminder.judul;
    default:
      return reminder satisfies never;
  }
}

/** Return the data of a response, or throw its error. */
function data<T>(answer: { data?: T; error?: ApiError; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.status} ${answer.error?.error}: ${answer.error?.message}`);
  }
  return answer.data;
}

function form(fields: object): FormData {
  const sent = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    sent.append(name, value instanceof Blob ? value : String(value));
  }
  return sent;
}

const username = `siti.${Date.now()}`;
const password = "kucing-hitam-7";
const person = { nama_ktp: "Siti Aminah", nama_samaran: "Melati", nomor_hp: "081234567890", domicile };
const registered = await api.POST("/api/register", {
  body: { username, password, ...person, "captcha-response": captcha },
});
const { access_token, refresh_token } = data(registered);
api.use({
  onRequest({ request }) {
    request.headers.set("Authorization", `Bearer ${access_token}`);
  },
});

const refused = await api.POST("/api/login", { body: { username, password: "salah-sama-sekali" } });
// @ts-expect-error: this error code does not exist
if (refused.error?.error === "wrong_password" || refused.error?.error !== "wrong_credentials") {
  throw new Error("a wrong password was not refused as the document says");
}
data(await api.POST("/api/refresh", { body: { refresh_token } }));

const profile = data(await api.GET("/api/profile"));
const pseudonym: string | null = profile.nama_samaran;
// @ts-expect-error: the response has no such property
profile.password;

const details: ObatDetails = {
  nama_obat: "Metformin",
  frekuensi: 1,
  aturan: "setelah makan",
  jadwal: [{ jam: "00:00", jumlah: 1, satuan: "tablet" }],
};
// @ts-expect-error: a medicine has no breakfast
const medicine: PengingatCreate = { tipe: "obat", judul: "Minum obat", details: { sarapan: { jam: "00:00" } } };
data(await api.POST("/api/pengingat", { body: { tipe: "obat", judul: "Minum obat", details } }));
const reminders = data(await api.GET("/api/pengingat", { params: { query: { tipe: "obat", per_page: 20 } } }));

const today = data(await api.GET("/api/pengingat/hari-ini"));
const first: string = today.map((dose) => `${dose.local_time} ${dose.judul} ${dose.what}`)[0] ?? "";

const [category] = data(await api.GET("/api/forum/categories"));
if (category === undefined) {
  throw new Error("the forum has no category");
}
const image = await (await fetch(PICTURE)).blob();
const post = { category_id: category.id, title: "Menu sehat", content: "Apa menu Anda?", use_pseudonym: true };
const thread: Thread = data(
  await api.POST("/api/forum/threads", { body: { ...post, image }, bodySerializer: form }),
);

console.log([pseudonym, ...reminders.map(describe), thread.author?.name, thread.image, first].join("\n"));
