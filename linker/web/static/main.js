// Puts the page together: which session, which view, whose labels.

import { ask, tokenOfAddress } from "./api.js";
import { alarm, byId, counted, el, say } from "./dom.js";
import { listen } from "./keys.js";
import { LabelView } from "./label.js";
import { PostsView } from "./posts.js";
import { Queue } from "./queue.js";
import { keep, kept } from "./store.js";
import { TryView } from "./rank.js";

const WHO = "linker:annotator";
const VIEWS = ["label", "posts", "try"];

let about;
let desk = null; // { session, queue, label, posts }
let trying = null;
let view = null;

const annotator = () => kept(WHO) ?? "";

async function start() {
  drawTheme();
  await tokenOfAddress();
  about = await reached(() => ask("/api/about"));
  byId("version").textContent = `linker ${about.version}`;
  for (const one of about.sessions) byId("session").append(el("option", { value: one.key }, one.key));
  byId("session").hidden = about.sessions.length < 2;
  if (about.sessions.length) {
    for (const id of ["tab-label", "tab-posts", "who"]) byId(id).hidden = false;
    if (!annotator()) await askName();
    byId("who").textContent = annotator();
  }
  addEventListener("hashchange", route);
  await route();
}

/** Asks again until the server is there. */
async function reached(question) {
  for (;;) {
    try {
      const answer = await question();
      alarm(null);
      return answer;
    } catch (failure) {
      if (failure.status === 404) throw failure;
      alarm(`${failure.message}; trying again…`);
      await new Promise((resolve) => { setTimeout(resolve, 1500); });
    }
  }
}

async function route() {
  if (view !== null && location.hash === "#main") return; // the skip link
  const [name, key] = location.hash.slice(1).split("/", 2).map(decodeURIComponent);
  const first = about.sessions.length ? "label" : "try";
  const wanted = VIEWS.includes(name) && (name === "try" || about.sessions.length) ? name : first;
  if (wanted !== "try") {
    const known = about.sessions.some((one) => one.key === key);
    const chosen = known ? key : desk?.session.key ?? about.sessions[0].key;
    if (desk?.session.key !== chosen) await openDesk(chosen);
  }
  show(wanted);
}

async function openDesk(key) {
  desk?.queue.close();
  const session = await reached(() => ask(`/api/sessions/${encodeURIComponent(key)}`));
  const opened = { session };
  opened.queue = new Queue(session, annotator, {
    suggestions: (list) => opened.label.suggestions(list),
    status: (status) => opened.label.status(status),
    state: drawState,
    refused: (action, message) => {
      alarm(`A ${action.kind} was rejected: ${message}`);
    },
    done: (action, post) => {
      if (action.kind === "undo") opened.label.undone(post);
    },
  });
  opened.label = new LabelView(session, opened.queue);
  opened.posts = new PostsView(session, opened.queue, annotator);
  desk = opened;
  drawGuidelines(session);
  opened.queue.run();
}

function show(name) {
  view = name;
  trying ??= new TryView(about.sources);
  const shown = name === "try" ? trying : desk[name];
  byId("main").replaceChildren(shown.node);
  if (name === "posts") desk.posts.load();
  const key = desk ? `/${encodeURIComponent(desk.session.key)}` : "";
  for (const tab of VIEWS) {
    const link = byId(`tab-${tab}`);
    link.href = tab === "try" ? "#try" : `#${tab}${key}`;
    if (tab === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (desk) byId("session").value = desk.session.key;
  byId("open-guidelines").hidden = name !== "label" || !desk.session.guidelines;
  byId("help-guidelines").hidden = !desk?.session.guidelines;
  byId("sync").hidden = !desk;
  const titles = { label: "Label", posts: "Posts", try: "Try ranking" };
  document.title = [titles[name], name === "try" ? null : desk.session.title, "linker"].filter(Boolean).join(" · ");
}

function drawState(state, waiting, failure) {
  const pill = byId("sync");
  const texts = {
    saved: "All saved",
    sending: "Saving…",
    waiting: waiting ? `Offline, ${counted(waiting, "change")} kept` : "Offline",
  };
  pill.dataset.state = state;
  pill.title = state === "waiting" ? "Your labels are kept in this browser and sent when the server is available again." : "";
  if (pill.textContent !== texts[state]) pill.textContent = texts[state];
  alarm(state === "waiting" && failure?.status ? `${failure.message}; labels are kept here and will be sent again` : null);
}

function askName() {
  const dialog = byId("name-dialog");
  const field = byId("name");
  field.value = annotator();
  return new Promise((resolve) => {
    const submit = (event) => {
      const name = field.value.trim();
      if (!name) {
        event.preventDefault();
        field.value = "";
        field.reportValidity();
        return;
      }
      keep(WHO, name);
      byId("who").textContent = name;
      dialog.removeEventListener("submit", submit);
      resolve();
    };
    dialog.addEventListener("submit", submit);
    dialog.oncancel = (event) => { if (!annotator()) event.preventDefault(); };
    dialog.showModal();
    field.select();
  });
}

function drawGuidelines(session) {
  const place = byId("guidelines");
  place.replaceChildren();
  let list = null;
  for (const block of session.guidelines.split("\n")) {
    const item = /^\s*(?:[-*]|\d+\.)\s+(.*)/.exec(block);
    const heading = /^#+\s+(.*)/.exec(block);
    if (item) {
      if (!list) place.append(list = el("ul"));
      list.append(el("li", { dir: "auto" }, strong(item[1])));
      continue;
    }
    list = null;
    if (heading) place.append(el("h3", { dir: "auto" }, heading[1]));
    else if (block.trim()) place.append(el("p", { dir: "auto" }, strong(block)));
  }
  const seen = `linker:guidelines:${session.uid}`;
  if (session.guidelines && kept(seen) === null) {
    keep(seen, "1");
    byId("guidelines-dialog").showModal();
  }
}

/** What stands between **stars**, strong. */
function strong(text) {
  return text.split(/\*\*(.+?)\*\*/).map((part, i) => (i % 2 ? el("strong", {}, part) : part));
}

function drawTheme() {
  const dark = document.documentElement.dataset.theme === "dark";
  byId("theme").textContent = dark ? "☀" : "☾";
  const text = dark ? "Light colors" : "Dark colors";
  byId("theme").setAttribute("aria-label", text);
  byId("theme").title = text;
}

byId("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  keep("linker:theme", theme === system ? null : theme);
  drawTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTheme);
byId("open-help").addEventListener("click", () => byId("help-dialog").showModal());
byId("help-guidelines").addEventListener("click", () => { // small screens have no other button for them
  byId("help-dialog").close();
  byId("guidelines-dialog").showModal();
});
byId("open-guidelines").addEventListener("click", () => byId("guidelines-dialog").showModal());
byId("who").addEventListener("click", async () => {
  await askName();
  location.reload(); // other posts lie before another annotator
});
byId("session").addEventListener("change", (event) => {
  location.hash = `#${view === "try" ? "label" : view}/${encodeURIComponent(event.target.value)}`;
});

const onLabel = (act) => () => {
  if (view !== "label" || !desk) return false;
  act(desk.label);
  return true;
};
const opens = (id, allowed = () => true) => () => {
  if (!allowed()) return false;
  byId(id).showModal();
  return true;
};
listen({
  r: onLabel((label) => label.label("relevant")),
  1: onLabel((label) => label.label("relevant")),
  n: onLabel((label) => label.label("not")),
  2: onLabel((label) => label.label("not")),
  s: onLabel((label) => label.label("skip")),
  3: onLabel((label) => label.label("skip")),
  u: onLabel((label) => label.undo()),
  e: onLabel((label) => label.editNote()),
  g: opens("guidelines-dialog", () => Boolean(desk?.session.guidelines)),
  "?": opens("help-dialog"),
  "/": () => {
    if (!desk) return false;
    if (view !== "posts") {
      history.pushState(null, "", `#posts/${encodeURIComponent(desk.session.key)}`);
      show("posts");
    }
    desk.posts.search();
    return true;
  },
});

start().catch((failure) => {
  alarm(`The page cannot start: ${failure.message}`);
  say(failure.message);
});
