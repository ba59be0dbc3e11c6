// Rank posts for an article that somebody pastes.

import { articlePanel } from "./article.js";
import { ask } from "./api.js";
import { counted, el, whole, words } from "./dom.js";

const SECONDS = 600;

export class RankView {
  constructor(sources, models) {
    this.article = el("textarea", { id: "rank-article", rows: 7, required: true, "aria-describedby": "rank-article-hint" });
    this.published = el("input", { id: "rank-published", type: "date" });
    this.source = el("select", { id: "rank-source", onchange: () => this.chosen() }, sources.map((one) =>
      el("option", { value: one.key }, one.posts === null ? one.title : `${one.title} (${whole(one.posts)})`)));
    this.pasted = el("textarea", { id: "rank-posts", rows: 6 });
    this.pastedField = el("div", { hidden: true }, el("label", { for: "rank-posts" }, "Posts, one per line"), this.pasted);
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
            el("div", {}, el("label", { for: "rank-article" }, "Article"), this.article,
              el("small", { id: "rank-article-hint" }, "Its address (https://…) or its text. A first line followed by a blank line is the title.")),
            el("div", {}, el("label", { for: "rank-published" }, "Published (if the article has no date)"), this.published),
            el("div", {}, el("label", { for: "rank-source" }, "Posts"), this.source),
            el("div", { class: "two" },
              el("div", {}, el("label", { for: "rank-model" }, "Model"), this.model),
              el("div", {}, el("label", { for: "rank-top" }, "Posts shown"), this.top)),
            this.pastedField, this.problem, this.button)),
        this.read),
      this.results);
    this.chosen();
  }

  chosen() {
    const pasted = this.source.value === "pasted";
    this.pastedField.hidden = !pasted;
    this.pasted.required = pasted;
  }

  async rank() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    this.button.textContent = "Ranking…";
    this.problem.textContent = "";
    try {
      const body = { article: this.article.value, published: this.published.value, source: this.source.value, posts: this.pasted.value, top: Number(this.top.value), model: this.model.value };
      this.show(await ask("api/rank", body, SECONDS));
      // On phones the ranking is below the screen.
      if (this.results.getBoundingClientRect().top > window.innerHeight) this.results.scrollIntoView();
    } catch (failure) {
      this.problem.textContent = failure.message;
    } finally {
      this.button.disabled = false;
      this.button.textContent = "Rank";
    }
  }

  show(answer) {
    const { panel, mark } = articlePanel([answer.article]);
    panel.classList.add("under");
    mark(answer.words);
    this.read.replaceChildren(panel);
    const list = el("ol", { class: "rows ranked" }, answer.posts.map((post) => {
      const bar = el("span");
      bar.style.width = `${post.score.toFixed(1)}%`;
      return el("li", {}, el("span", { class: "place", "aria-hidden": "true" }, post.rank),
        el("div", {}, words(post.parts), el("div", { class: "score num" }, el("span", { class: "meter", "aria-hidden": "true" }, bar), `score ${post.score.toFixed(1)}`, post.shares && ` · ${post.shares}`)));
    }));
    this.results.replaceChildren(el("div", { class: "panel" },
      el("h2", {}, `The best ${counted(answer.posts.length, "post")} of ${whole(answer.total)}`),
      list,
      el("p", { class: "muted" }, `Ranked with ${answer.model}. ${answer.meaning}`)));
  }
}
