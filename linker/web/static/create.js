// A new project: what is asked, about which article and which posts, and who answers.

import { ask } from "./api.js";
import { ArticleFields } from "./articles.js";
import { QuestionFields } from "./codebook.js";
import { counted, el, hiding, say } from "./dom.js";
import { PostFiles, temporary } from "./files.js";
import { markdown } from "./markdown.js";

const SECONDS = 120;
const SHARES = [[1, "all posts"], [0.5, "half of the posts"], [0.2, "a fifth of the posts"], [0.1, "a tenth of the posts"]];
const VALUES = [["relevant", "relevant"], ["not", "not relevant"], ["skip", "no label"]];

const option = ([value, text]) => el("option", { value }, text);
const field = (id, label, control, hint) => {
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return el("div", {}, el("label", { for: id }, label), control, hint ? el("small", { id: `${id}-hint` }, hint) : null);
};

export class NewProjectView {
  /**
   * @param overview  what a project can be made of
   * @param created  a function, called with the key of the new project
   * @param like  a project whose settings it begins with; null: none
   */
  constructor(overview, created, like) {
    this.overview = overview;
    this.created = created;
    this.articles = new ArticleFields("new", true);
    this.place = temporary();
    this.files = new PostFiles("new-posts", this.place.path, overview);
    [this.since, this.until] = [1, 2].map(() => el("input", { type: "date" }));
    this.languages = el("input", { maxlength: 200, autocapitalize: "none" });
    this.title = el("input", { required: true, maxlength: 200 });
    this.question = el("input", { required: true, maxlength: 500, value: overview.question });
    this.guidelines = el("textarea", { rows: 6, maxlength: 50000, oninput: () => this.preview() });
    this.shown = el("div", { class: "prose preview", role: "region", "aria-label": "Preview of the guidelines", hidden: true });
    this.questions = new QuestionFields();
    this.people = el("textarea", { rows: 3, oninput: () => this.drawOverlap() });
    this.perPost = el("select", { onchange: () => this.drawOverlap() });
    this.share = el("select", {}, SHARES.map(option));
    this.shareField = field("new-share", "Which posts", this.share);
    this.model = el("select", {}, overview.models.map((name, i) => el("option", { value: name }, i ? name : `${name} (default)`)));
    this.target = el("select", {}, [[0.95, "95 % (default)"], [0.9, "90 %"], [0.8, "80 %"], [0.99, "99 %"]].map(option));
    const [[blind, blindField], [random, randomField]] = hiding("new", false, "");
    [this.blind, this.random] = [blind, random];
    this.problem = el("p", { class: "problem", role: "alert" });
    this.button = el("button", { type: "submit", class: "primary" }, "Create project");
    const part = (title, ...children) => el("section", { class: "panel stack" }, el("h2", {}, title), children);
    this.node = el("div", { class: "page" }, el("h1", {}, "New project"),
      el("form", { class: "stack wide-gap", onsubmit: (event) => { event.preventDefault(); this.create(); } },
        part("1. Article", this.articles.node),
        part("2. Posts", this.files.node, el("div", { class: "two-equal" }, field("new-since", "Only posts from", this.since), field("new-until", "Only posts before", this.until),
          field("new-languages", "Only in languages", this.languages, "Such as en, de. Leave empty for all."))),
        part("3. What is asked",
          field("new-title", "Name of the project", this.title), field("new-question", "Question", this.question),
          field("new-guidelines", "Guidelines", this.guidelines, "What counts and what does not, with examples. Markdown: # heading, - list, **bold**, [text](https://…)."), this.shown,
          this.labelFields(), this.questions.node),
        part("4. Who answers",
          field("new-people", "People, one name per line", this.people, "Each gets a link, and sees labels of others only after giving their own. Leave empty to let visitors enter their own name."),
          el("div", { class: "two-equal" }, field("new-per-post", "People who label each post", this.perPost), this.shareField)),
        part("5. Order and end", el("div", { class: "two-equal" },
          field("new-model", "Model that orders the posts", this.model, "It scores every post once, before labeling begins; BM25 and TF-IDF at once."),
          field("new-target", "Stop at a recall of", this.target, "Share of all relevant posts to find, with 95 % confidence.")), blindField, randomField),
        this.problem, el("p", { class: "dialog-end" }, this.button)));
    this.drawOverlap();
    this.drawLabels();
    if (like) this.begin(like);
  }

  /** Begin with the settings of another project. */
  begin(like) {
    for (const article of like.articles) this.articles.fill(article);
    for (const name of ["question", "guidelines", "model", "target", "since", "until"]) this[name].value = like[name];
    this.languages.value = like.languages.join(", ");
    [this.blind.checked, this.random.checked] = [like.blind, like.strategy === "random"];
    this.people.value = like.people.map((one) => one.name).join("\n");
    this.drawOverlap();
    this.perPost.value = like.labels_per_post;
    this.share.value = like.overlap;
    this.drawOverlap();
    this.preview();
    if (JSON.stringify(like.labels) === JSON.stringify(this.overview.labels)) return;
    this.rows.replaceChildren();
    for (const { name, value } of like.labels) this.addLabel(name, value);
    this.node.querySelector("#labels-own").checked = true;
    this.drawLabels();
  }

  preview() {
    this.shown.hidden = !this.guidelines.value.trim();
    this.shown.replaceChildren(...markdown(this.guidelines.value));
  }

  names() {
    return this.people.value.split("\n").map((name) => name.trim()).filter(Boolean);
  }

  drawOverlap() {
    const most = Math.max(1, this.names().length);
    const chosen = Math.min(Number(this.perPost.value || 1), most);
    this.perPost.replaceChildren(...Array.from({ length: most }, (_, i) => el("option", { value: i + 1, selected: i + 1 === chosen }, i ? counted(i + 1, "person", "people") : "1 person")));
    this.shareField.hidden = chosen < 2;
  }

  labelFields() {
    const kind = (value, text) => el("p", { class: "check" }, el("input", { type: "radio", name: "labels", id: `labels-${value}`, value, checked: value === "usual", onchange: () => this.drawLabels() }), el("label", { for: `labels-${value}` }, text));
    const number = (value) => el("input", { type: "number", min: 0, max: 9, value, required: true });
    [this.low, this.high, this.from] = [number(0), number(3), number(2)];
    this.scale = el("div", { class: "three" }, field("scale-low", "Lowest", this.low), field("scale-high", "Highest", this.high), field("scale-from", "Relevant from", this.from));
    this.rows = el("div", { class: "stack" });
    for (const [name, value] of [["About it", "relevant"], ["Mentions it", "relevant"], ["Something else", "not"], ["Unsure", "skip"]]) this.addLabel(name, value);
    this.own = el("div", { class: "stack" }, this.rows, el("p", {}, el("button", { type: "button", onclick: () => this.addLabel("", "not").focus() }, "Add a label")));
    return el("fieldset", { class: "stack" }, el("legend", {}, "Labels"),
      kind("usual", this.overview.labels.map((one) => one.name).join(" / ")), kind("scale", "A scale"), this.scale, kind("own", "Labels of my own"), this.own);
  }

  addLabel(name, value) {
    const number = this.rows.children.length + 1;
    const text = el("input", { value: name, maxlength: 40, "aria-label": `Label ${number}` });
    const counts = el("select", { "aria-label": `Label ${number} counts as` }, VALUES.map(([key, shown]) => el("option", { value: key, selected: key === value }, `counts as ${shown}`)));
    this.rows.append(el("div", { class: "two-equal" }, text, counts));
    return text;
  }

  get kind() {
    return this.node.querySelector("[name=labels]:checked").value;
  }

  drawLabels() {
    this.scale.hidden = this.kind !== "scale";
    this.own.hidden = this.kind !== "own";
    for (const one of [this.low, this.high, this.from]) one.disabled = this.kind !== "scale";
  }

  labels() {
    if (this.kind === "usual") return this.overview.labels;
    if (this.kind === "own") {
      return [...this.rows.children].map((row) => ({ name: row.querySelector("input").value.trim(), value: row.querySelector("select").value })).filter((one) => one.name);
    }
    const [low, high, from] = [this.low, this.high, this.from].map((one) => Number(one.value));
    return Array.from({ length: Math.max(0, high - low + 1) }, (_, i) => ({ name: String(low + i), value: low + i >= from ? "relevant" : "not" }));
  }

  async create() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    this.problem.textContent = "";
    const step = (text) => { this.button.textContent = text; say(text); };
    step("Uploading the posts…");
    await this.files.sending;
    this.problem.textContent = this.files.problem && `Part 2: ${this.files.problem}`;
    if (this.files.problem) {
      this.button.disabled = false;
      this.button.textContent = "Create project";
      return;
    }
    let project = null;
    try {
      step("Reading the article…");
      project = await ask("api/projects", {
        title: this.title.value, question: this.question.value, guidelines: this.guidelines.value, model: this.model.value, target: Number(this.target.value),
        articles: this.articles.values.map(([text]) => text), published: this.articles.values.map(([, date]) => date), files: this.place.key,
        blind: this.blind.checked, strategy: this.random.checked ? "random" : "active_learning",
        since: this.since.value, until: this.until.value, languages: this.languages.value.split(/[\s,;]+/).filter(Boolean),
        people: this.names(), labels_per_post: Number(this.perPost.value), overlap: Number(this.share.value), labels: this.labels(), questions: this.questions.values,
      }, SECONDS);
      step("Starting…");
      await ask(`api/projects/${encodeURIComponent(project.key)}/start`, {});
    } catch (failure) {
      this.problem.textContent = failure.message;
    }
    this.button.disabled = false;
    this.button.textContent = "Create project";
    if (project) this.created(project.key, this.problem.textContent);
  }
}
