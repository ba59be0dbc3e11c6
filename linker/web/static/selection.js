// The posts above a threshold that is learned from the labels, and the files with them.

import { ask } from "./api.js";
import { counted, el, say, sentence, whole } from "./dom.js";
import { onPage } from "./messages.js";

const SECONDS = 600;
const CHOICES = [
  ["recall", 0.9, "about 90 % of all relevant posts"], ["confident recall", 0.9, "at least 90 % of them, with 95 % confidence"],
  ["recall", 0.8, "about 80 % of all relevant posts"], ["recall", 0.95, "about 95 % of all relevant posts"],
  ["precision", 0.9, "posts of which about 90 % are relevant"], ["precision", 0.8, "posts of which about 80 % are relevant"],
  ["all", 1, "all posts, with the probability that each is relevant"],
];
const FORMATS = { xlsx: "Excel", csv: "CSV" };

/** A panel; `key` is that of the session. */
export function selectionPanel(key) {
  const path = `api/sessions/${encodeURIComponent(key)}/selection`;
  const choice = el("select", { id: "selection-keep" }, CHOICES.map(([, , text], i) => el("option", { value: i }, text)));
  const answer = el("div", { class: "stack", role: "status" });
  const problem = el("p", { class: "problem", role: "alert" });
  const button = el("button", { type: "submit", class: "primary" }, "Rank all posts");

  async function rank() {
    const [by, share] = CHOICES[choice.value];
    const query = new URLSearchParams({ by, share });
    button.disabled = true;
    button.textContent = "Ranking…";
    problem.textContent = "";
    answer.replaceChildren();
    try {
      const found = await ask(`${path}?${query}`, undefined, SECONDS);
      say(`${counted(found.kept, "post")} kept`);
      answer.replaceChildren(
        el("p", { id: "selection-kept" }, el("strong", {}, `${counted(found.kept, "post")} of ${whole(found.total)}`), found.sentence ? `: ${sentence(found.sentence)}` : "."),
        el("p", { class: "muted" }, sentence(onPage(found.basis))),
        el("div", { class: "buttons" }, Object.entries(FORMATS).map(([format, name]) =>
          el("a", { class: "button", download: true, id: `selection-${format}`, href: `${path}/${format}?${query}` }, `Download ${name}`))));
    } catch (failure) {
      problem.textContent = sentence(failure.message);
    } finally {
      button.disabled = false;
      button.textContent = "Rank all posts";
    }
  }

  return el("section", { class: "panel stack", "aria-labelledby": "selection-title" }, el("h2", { id: "selection-title", tabindex: -1 }, "Relevant posts"),
    el("p", { class: "muted" }, "Ranks all posts, labeled or not, and learns from the labels where to cut the ranking. Decided and majority labels count."),
    el("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); rank(); } },
      el("div", {}, el("label", { for: "selection-keep" }, "Keep"), choice), el("p", {}, button)), problem, answer);
}
