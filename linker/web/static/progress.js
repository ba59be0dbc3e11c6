// How far the session is.

import { counted, el, sentence, whole } from "./dom.js";
import { curve, interval } from "./curve.js";

/** A panel that `show(status)` fills; `next` is the address of what to do when labeling may stop. */
export function progressPanel(next = null) {
  const panel = el("aside", { class: "panel progress", "aria-label": "Progress" });
  const wide = matchMedia("(min-width: 74.01rem)");
  const short = el("span", { class: "short num" });
  const body = el("div");
  const details = el("details", { open: wide.matches },
    el("summary", {}, el("span", { class: "eyebrow" }, "Progress"), short), body);
  wide.addEventListener("change", () => { details.open = wide.matches; });
  panel.append(details);

  function show(status) {
    const { estimate, decision } = status;
    const share = status.posts ? status.labeled / status.posts : 0;
    const bar = el("span");
    bar.style.width = `${(100 * share).toFixed(2)}%`;
    short.textContent = `${whole(status.relevant)} relevant · ${whole(status.labeled)} of ${whole(status.posts)}`
      + (decision.stop ? " · you may stop" : "");
    const own = Boolean(status.own); // the figures of all would tell the labels of others
    body.replaceChildren(...[
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
        decision.stop && next ? el("p", {}, el("a", { href: next }, "What to do next")) : null),
      others(status),
    ].filter(Boolean));
  }
  return { panel, show };
}

/** How many relevant posts are left, once an interval says something. */
export function left(found, estimate) {
  const basis = el("p", { class: "muted" }, sentence(estimate.basis));
  if (!estimate.known) return [el("p", { class: "left", id: "left" }, "Not known yet"), basis];
  return [el("p", { class: "left-known", id: "left" }, sentence(estimate.sentence)), estimate.high ? interval(found, estimate, true) : null, basis].filter(Boolean);
}

function others(status) {
  const people = Object.entries(status.annotators);
  const lines = [];
  if (status.skipped) lines.push(["Skipped", whole(status.skipped)]);
  if (status.copies_labeled) lines.push(["Near-duplicates labeled with them", whole(status.copies_labeled)]);
  if (status.waiting) lines.push(["Need another label", whole(status.waiting)]);
  if (status.disputed) lines.push(["Annotators disagree on", counted(status.disputed, "post")]);
  if (people.length > 1) lines.push(...people.map(([name, count]) => [name, whole(count)]));
  if (!lines.length) return null;
  return el("div", { class: "block" },
    el("ul", { class: "people" }, lines.map(([name, value]) => el("li", {}, el("span", {}, name), el("span", { class: "num" }, value)))));
}
