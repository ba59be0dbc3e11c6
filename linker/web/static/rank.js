// Rank posts for an article that somebody pastes, or for each of several.

import { articlePanel } from "./article.js";
import { ArticleFields } from "./articles.js";
import { ask, send } from "./api.js";
import { counted, el, whole, words } from "./dom.js";
import { PostFiles, temporary } from "./files.js";

const SECONDS = 600;

export class RankView {
  constructor({ sources, models, endings, upload_bytes }) {
    this.article = new ArticleFields("rank", true);
    this.source = el("select", { id: "rank-source", onchange: () => this.chosen() }, sources.map((one) =>
      el("option", { value: one.key }, one.posts === null ? one.title : `${one.title} (${whole(one.posts)})`)));
    this.place = temporary();
    this.files = new PostFiles("rank-files", this.place.path, { endings, upload_bytes });
    this.pasted = el("textarea", { id: "rank-posts", rows: 4 });
    this.given = el("div", { class: "stack" }, this.files.node, el("div", {}, el("label", { for: "rank-posts" }, "Posts that you paste, one per line"), this.pasted));
    this.top = el("select", { id: "rank-top" }, [10, 20, 50, 100].map((n) => el("option", { value: n, selected: n === 20 }, n)));
    this.model = el("select", { id: "rank-model" }, models.map((name, i) => el("option", { value: name }, i ? name : `${name} (default)`)));
    this.button = el("button", { type: "submit", class: "primary" }, "Rank");
    this.problem = el("p", { class: "problem", role: "alert" });
    this.results = el("section", { "aria-label": "Ranked posts", "aria-live": "polite" },
      el("div", { class: "panel empty" }, "The posts that discuss the article will appear here, best first."));
    this.read = el("div");
    this.node = el("div", { class: "asking" },
      el("div", {},
        el("section", { class: "panel" },
          el("form", { onsubmit: (event) => { event.preventDefault(); this.rank(); } },
            el("h1", {}, "Rank posts"),
            this.article.node,
            el("div", {}, el("label", { for: "rank-source" }, "Posts"), this.source), this.given,
            el("div", { class: "two" },
              el("div", {}, el("label", { for: "rank-model" }, "Model"), this.model),
              el("div", {}, el("label", { for: "rank-top" }, "Posts shown"), this.top)),
            this.problem, this.button)),
        this.read),
      this.results);
    this.chosen();
  }

  chosen() {
    this.given.hidden = this.source.value !== "files";
  }

  async rank() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    this.button.textContent = "Ranking…";
    this.problem.textContent = "";
    try {
      const articles = this.article.values.flatMap(([text, published]) => parts(text).map((article) => ({ article, published })));
      if (!this.given.hidden) await this.paste();
      const options = { source: this.source.value, files: this.place.key, top: Number(this.top.value), model: this.model.value };
      const answers = [];
      for (const [i, one] of articles.entries()) {
        if (articles.length > 1) this.button.textContent = `Ranking ${i + 1} of ${articles.length}…`;
        answers.push(await ask("api/rank", { ...one, ...options }, SECONDS).catch((failure) => {
          throw articles.length > 1 ? new Error(`Article ${i + 1}: ${failure.message}`) : failure;
        }));
        this.show(answers);
      }
      // On phones the ranking is below the screen.
      if (this.results.getBoundingClientRect().top > window.innerHeight) this.results.scrollIntoView();
    } catch (failure) {
      this.problem.textContent = failure.message;
    } finally {
      this.button.disabled = false;
      this.button.textContent = "Rank";
    }
  }

  /** Pasted posts are a file as well. */
  async paste() {
    await this.files.sending;
    const name = "pasted.txt";
    if (this.pasted.value.trim()) await send(`${this.place.path}?${new URLSearchParams({ name })}`, new Blob([this.pasted.value]));
    else if (this.sent) await ask(`${this.place.path}/${name}`, undefined, 30, "DELETE");
    this.sent = Boolean(this.pasted.value.trim());
    const { problem } = this.files;
    if (problem && (this.files.files.length || !this.sent)) throw new Error(problem);
  }

  show(answers) {
    const { panel, mark } = articlePanel(answers.map((answer) => answer.article));
    panel.classList.add("under");
    if (answers.length === 1) mark(answers[0].words);
    this.read.replaceChildren(panel);
    const [{ model, meaning }] = answers;
    this.results.replaceChildren(...answers.map((answer) => answers.length === 1
      ? el("div", { class: "panel" }, el("h2", {}, heading(answer)), ranked(answer))
      : el("details", { class: "panel", open: answers[0] === answer },
        el("summary", {}, el("h2", { dir: "auto" }, answer.article.title || answer.article.text.slice(0, 80))),
        el("p", { class: "muted" }, heading(answer)), ranked(answer))),
    el("p", { class: "muted under" }, `Ranked with ${model}. ${meaning}`));
  }
}

/** A text, or the addresses of which each is in a line of its own. */
function parts(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return lines.every((line) => /^https?:\/\/\S+$/.test(line)) ? lines : [text];
}

function heading(answer) {
  return `The best ${counted(answer.posts.length, "post")} of ${whole(answer.total)}`;
}

function ranked(answer) {
  return el("ol", { class: "rows ranked" }, answer.posts.map((post) => {
    const bar = el("span");
    bar.style.width = `${post.score.toFixed(1)}%`;
    return el("li", {}, el("span", { class: "place", "aria-hidden": "true" }, post.rank),
      el("div", {}, words(post.parts), el("div", { class: "score num" }, el("span", { class: "meter", "aria-hidden": "true" }, bar), `score ${post.score.toFixed(1)}`, post.decided_by && ` · ${post.decided_by}`)));
  }));
}
