// The article, with the words marked that counted.

import { el, shownTime, visible } from "./dom.js";

const LEVELS = 4;

/** Marks a text's words by their weights: word → weight, lower case. */
function marked(text, weights, most) {
  if (!weights.size) return [visible(text)];
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu)) {
    const weight = weightOf(match[0].toLowerCase().replaceAll("’", "'"), weights);
    if (!weight) continue;
    nodes.push(visible(text.slice(end, match.index)));
    const level = Math.max(1, Math.ceil(LEVELS * weight / most));
    nodes.push(el("mark", { class: `w${level}` }, visible(match[0])));
    end = match.index + match[0].length;
  }
  return [...nodes, visible(text.slice(end))];
}

/** Tokenizers split at hyphens and before 's; so a word's part may be what counted. */
function weightOf(word, weights) {
  return weights.get(word) ?? weights.get(word.replace(/'s$/, ""))
    ?? word.split("-").reduce((most, part) => Math.max(most, weights.get(part) ?? 0), 0);
}

function link(url) {
  let address;
  try { address = new URL(url); } catch { return null; }
  if (!["http:", "https:"].includes(address.protocol)) return null;
  return el("a", { href: address.href, rel: "noopener noreferrer", target: "_blank" }, address.hostname);
}

/** A panel with one article or several; `mark(words)` marks them again. */
export function articlePanel(articles) {
  const panel = el("section", { class: "panel source", "aria-label": articles.length > 1 ? "Articles" : "Article" });
  const wide = matchMedia("(min-width: 48.01rem)").matches;
  const bodies = [];
  articles.forEach((article, i) => {
    const time = article.published && shownTime(article.published);
    const about = [time && visible(time), article.url && link(article.url)].filter(Boolean);
    const body = el("div", { class: "text" });
    const title = el("h1", { dir: "auto" });
    bodies.push({ article, body, title });
    panel.append(el("details", { open: wide && i === 0 },
      el("summary", {}, el("span", { class: "eyebrow" }, articles.length > 1 ? `Article ${i + 1} of ${articles.length}` : "Article"), title),
      about.length ? el("p", { class: "muted" }, about.flatMap((one, n) => (n ? [" · ", one] : [one]))) : null,
      el("p", { class: "legend" }, "Word weight: ",
        [1, 2, 3, 4].map((n) => el("mark", { class: `w${n}` }, ["a little", "some", "more", "most"][n - 1]))),
      body));
  });
  function mark(list) {
    const weights = new Map(list.map(([word, weight]) => [word.toLowerCase(), weight]));
    const most = Math.max(...weights.values(), 1e-9);
    panel.querySelectorAll(".legend").forEach((legend) => { legend.hidden = !weights.size; });
    for (const { article, body, title } of bodies) {
      title.replaceChildren(...marked(article.title || "Untitled", weights, most));
      const paragraphs = article.text.split(/\n\s*\n|\n/).filter((one) => one.trim());
      body.replaceChildren(...paragraphs.map((one) => el("p", { dir: "auto" }, marked(one, weights, most))));
    }
  }
  mark([]);
  return { panel, mark };
}
