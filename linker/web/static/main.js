// Puts the page together: which session, which view, whose labels.

import { ask, tokenOfAddress } from "./api.js";
import { NewProjectView } from "./create.js";
import { alarm, byId, counted, el, say } from "./dom.js";
import { listen } from "./keys.js";
import { LabelView } from "./label.js";
import { markdown } from "./markdown.js";
import { PostsView } from "./posts.js";
import { ProjectView } from "./project.js";
import { Outbox } from "./outbox.js";
import { SearchView } from "./search.js";
import { keep, kept } from "./store.js";
import { StartView } from "./start.js";
import { RankView } from "./rank.js";

const WHO = "linker:annotator";
const TITLES = { start: "Projects", new: "New project", project: "Project", label: "Label", posts: "Posts", search: "Search", rank: "Rank" };
const OF_SESSION = ["label", "posts"];
const TABS = ["start", "label", "posts", "project", "search", "rank"];
const KEPT = ["search", "rank"]; // views that keep what was typed
const COMMON = ["start", ...KEPT]; // views of no session

let about;
let desk = null; // { session, outbox, label, posts }
let view = null;
let shown = null; // the view itself
let turns = 0; // views asked for so far
let like = null; // key of the project whose settings a new one begins with
let current = null; // key of the session or project that is shown

const annotator = () => about?.name ?? kept(WHO) ?? "";

async function start() {
  drawTheme();
  await tokenOfAddress();
  about = await reached(() => ask("api/about"));
  byId("version").textContent = `linker ${about.version}`;
  drawSessions();
  byId("who").textContent = annotator() || "Name";
  byId("sign-out").hidden = about.owner;
  if (!about.owner && !about.sessions.length) {
    byId("starting").textContent = "This project has no posts to label yet. Come back later.";
    return;
  }
  addEventListener("hashchange", () => route().catch(broken));
  await route();
}

function drawSessions() {
  byId("session").replaceChildren(...about.sessions.map((one) => el("option", { value: one.key }, about.projects ? one.title : one.key)));
}

/** Asks again until the server is there. */
async function reached(question) {
  for (;;) {
    try {
      const answer = await question();
      alarm(null);
      return answer;
    } catch (failure) {
      if ([403, 404, 421].includes(failure.status)) throw failure;
      alarm(`${failure.message}; trying again…`);
      await new Promise((resolve) => { setTimeout(resolve, 1500); });
    }
  }
}

function firstView() {
  if (about.owner && about.projects) return "start";
  if (about.sessions.length) return "label";
  return about.corpus ? "search" : "rank";
}

const allowed = (name) => Object.hasOwn(TITLES, name) && (about.owner || OF_SESSION.includes(name))
  && (name !== "new" || about.projects) && (name !== "search" || about.corpus) && (![...OF_SESSION, "project"].includes(name) || about.projects || about.sessions.length);

async function route() {
  if (view !== null && location.hash === "#main") return; // the skip link
  const turn = turns += 1;
  for (const dialog of document.querySelectorAll("dialog[open]:not(#token-dialog)")) dialog.close(); // by the button Back
  const [name, key, place] = location.hash.slice(1).split("/").map(decodeURIComponent);
  let wanted = allowed(name) ? name : firstView();
  like = wanted === "new" ? key : null;
  if (OF_SESSION.includes(wanted) || wanted === "project") {
    const chosen = key ?? current ?? about.sessions[0]?.key;
    const known = about.sessions.some((one) => one.key === chosen) || (about.projects && chosen);
    current = known ? chosen : about.sessions[0]?.key;
    if (!current) wanted = firstView();
    else if (OF_SESSION.includes(wanted) && !await openDesk(current)) return;
    if (wanted === "label" && !annotator() && !await askName()) {
      if (turn === turns) location.replace(`#posts/${encodeURIComponent(current)}`); // who gives no name may look
      return;
    }
  }
  if (turn === turns) await show(wanted, place); // nobody has gone elsewhere meanwhile
}

/** Make the session ready for labeling; false if its posts are not. */
async function openDesk(key) {
  if (desk?.session.key === key && desk.outbox) return true;
  let session;
  try {
    session = await sessionOf(key);
  } catch (failure) {
    if (failure.status !== 404 || !about.projects) throw failure;
    location.replace(`#project/${encodeURIComponent(key)}`); // Back does not lead here again
    return false;
  }
  byId("names").replaceChildren(...session.people.map((name) => el("option", { value: name })));
  desk?.outbox.close();
  const opened = { session };
  opened.outbox = new Outbox(session, annotator, {
    suggestions: (list) => opened.label.suggestions(list),
    status: (status) => opened.label.status(status),
    state: drawState,
    refused: (action, message) => {
      alarm(`${action.kind === "answers" ? "An answer" : `A ${action.kind}`} was rejected: ${message}`);
    },
    done: (action, post) => {
      if (action.kind === "undo") opened.label.undone(post);
    },
    changed: async (version, before) => {
      if (before && version.split(".")[1] !== before.split(".")[1]) { // the settings
        Object.assign(session, await sessionOf(key));
        opened.label.asks(session.question);
        byId("guidelines").replaceChildren(...markdown(session.guidelines));
        byId("open-guidelines").hidden = view !== "label" || !session.guidelines;
      }
      if (view === "posts") await opened.posts.refresh();
      else if (!opened.label.current) opened.outbox.run(); // others may have left or shared posts
    },
  });
  opened.label = new LabelView(session, opened.outbox, about.owner ? `#project/${encodeURIComponent(key)}` : null);
  opened.posts = new PostsView(session, opened.outbox, annotator, askName);
  desk = opened;
  byId("guidelines").replaceChildren(...markdown(session.guidelines));
  opened.outbox.run();
  return true;
}

/** What the server says of a session; the list of sessions grows with new projects. */
async function sessionOf(key) {
  const session = await reached(() => ask(`api/sessions/${encodeURIComponent(key)}`));
  if (!about.sessions.some((one) => one.key === key)) {
    about = await reached(() => ask("api/about"));
    drawSessions();
  }
  return session;
}

async function viewOf(name) {
  if (OF_SESSION.includes(name)) return desk[name];
  if (name === "start") return new StartView(about, drawReached);
  if (name === "search") return new SearchView(await reached(() => ask("api/corpus")));
  if (name === "rank") {
    if (about.projects) about = await reached(() => ask("api/about")); // there may be new ones
    return new RankView(about);
  }
  if (name === "project") return new ProjectView(current, sessionOf, annotator, askName, about, drawReached);
  const overview = { ...about, ...await reached(() => ask("api/projects")) };
  return new NewProjectView(overview, (key, problem) => {
    pending = problem;
    location.replace(`#project/${encodeURIComponent(key)}`);
  }, like && await ask(`api/projects/${encodeURIComponent(like)}`));
}

let pending = ""; // why a new project could not begin
const made = {};

async function show(name, place) {
  const turn = turns;
  const next = KEPT.includes(name) ? made[name] ??= await viewOf(name) : await viewOf(name);
  if (turn !== turns) return;
  shown?.close?.();
  [view, shown] = [name, next];
  byId("main").replaceChildren(shown.node);
  if (name === "project") shown.load(pending, place);
  else if (name !== "label") shown.load?.();
  if (name === "project") pending = "";
  const key = current && ![...["start", "new"]].includes(name) ? `/${encodeURIComponent(current)}` : "";
  for (const tab of TABS) {
    const link = byId(`tab-${tab}`);
    const common = COMMON.includes(tab);
    link.href = common ? `#${tab}` : `#${tab}${key}`;
    link.hidden = tab === "start" ? !about.owner || !about.projects : tab === "search" ? !about.corpus : common ? !about.owner : !key || (tab === "project" && !about.owner);
    if (tab === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const labeling = OF_SESSION.includes(name);
  document.body.dataset.tabs = !about.projects ? "" : labeling || name === "project" ? "project" : "common"; // small screens show these alone
  if (labeling) desk.outbox.live.start();
  else desk?.outbox.live.stop();
  if (name === "label") {
    if (!desk.label.current) desk.outbox.run();
    showGuidelinesOnce(desk.session);
  }
  if (current) byId("session").value = current;
  byId("session").hidden = !key || KEPT.includes(name) || about.sessions.length < 2;
  byId("who").hidden = byId("help-who").hidden = !labeling || !about.owner;
  byId("who").textContent = annotator() || "Name";
  byId("open-guidelines").hidden = name !== "label" || !desk.session.guidelines;
  byId("help-guidelines").hidden = !labeling || !desk.session.guidelines;
  byId("sync").hidden = !labeling;
  document.title = [TITLES[name], labeling ? desk.session.title : null, "linker"].filter(Boolean).join(" · ");
}

function broken(failure) {
  alarm(`This cannot be shown: ${failure.message}`);
  say(failure.message);
}

/** Whether the figures on a page are those of the server. */
function drawReached(failure) {
  const pill = byId("sync");
  pill.hidden = !failure;
  pill.dataset.state = failure ? "waiting" : "saved";
  pill.textContent = failure ? "Offline" : "";
  pill.title = failure ? `${failure.message}; the page is brought up to date as soon as it answers` : "";
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

/** Ask for the name that labels, and looks at those of others, are recorded under; false: none was given. */
function askName() {
  const dialog = byId("name-dialog");
  const field = byId("name");
  field.value = annotator();
  return new Promise((resolve) => {
    dialog.onsubmit = (event) => {
      const name = field.value.trim();
      if (!name) {
        event.preventDefault();
        field.value = "";
        field.reportValidity();
        return;
      }
      keep(WHO, name);
      byId("who").textContent = name;
      resolve(true);
    };
    dialog.onclose = () => resolve(false);
    dialog.showModal();
    field.select();
  });
}

function showGuidelinesOnce(session) {
  const seen = `linker:guidelines:${session.uid}`;
  if (session.guidelines && kept(seen) === null) {
    keep(seen, "1");
    byId("guidelines-dialog").showModal();
  }
}

function drawTheme() {
  const dark = document.documentElement.dataset.theme === "dark";
  byId("theme").textContent = dark ? "☀" : "☾";
  const text = dark ? "Light colors" : "Dark colors";
  byId("theme").setAttribute("aria-label", text);
  byId("theme").title = byId("help-theme").textContent = text;
}

function changeTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  keep("linker:theme", theme === system ? null : theme);
  drawTheme();
}
byId("theme").addEventListener("click", changeTheme);
byId("help-theme").addEventListener("click", changeTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTheme);
byId("open-help").addEventListener("click", () => byId("help-dialog").showModal());
byId("help-guidelines").addEventListener("click", () => { // small screens have no other button for them
  byId("help-dialog").close();
  byId("guidelines-dialog").showModal();
});
byId("open-guidelines").addEventListener("click", () => byId("guidelines-dialog").showModal());
async function changeName() {
  byId("help-dialog").close();
  if (await askName()) location.reload(); // other posts lie before another annotator
}
byId("who").addEventListener("click", changeName);
byId("help-who").addEventListener("click", changeName);
byId("sign-out").addEventListener("click", async () => {
  await ask("api/logout", {});
  location.replace("./");
});
byId("session").addEventListener("change", (event) => {
  location.hash = `#${[...OF_SESSION, "project"].includes(view) ? view : "label"}/${encodeURIComponent(event.target.value)}`;
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
const choose = (key) => () => {
  const choice = view === "label" ? desk?.label.labels.of(key) : null;
  if (choice) desk.label.label(choice);
  return Boolean(choice);
};
listen({
  ...Object.fromEntries([..."rns123456789"].map((key) => [key, choose(key)])),
  u: onLabel((label) => label.undo()),
  e: onLabel((label) => label.editNote()),
  g: opens("guidelines-dialog", () => OF_SESSION.includes(view) && Boolean(desk?.session.guidelines)),
  "?": opens("help-dialog"),
  "/": () => {
    if (!desk || !OF_SESSION.includes(view)) return false;
    if (view === "posts") desk.posts.focusSearch();
    else {
      history.pushState(null, "", `#posts/${encodeURIComponent(desk.session.key)}`);
      show("posts").then(() => desk.posts.focusSearch());
    }
    return true;
  },
});

start().catch((failure) => {
  alarm(`The page cannot start: ${failure.message}`);
  say(failure.message);
});
