// Search a corpus: the posts that discuss an article, page by page, and their export.

import { articlePanel } from "./article.js";
import { ask, download } from "./api.js";
import { originalLink } from "./context.js";
import { counted, el, say, shownTime, whole, words } from "./dom.js";

const SECONDS = 600;
const PAGE = 20;
const MOST = 200; // languages have one code, corpora have many languages: the list shows the frequent ones

export class SearchView {
  constructor(corpus) {
    this.article = el("textarea", { id: "search-article", rows: 7, required: true, "aria-describedby": "search-article-hint" });
    this.published = el("input", { id: "search-published", type: "date" });
    this.since = el("input", { id: "search-since", type: "date", min: day(corpus.first), max: day(corpus.last) });
    this.until = el("input", { id: "search-until", type: "date", min: day(corpus.first), max: day(corpus.last) });
    this.lang = el("select", { id: "search-lang" }, el("option", { value: "" }, "Any"),
      Object.entries(corpus.languages).filter(([name]) => name !== "unknown").slice(0, MOST)
        .map(([name, count]) => el("option", { value: name }, `${name} (${whole(count)})`)));
    this.dates = el("input", { id: "search-dates", type: "checkbox" });
    this.button = el("button", { type: "submit", class: "primary" }, "Search");
    this.problem = el("p", { class: "problem", role: "alert" });
    this.results = el("section", { "aria-label": "Posts" },
      el("div", { class: "panel empty" }, "The posts that discuss the article will appear here, best first."));
    this.read = el("div");
    const field = (control, label) => el("div", {}, el("label", { for: control.id }, label), control);
    this.node = el("div", { class: "asking" },
      el("div", {},
        el("section", { class: "panel" },
          el("form", { role: "search", onsubmit: (event) => { event.preventDefault(); this.search(); } },
            el("h1", {}, corpus.name),
            el("p", { class: "muted" }, described(corpus)),
            el("div", {}, el("label", { for: "search-article" }, "Article"), this.article,
              el("small", { id: "search-article-hint" }, "Its address (https://…) or its text. A first line followed by a blank line is the title.")),
            el("div", {}, el("label", { for: "search-published" }, "Published (if the article has no date)"), this.published),
            corpus.first && el("div", { class: "two-equal" }, field(this.since, "From"), field(this.until, "To")),
            this.lang.options.length > 1 && field(this.lang, "Language"),
            corpus.first && el("p", { class: "check" }, this.dates, " ", el("label", { for: "search-dates" }, "Ignore when posts were written")),
            this.problem, this.button)),
        this.read),
      this.results);
  }

  wanted() {
    const query = { article: this.article.value, published: this.published.value, ignore_dates: this.dates.checked };
    if (this.lang.value) query.languages = [this.lang.value];
    if (this.since.value) query.since = `${this.since.value}T00:00:00Z`;
    if (this.until.value) query.until = new Date(Date.parse(`${this.until.value}T00:00:00Z`) + 86_400_000).toISOString();
    return query;
  }

  async search() {
    if (this.button.disabled) return;
    this.query = this.wanted();
    await this.busy(this.button, "Searching…", async () => {
      const answer = await this.page(0);
      const { panel, mark } = articlePanel([answer.article]);
      panel.classList.add("under");
      mark(answer.article.words);
      this.read.replaceChildren(panel);
      this.list = el("ol", { class: "rows ranked" });
      this.more = el("button", { type: "button", onclick: () => this.extend() }, "Show more");
      this.heading = el("h2");
      this.results.replaceChildren(el("div", { class: "panel" }, this.heading, this.list,
        answer.posts.length ? el("p", { class: "buttons" }, this.more, this.exportButton("csv", "Export CSV"), this.exportButton("jsonl", "Export JSON lines")) : el("p", {}, "No posts meet the conditions."),
        el("p", { class: "muted" }, [`Ranked with ${answer.model}`, answer.dates ? "; the time between article and posts counts" : "", `. ${answer.meaning}.`, ...answer.notes.map((note) => ` ${note}.`)].join(""))));
      this.add(answer);
      say(counted(answer.posts.length, "post"));
    });
  }

  extend() {
    return this.busy(this.more, "Searching…", async () => this.add(await this.page(this.list.children.length)));
  }

  page(offset) {
    return ask("api/corpus/search", { ...this.query, top: PAGE, offset, explain: true }, SECONDS);
  }

  add(answer) {
    this.list.append(...answer.posts.map(row));
    this.more.hidden = answer.posts.length < PAGE;
    this.heading.textContent = `The best ${counted(this.list.children.length, "post")} of ${whole(answer.total)}`;
  }

  exportButton(format, text) {
    const button = el("button", { type: "button", onclick: () => this.busy(button, "Writing…",
      () => download("api/corpus/export", { ...this.query, format }, `posts.${format}`, SECONDS)) }, text);
    return button;
  }

  async busy(button, text, work) {
    const usual = button.textContent;
    button.disabled = true;
    button.textContent = text;
    this.problem.textContent = "";
    try {
      await work();
    } catch (failure) {
      this.problem.textContent = failure.message;
    } finally {
      button.disabled = false;
      button.textContent = usual;
    }
  }
}

function row(post) {
  const bar = el("span");
  bar.style.width = `${post.score.toFixed(1)}%`;
  const like = post.copies ? ` · ${counted(post.copies, "near-duplicate")}` : "";
  const chips = [
    post.created_at ? el("li", { class: "chip" }, shownTime(post.created_at)) : null,
    post.language || post.lang ? el("li", { class: "chip" }, post.language ?? post.lang) : null,
    post.url ? el("li", {}, originalLink(post)) : null,
  ].filter(Boolean);
  return el("li", {}, el("span", { class: "place", "aria-hidden": "true" }, post.rank),
    el("div", {}, words(post.parts ?? [[post.text, 0]]),
      el("div", { class: "score num" }, el("span", { class: "meter", "aria-hidden": "true" }, bar),
        `score ${post.score.toFixed(1)}${post.decided_by ? ` · ${post.decided_by}` : ""}${like}`),
      chips.length ? el("ul", { class: "chips" }, chips) : null));
}

const day = (iso) => iso?.slice(0, 10) ?? null;

function described(corpus) {
  const span = corpus.first ? `, ${shownTime(corpus.first)} to ${shownTime(corpus.last)}` : "";
  return `${counted(corpus.posts, "post")}${span}`;
}
