// Elements made by hand. Whatever others wrote goes in as text and nothing else.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An element of HTML; strings among the children become text. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export const byId = (id) => document.getElementById(id);

/** Control characters as pictures: they would be invisible, or end a text for some programs. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (c) =>
    c === "\r" ? "" : String.fromCharCode(c === "\u007f" ? 0x2421 : 0x2400 + c.charCodeAt(0)));
}

/** A post's text with the words that counted marked; its direction is its own and ends with it. */
export function words(parts, { most = Infinity, tag = "p" } = {}) {
  const node = el(tag, { class: "words", dir: "auto" });
  let left = most;
  for (const [text, marked] of parts) {
    if (left <= 0) break;
    const shown = text.length > left ? [...text.slice(0, left)].slice(0, -1).join("") + "…" : text;
    left -= text.length;
    node.append(marked ? el("mark", {}, visible(shown)) : visible(shown));
  }
  if (most === Infinity && parts.reduce((sum, [text]) => sum + text.length, 0) > 900) {
    node.classList.add("long");
    node.tabIndex = 0;
    node.setAttribute("role", "region");
    node.setAttribute("aria-label", "Text of the post");
  }
  return node;
}

export const whole = (number) => Math.round(number).toLocaleString("en-GB");

/** "3 posts", "1 post". */
export const counted = (number, one, several = `${one}s`) => `${whole(number)} ${number === 1 ? one : several}`;

/** A box to check, with what it means behind it. */
export const checkbox = (id, text, checked, hint) => {
  const box = el("input", { id, type: "checkbox", checked, "aria-describedby": hint ? `${id}-hint` : null });
  return [box, el("div", {}, el("p", { class: "check" }, box, el("label", { for: id }, text)), hint ? el("small", { id: `${id}-hint` }, hint) : null)];
};

/** The boxes of a project that keep what the model makes of a post from those who label it. */
export const hiding = (prefix, blind, strategy) => [
  checkbox(`${prefix}-blind`, "Hide scores and marks from annotators", blind, "Scores and marks can bias labels. Exports say which labels were given blind."),
  checkbox(`${prefix}-random`, "Show posts in random order", strategy === "random",
    "Hides the order of the model as well, and makes all labels a random sample: the share of relevant posts is known early, but nearly all posts must be labeled to find nearly all relevant ones."),
];

/** A reason, as a sentence. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");

/** A time of a post, in the reader's own zone. */
export function shownTime(iso) {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? null
    : time.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** A text with a button that copies it. */
export function copied(text, label, id) {
  const field = el("input", { id, readonly: true, value: text, "aria-label": label, onfocus: () => field.select() });
  const button = el("button", { type: "button", "aria-label": `Copy ${label}`, onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // only secure pages may write it
      field.select();
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    say(`${label} copied`);
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  } }, "Copy");
  return el("div", { class: "copied" }, field, button);
}

const drawn = new WeakMap();
const FOCUSABLE = "a[href], button, input, select, textarea, summary";

/** Replace the children of a node unless they were drawn so before; what had the focus, or was open, is so again. */
export function redraw(node, ...children) {
  const fresh = el("div", {}, ...children);
  const look = new XMLSerializer().serializeToString(fresh) + [...fresh.querySelectorAll("input, select, textarea")].map((one) => `\n${one.value}`);
  if (drawn.get(node) === look) return;
  drawn.set(node, look);
  const held = [...node.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  const { id } = document.activeElement;
  const folds = [...node.querySelectorAll("details")].map((one) => one.open);
  const parts = [...fresh.querySelectorAll("details")];
  if (parts.length === folds.length) parts.forEach((one, i) => { one.open = folds[i]; });
  node.replaceChildren(...fresh.childNodes);
  if (held >= 0) (document.getElementById(id) ?? node.querySelectorAll(FOCUSABLE)[held])?.focus({ preventScroll: true });
}

/** Draw the rows of a list, each where it was; while the list is pointed at or has the focus, none goes or moves. */
export function redrawRows(list, items, key, row) {
  const before = new Map([...list.children].map((one) => [one.dataset.key, one]));
  const rows = items.map((item) => {
    const one = before.get(String(key(item))) ?? el("li", { "data-key": key(item) });
    redraw(one, row(item));
    return one;
  });
  if (list.matches(":hover, :focus-within")) list.append(...rows.filter((one) => one.parentNode !== list));
  else if (rows.length !== list.children.length || rows.some((one, i) => one !== list.children[i])) list.replaceChildren(...rows);
}

/** Draw, and scroll so that what is pointed at, or has the focus, stays where it is on the screen. */
export function steadily(draw) {
  const held = [document.activeElement, ...document.querySelectorAll("main :hover")].filter((one) => one?.closest("main"))
    .map((one) => [one, one.getBoundingClientRect().top]);
  draw();
  const [one, top] = held.findLast(([node]) => node.isConnected) ?? [];
  if (one) scrollBy({ top: one.getBoundingClientRect().top - top, behavior: "instant" });
}

/** Tell readers of the screen what happened. */
export function say(text) {
  byId("spoken").textContent = text;
}

/** Something that must be read; nothing takes it away. */
export function alarm(text) {
  byId("alert").textContent = text ?? "";
  byId("alert").hidden = !text;
}
