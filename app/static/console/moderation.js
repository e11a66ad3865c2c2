// Moderasi: open and decided cases of the forum.

import { element, form, paragraph, put, reasonField, say } from "./dom.js";
import { fill, listBox } from "./pages.js";
import { api, list } from "./session.js";
import { CASE_STATES, DECISIONS, HIDDEN_BY, joined, number, REPORT_REASONS, when } from "./words.js";

const LISTS = {
  menunggu: ["Menunggu", { state: "open" }],
  banding: ["Banding", { banding: "true" }],
  dibiarkan: ["Dibiarkan", { state: "kept" }],
  disembunyikan: ["Disembunyikan", { state: "hidden" }],
};

// Instructions for a case in which a person may be in danger.
const URGENT = [
  "Baca sampai selesai, lalu balas di forum dengan nomor bantuan: 119 ext. 8.",
  "Jika nyawa terancam sekarang, telepon 112 dan beri tahu penanggung jawab Anda.",
  "Jangan hapus permintaan tolong. Pilih Biarkan, kecuali tulisan itu mengajak orang lain.",
];

let lastList = "menunggu";

export async function show(view) {
  if (/^utas-\d+$/.test(view.wanted ?? "")) return showThread(view, view.wanted.slice(5));
  const wanted = lastList = LISTS[view.wanted] ? view.wanted : "menunggu";
  const counts = await Promise.all(Object.values(LISTS).map(([, query]) => list("/admins/moderasi", { ...query, per_page: 1, page: 1 })));
  if (!view.isOpen()) return undefined;
  const links = Object.entries(LISTS).map(([name, [label]], i) =>
    element("a", { href: `#moderasi/${name}`, "aria-current": name === wanted ? "true" : null }, `${label} (${number(counts[i].total ?? 0)})`));
  const box = listBox();
  put(view.place, element("nav", { class: "sub", "aria-label": "Kasus" }, links), box);
  const left = await fill(box, "/admins/moderasi", LISTS[wanted][1], {
    row: (each) => aCase(each, () => left()),
    none: wanted === "menunggu" ? "Tidak ada kasus yang menunggu." : "Tidak ada kasus di sini.",
  });
  return undefined;
}

function aCase(each, decided) {
  const node = element("article", { class: each.urgent && each.state === "open" ? "card urgent" : "card", tabindex: -1 });
  const { title } = each;
  const isUrgent = each.urgent && each.state === "open";
  const picture = each.image
    ? element("img", { src: each.image, loading: "lazy", alt: `Gambar pada ${each.reply_id ? "balasan di utas" : "utas"} “${title}”` })
    : null;
  put(node,
    element("h3", { class: isUrgent ? "bad" : null }, `${isUrgent ? "Mendesak: " : ""}${title}`),
    isUrgent ? element("ol", { class: "todo", "aria-label": "Yang perlu dilakukan" }, URGENT.map((text) => element("li", {}, text))) : null,
    paragraph(each.content), picture,
    paragraph(joined([`Penulis: ${each.author_name}`, when(each.created_at), CASE_STATES[each.state]]), "soft"),
    element("p", {}, element("a", { href: `#moderasi/utas-${each.thread_id}` }, `${each.reply_id ? "Balasan di utas" : "Utas"} nomor ${each.thread_id}`)),
    HIDDEN_BY[each.hidden_by] ? paragraph(`${HIDDEN_BY[each.hidden_by]}.`, "soft") : null,
    ...reported(each.reports),
    each.appeal ? paragraph(`Banding penulis: ${each.appeal}`) : null,
    each.reason ? paragraph(`Alasan keputusan: ${each.reason}`, "soft") : null,
    decision(each, node, title, decided));
  return node;
}

// Shows equal reports as one line with their count.
function reported(reports) {
  const times = new Map();
  for (const { reason, note } of reports) {
    const text = joined([REPORT_REASONS[reason] ?? reason, note]);
    times.set(text, (times.get(text) ?? 0) + 1);
  }
  return [...times].map(([text, count]) => paragraph(`Dilaporkan${count > 1 ? ` ${count} kali` : ""}: ${text}`, "soft"));
}

function decision(each, node, title, decided) {
  const choices = Object.entries(DECISIONS).map(([value, label]) => element("label", {},
    element("input", { type: "radio", name: "decision", value, required: true }), label));
  const asked = form("Putuskan", async ({ decision: chosen, reason }) => {
    const after = await api("PUT", `/admins/moderasi/${each.id}`, { decision: chosen.value, reason: reason.value });
    decided();
    put(node, element("h3", {}, title), paragraph(`${CASE_STATES[after.state]}.`));
    node.focus(); // the other cards are not redrawn, so typed text stays
    say("Keputusan disimpan.", true);
  }, element("fieldset", {}, element("legend", {}, "Keputusan"), ...choices), ...reasonField("Alasan, dibaca oleh penulisnya"));
  if (each.state === "open" || each.appeal) return asked;
  return element("details", {}, element("summary", {}, "Ubah keputusan"), asked);
}

// Shows the public thread, so that a moderator can judge a reply.
async function showThread(view, id) {
  const thread = await api("GET", `/forum/threads/${id}`);
  if (!view.isOpen()) return;
  const post = (each) => element("div", { class: "line" },
    paragraph(each.content ?? "(dihapus)"), paragraph(joined([each.author?.name, when(each.created_at)]), "soft"),
    each.replies?.length ? element("div", { class: "below" }, each.replies.map(post)) : null);
  put(view.place,
    element("p", {}, element("a", { href: `#moderasi/${lastList}` }, "Kembali ke kasus")),
    element("article", { class: "card" }, element("h3", {}, `Utas nomor ${id}: ${thread.title}`), post({ ...thread, replies: [] })),
    element("h3", {}, "Balasan"),
    thread.replies?.length ? element("div", { class: "card" }, thread.replies.map(post)) : paragraph("Belum ada balasan.", "soft"));
}
