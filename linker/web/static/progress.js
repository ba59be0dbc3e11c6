// How far the session is.

import { counted, el, redraw, say, sentence, whole } from "./dom.js";
import { curve, interval } from "./curve.js";

/** A panel that `show(status)` fills; `next` is the page of the project, for its owner. */
export function progressPanel(next = null) {
  const panel = el("aside", { class: "panel progress", "aria-label": "Progress" });
  const wide = matchMedia("(min-width: 74.01rem)");
  const short = el("span", { class: "short num" });
  const body = el("div");
  const details = el("details", { open: wide.matches },
    el("summary", {}, el("span", { class: "eyebrow" }, "Progress"), short), body);
  wide.addEventListener("change", () => { details.open = wide.matches; });
  panel.append(details);

  let stopped = null;

  function show(status) {
    const { estimate, decision } = status;
    const share = status.posts ? status.labeled / status.posts : 0;
    const bar = el("span");
    bar.style.width = `${(100 * share).toFixed(2)}%`;
    short.textContent = `${whole(status.relevant)} relevant · ${whole(status.labeled)} of ${whole(status.posts)}`
      + (decision.stop ? " · you may stop" : "");
    const own = Boolean(status.own); // the figures of all would tell the labels of others
    if (stopped === false && decision.stop) say("You may stop");
    stopped = decision.stop;
    redraw(body,
      el("dl", { class: "figures" },
        el("div", {}, el("dt", {}, own ? "You found" : "Relevant found"), el("dd", { id: "found" }, whole(status.relevant))),
        el("div", {}, el("dt", {}, own ? "You labeled" : "Labeled"), el("dd", { id: "labeled" }, whole(status.labeled), el("small", {}, ` of ${whole(status.posts)}`)))),
      el("div", { class: "meter", role: "progressbar", "aria-label": "Labeled", "aria-valuemin": 0, "aria-valuemax": status.posts,
        "aria-valuenow": status.labeled }, bar),
      el("p", { class: "eyebrow" }, "Found so far"),
      curve(status.curve, status.labeled),
      own ? null : el("div", { class: "block" },
        el("p", { class: "eyebrow" }, "Relevant posts left"),
        ...left(status.relevant, estimate)),
      el("div", { class: decision.stop ? "decision stop" : "decision", id: "decision" },
        el("strong", {}, decision.stop ? "You may stop" : "Continue"), el("p", { class: "muted" }, sentence(decision.reason)),
        decision.stop ? el("p", {}, next ? el("a", { href: next }, "What to do next")
          : "What to do next: tell the person who sent you the link. All your labels are saved.") : null),
      others(status, next));
  }
  return { panel, show };
}

/** How many relevant posts are left, once an interval says something. */
export function left(found, estimate) {
  const basis = el("p", { class: "muted" }, sentence(estimate.basis));
  if (!estimate.known) return [el("p", { class: "left", id: "left" }, "Not known yet"), basis];
  return [el("p", { class: "left-known", id: "left" }, sentence(estimate.sentence)), estimate.high ? interval(found, estimate, true) : null, basis].filter(Boolean);
}

/** Which labels of second people are missing; null if none is. */
export function missing({ waiting, waiting_for: people, decision }) {
  if (!waiting || decision.reason.includes("of a second person")) return null; // it says so
  const posts = `${counted(waiting, "post")} wait${waiting === 1 ? "s" : ""} for the label of a second person`;
  const names = Object.entries(people ?? {}).map(([name, count]) => `${name} ${whole(count)}`);
  return people && !names.length ? `${posts}, but everybody else has skipped ${waiting === 1 ? "it" : "them"}.`
    : names.length ? `${posts}: ${names.join(", ")}.` : `${posts}.`;
}

function others(status, next) {
  const people = Object.entries(status.annotators);
  const lines = [];
  if (status.skipped) lines.push(["Skipped", whole(status.skipped)]);
  if (status.copies_labeled) lines.push(["Near-duplicates labeled with them", whole(status.copies_labeled)]);
  if (status.disputed) {
    const posts = counted(status.disputed, "post");
    lines.push(["Annotators disagree on", next ? el("a", { href: `${next}/agreement` }, posts) : posts]);
  }
  if (people.length > 1) lines.push(...people.map(([name, count]) => [name, whole(count)]));
  const wait = missing(status);
  if (!lines.length && !wait) return null;
  return el("div", { class: "block" }, wait ? el("p", { class: "muted" }, wait) : null,
    el("ul", { class: "people" }, lines.map(([name, value]) => el("li", {}, el("span", {}, name), el("span", { class: "num" }, value)))));
}
