// Helpers that build the page. They insert text only, because the page's security policy refuses markup.

const message = document.getElementById("message");

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  return put(node, ...children);
}

// Replaces the children of a node. Null and empty children are skipped.
export function put(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

export function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export const paragraph = (text, kind) => element("p", { class: kind }, text);

export const button = (label, work, attributes = {}) =>
  element("button", { type: "button", onclick: doing(work), ...attributes }, label);

export const card = (title, ...children) => element("div", { class: "card" }, element("h3", {}, title), ...children);

let ids = 0;

// Returns a label and its input. A page may have several forms, so each input gets a unique id.
export function field(name, label, attributes = {}) {
  const id = `${name}-${(ids += 1)}`;
  return [element("label", { for: id }, label), element("input", { id, name, ...attributes })];
}

export function choice(name, label, options, chosen) {
  const id = `${name}-${(ids += 1)}`;
  return [element("label", { for: id }, label), element("select", { id, name },
    Object.entries(options).map(([value, words]) => element("option", { value, selected: value === chosen }, words)))];
}

export const reasonField = (label = "Alasan, disimpan di catatan") => field("reason", label, { required: true, maxlength: 500 });

export function form(label, work, ...children) {
  const node = element("form", { onsubmit: doing(() => work(node.elements)) },
    ...children, element("button", { type: "submit", class: "main" }, label));
  return node;
}

export function say(text, isGood = false) {
  message.textContent = text;
  message.className = isGood ? "good" : "";
}

// Wraps the action of a button or form: it ignores a second click while it runs, and shows the error message.
export function doing(work) {
  return async (event) => {
    event.preventDefault();
    const pressed = event.submitter ?? event.currentTarget;
    if (pressed.disabled) return;
    pressed.disabled = true;
    say("");
    try {
      await work(event);
    } catch (error) {
      say(error.message);
    } finally {
      pressed.disabled = false;
    }
  };
}
