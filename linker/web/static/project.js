// A project as its owner sees it: progress, people, agreement, labels, settings.

import { ask, send } from "./api.js";
import { byId, copied, counted, el, hiding, redraw, say, sentence, shownTime, steadily, whole } from "./dom.js";
import { fileField, PostFiles, temporary } from "./files.js";
import { Live } from "./live.js";
import { markdown } from "./markdown.js";
import { onPage } from "./messages.js";
import { left, missing } from "./progress.js";
import { removalButton } from "./removal.js";
import { Review } from "./review.js";
import { selectionPanel } from "./selection.js";

const FORMATS = { csv: "CSV", xlsx: "Excel", jsonl: "JSON Lines", asreview: "ASReview", label_studio: "Label Studio", argilla: "Argilla", doccano: "doccano", prodigy: "Prodigy" };

function goTo(id) {
  byId(id)?.scrollIntoView();
  byId(id)?.focus({ preventScroll: true });
}

const field = (id, label, control, hint) => {
  control.id = id;
  return el("div", {}, el("label", { for: id }, label), control, hint ? el("small", {}, hint) : null);
};
const panel = (title, ...children) => {
  const id = `part-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return el("section", { class: "panel stack", "aria-labelledby": id }, el("h2", { id, tabindex: -1 }, title), children);
};

export class ProjectView {
  /**
   * @param key  of the project
   * @param desk  a function: key → session, once posts can be labeled
   * @param annotator  a function: who decides where people disagree
   * @param askName  a function: ask for that name, which looks at the labels of others are recorded under
   * @param about  the server; without projects, there are labels only
   * @param reached  a function, called with the failure whenever it was tried to keep the page current, or null
   */
  constructor(key, desk, annotator, askName, about, reached) {
    this.key = key;
    this.desk = desk;
    this.annotator = annotator;
    this.askName = askName;
    this.about = about;
    this.address = about.address; // of the page behind a proxy
    this.path = `api/projects/${encodeURIComponent(key)}`;
    this.session = `api/sessions/${encodeURIComponent(key)}`;
    this.place = temporary(); // of files to add
    this.live = new Live(`${this.session}/version`, () => this.refresh(), (failure) => {
      reached(failure);
      if (failure && !this.drawn) this.head.replaceChildren(el("h1", {}, "Project"), el("p", { class: "problem", role: "alert" }, failure.message));
    });
    this.head = el("div");
    this.parts = el("div", { class: "stack wide-gap" });
    this.node = el("div", { class: "page" }, this.head, this.parts);
    this.drawn = "";
  }

  /** Show the page, and keep it current; `problem`: why a new project could not begin; `place`: a part to go to. */
  async load(problem = "", place = "") {
    this.problem = problem;
    await this.live.start();
    if (place === "agreement") goTo("review-title");
  }

  close() {
    this.live.stop();
  }

  async refresh() {
    this.project = await ask(this.about.projects ? this.path : `${this.session}/status`);
    if (this.problem && this.project.state === "draft") this.project.error = this.problem;
    await this.draw();
    if (this.review) await this.review.load();
  }

  async draw() {
    const { project } = this;
    const hasProject = this.about.projects;
    const ready = "labeled" in project;
    steadily(() => redraw(this.head, hasProject ? this.heading(project, ready) : el("h1", {}, "Agreement and labels")));
    const drawn = ready ? "ready" : `draft ${project.step} ${project.error}`;
    if (this.drawn === drawn) { // what is being typed stays
      if (ready) steadily(() => this.drawParts());
      return;
    }
    this.drawn = drawn;
    if (!ready) {
      this.parts.replaceChildren(...(project.step ? [el("p", { class: "panel empty", role: "status" }, `${project.step}…`)] : this.draft()));
      return;
    }
    const session = await this.desk(this.key);
    this.review = new Review(session, this.annotator, this.askName, () => this.live.look());
    this.figures = el("div", { class: "stack wide-gap" });
    this.links = el("div");
    this.form = el("div");
    this.further = el("div");
    this.step = null; // that `further` shows
    this.parts.replaceChildren(this.figures, ...(hasProject ? [this.links] : []), this.review.node, selectionPanel(this.key), this.exports(), this.imports(), ...(hasProject ? [this.further, this.form, this.another(), this.removal()] : []));
    this.drawParts();
  }

  /** Draw what has changed; settings that are being edited stay. */
  drawParts() {
    this.drawFigures();
    if (!this.about.projects) return;
    redraw(this.links, this.people(this.project));
    const typed = [...this.form.querySelectorAll("input, textarea")].some((one) => one.value !== one.defaultValue || one.checked !== one.defaultChecked);
    if (!typed) redraw(this.form, this.settings(this.project));
    if (this.step === this.project.step) return; // files that are being chosen stay
    this.step = this.project.step;
    this.further.replaceChildren(this.step ? panel("Add posts", el("p", { class: "muted", role: "status" }, `${this.step}… People can label meanwhile.`)) : this.addition());
  }

  heading(project, ready) {
    const link = (name, text) => el("a", { class: name === "label" ? "button primary" : "button", href: `#${name}/${encodeURIComponent(this.key)}` }, text);
    return [el("div", { class: "page-top" }, el("h1", { dir: "auto" }, project.title), ready ? el("div", { class: "row-end" }, link("posts", "All posts"), link("label", "Label")) : null),
      project.error ? el("p", { class: "problem problem-box", role: "alert" }, onPage(project.error)) : null,
      project.notes.length ? el("details", { class: "muted", open: true }, el("summary", {}, "How the files were read"), el("ul", {}, project.notes.map((note) => el("li", {}, onPage(note))))) : null].filter(Boolean);
  }

  draft() {
    return [panel("Posts", ...this.posts("draft-posts", `${this.path}/files`, "Start labeling", "start", {})), this.another(), this.removal()];
  }

  addition() {
    return panel("Add posts", el("p", { class: "muted" }, "All labels, notes and answers stay; random samples begin again, because those before are samples of the former posts."),
      ...this.posts("added-posts", this.place.path, "Add posts", "posts", { files: this.place.key }));
  }

  /** Fields for files of posts at `path`, and a button that has the server score them. */
  posts(id, path, text, action, body) {
    const problem = el("p", { class: "problem", role: "alert" });
    const files = new PostFiles(id, path, this.about, () => { problem.textContent = ""; });
    const button = el("button", { type: "button", class: "primary", onclick: async () => {
      button.disabled = true;
      await files.sending;
      problem.textContent = files.problem;
      button.disabled = !files.problem;
      if (files.problem) return;
      this.problem = "";
      problem.textContent = await ask(`${this.path}/${action}`, body).then(() => "", (failure) => failure.message);
      button.disabled = false;
      if (!problem.textContent) this.step = null; // the files are the project's now, or will be
      await this.refresh();
    } }, text);
    files.load();
    return [files.node, problem, el("p", { class: "dialog-end" }, button)];
  }

  drawFigures() {
    const { project } = this;
    redraw(this.figures, panel("Progress",
      el("dl", { class: "figures" },
        el("div", {}, el("dt", {}, "Relevant found"), el("dd", {}, whole(project.relevant))),
        el("div", {}, el("dt", {}, "Labeled"), el("dd", {}, whole(project.labeled), el("small", {}, ` of ${whole(project.posts)}`)))),
      el("div", {}, el("p", { class: "eyebrow" }, "Relevant posts left"), left(project.relevant, project.estimate)),
      missing(project) ? el("p", {}, missing(project)) : null,
      el("div", { class: project.decision.stop ? "decision stop" : "decision" }, el("strong", {}, project.decision.stop ? "You may stop" : "Continue"),
        el("p", { class: "muted" }, sentence(project.decision.reason)))), project.decision.stop ? this.next(project) : null);
  }

  next(project) {
    const command = (id, text, label) => el("li", {}, el("label", { for: id }, text), copied(label, text, id));
    const { commands } = project;
    const step = (id, text) => el("li", {}, el("a", { href: `#${id}`, onclick: (event) => { event.preventDefault(); goTo(id); } }, text));
    return panel("What to do next",
      el("ol", { class: "steps stack" },
        project.disputed ? step("review-title", `Decide on ${counted(project.disputed, "post")} on which people disagree`) : null,
        step("selection-title", "Rank all posts, and keep those above a threshold learned from the labels"),
        step("part-export-labels", "Export the labels")),
      commands ? el("details", {}, el("summary", {}, "The same as commands, to type where the server was started"),
        el("ol", { class: "steps stack" }, command("command-export", "Write one label per post", commands.export), command("command-rank", "Rank all posts", commands.rank))) : null);
  }

  people(project) {
    const links = project.people.map((person, i) => {
      const address = `${this.address ?? location.origin + location.pathname}#token=${person.token}`;
      return el("li", {}, el("label", { for: `link-${i}` }, person.name), copied(address, `Link of ${person.name}`, `link-${i}`));
    });
    return panel("People", links.length ? el("ul", { class: "rows links" }, links) : el("p", { class: "muted" }, "No people are named: visitors enter their own name. Add people under Settings to give each a link."),
      links.length ? el("p", { class: "muted" }, "A link opens this project for one person, under their name. Anyone who has it can label as that person. ",
        project.reachable ? null : "The links work on this computer only; the guide to annotation projects (Share) describes how to open the server to others.") : null);
  }

  exports() {
    const resolved = el("input", { id: "export-resolved", type: "checkbox", onchange: () => draw() });
    const links = el("div", { class: "buttons" });
    const address = (format) => `api/sessions/${encodeURIComponent(this.key)}/export?${new URLSearchParams({ format, resolved: resolved.checked, annotator: this.annotator() })}`;
    const draw = () => links.replaceChildren(...Object.entries(FORMATS).map(([format, name]) => el("a", {
      class: "button", download: true, id: `export-${format}`, href: address(format),
      onclick: async (event) => {
        const link = event.target;
        link.href = address(format);
        if (this.annotator()) return;
        event.preventDefault();
        await this.askName();
        link.click();
      },
    }, name)));
    draw();
    return panel("Export labels", el("p", { class: "check" }, resolved, el("label", { for: "export-resolved" }, "One label per post: the decided one, or the majority's")), links,
      el("p", { class: "muted" }, "An export shows the labels of all people. If you label a post after you exported labels of others on it, your label counts in no agreement."));
  }

  imports() {
    const files = fileField("import-file", "Drop a file of labels here, or choose it");
    const format = el("select", {}, Object.entries({ "": "Recognize it", ...FORMATS }).map(([value, text]) => el("option", { value }, text)));
    const who = el("input", { maxlength: 100 });
    const machine = el("input", { id: "import-machine", type: "checkbox" });
    const status = el("p", { role: "status", class: "muted" });
    const problem = el("p", { role: "alert", class: "problem" });
    const button = el("button", { type: "submit" }, "Import");
    const submit = async (event) => {
      event.preventDefault();
      const [file] = files.files();
      problem.textContent = file ? "" : "Choose a file first.";
      status.textContent = "";
      if (!file) return;
      button.disabled = true;
      try {
        const query = new URLSearchParams({ name: file.name, format: format.value, annotator: who.value, machine: machine.checked });
        const answer = await send(`api/sessions/${encodeURIComponent(this.key)}/import?${query}`, file);
        status.textContent = `${counted(answer.read, "label")} read, ${whole(answer.new)} of them new. ${answer.summary}`;
        files.clear();
        await this.live.look();
      } catch (failure) {
        problem.textContent = failure.message;
      } finally {
        button.disabled = false;
      }
    };
    return panel("Import labels", el("form", { class: "stack", onsubmit: submit }, files.node,
      el("div", { class: "two-equal" }, field("import-format", "Format", format), field("import-who", "Whose labels, if the file does not say", who)),
      el("p", { class: "check" }, machine, el("label", { for: "import-machine" }, "A machine gave these labels, such as a language model: compare them with people's, and count them for nothing else")),
      problem, status, el("p", {}, button)));
  }

  another() {
    return panel("Another project", el("p", { class: "muted" }, "The article, dates, languages and labels of a project cannot be changed; another one can begin with these."), el("p", {}, el("a", { class: "button", href: `#new/${encodeURIComponent(this.key)}` }, "Start one with the same settings")));
  }

  removal() {
    return panel("Remove the project", el("p", { class: "muted" }, `The folder moves to “.removed” beside ${this.project.folder}; nothing is destroyed.`), el("p", {}, removalButton(() => this.project)));
  }

  settings(project) {
    const title = el("input", { required: true, maxlength: 200, value: project.title });
    const question = el("input", { maxlength: 500, value: project.question });
    const guidelines = el("textarea", { rows: 5, maxlength: 50000, value: project.guidelines, oninput: () => draw() });
    const shown = el("div", { class: "prose preview" });
    const draw = () => { shown.hidden = !guidelines.value.trim(); shown.replaceChildren(...markdown(guidelines.value)); };
    const people = el("textarea", { rows: 3, value: project.people.map((one) => one.name).join("\n") });
    for (const one of [title, question, guidelines, people]) one.defaultValue = one.value;
    const [[blind, blindField], [random, randomField]] = hiding("set", project.blind, project.strategy);
    for (const box of [blind, random]) box.defaultChecked = box.checked;
    const problem = el("p", { role: "alert", class: "problem" });
    draw();
    const submit = async (event) => {
      event.preventDefault();
      problem.textContent = "";
      try {
        // What was not edited may have been changed elsewhere.
        const edited = Object.entries({ title, question, guidelines, people }).filter(([, one]) => one.value !== one.defaultValue);
        await ask(this.path, {
          ...(blind.checked !== blind.defaultChecked ? { blind: blind.checked } : {}),
          ...(random.checked !== random.defaultChecked ? { strategy: random.checked ? "random" : "active_learning" } : {}),
          ...Object.fromEntries(edited.map(([name, one]) => [name, name === "people" ? one.value.split("\n").filter((line) => line.trim()) : one.value])),
        });
        edited.forEach(([, one]) => { one.defaultValue = one.value; });
        for (const box of [blind, random]) box.defaultChecked = box.checked;
        await this.live.look();
        say("Saved");
      } catch (failure) {
        problem.textContent = failure.message;
      }
    };
    const facts = [
      ["Articles", project.articles.map((one) => one.title || one.text.slice(0, 80)).join(" · ")], ["Model", project.model],
      ...[["Only posts from", project.since], ["Only posts before", project.until], ["Only in languages", project.languages.join(", ")]].filter(([, value]) => value),
      ["Labels", project.labels.map((one) => one.name).join(" / ")],
      ...(project.questions.length ? [["Further questions", project.questions.map((one) => one.text).join(" · ")]] : []),
      ["People per post", project.labels_per_post > 1 ? `${project.labels_per_post} for ${whole(100 * project.overlap)} % of the posts` : "1"],
      ["Target recall", `${whole(100 * project.target)} %`], ["Created", shownTime(project.created)], ["Folder", project.folder],
    ];
    return panel("Settings", el("form", { class: "stack", onsubmit: submit },
      field("set-title", "Name of the project", title), field("set-question", "Question", question), field("set-guidelines", "Guidelines (Markdown)", guidelines), shown,
      field("set-people", "People, one name per line", people, "The link of a name that you remove stops working; its labels stay."), blindField, randomField, problem, el("p", {}, el("button", { type: "submit" }, "Save"))),
    el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { dir: "auto" }, value)))));
  }
}
