// A project as its owner sees it: progress, people, agreement, labels, settings.

import { ask, send } from "./api.js";
import { upload } from "./create.js";
import { copied, counted, el, say, sentence, shownTime, whole } from "./dom.js";
import { fileField } from "./files.js";
import { markdown } from "./markdown.js";
import { left } from "./progress.js";
import { Review } from "./review.js";

const POLL = 2000;
const FORMATS = { csv: "CSV", xlsx: "Excel", jsonl: "JSON Lines", asreview: "ASReview", label_studio: "Label Studio", argilla: "Argilla", doccano: "doccano", prodigy: "Prodigy" };

const field = (id, label, control, hint) => {
  control.id = id;
  return el("div", {}, el("label", { for: id }, label), control, hint ? el("small", {}, hint) : null);
};
const panel = (title, ...children) => {
  const id = `part-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return el("section", { class: "panel stack", "aria-labelledby": id }, el("h2", { id }, title), children);
};

export class ProjectView {
  /**
   * @param key  of the project
   * @param desk  a function: key → session, once posts can be labeled
   * @param annotator  a function: who decides where people disagree
   * @param askName  a function: ask for that name, which looks at the labels of others are recorded under
   * @param hasProject  false: a session without a project, of which there are labels only
   */
  constructor(key, desk, annotator, askName, hasProject) {
    this.key = key;
    this.desk = desk;
    this.annotator = annotator;
    this.askName = askName;
    this.hasProject = hasProject;
    this.path = `api/projects/${encodeURIComponent(key)}`;
    this.head = el("div");
    this.parts = el("div", { class: "stack wide-gap" });
    this.node = el("div", { class: "page" }, this.head, this.parts);
    this.drawn = "";
  }

  async load(problem = "") {
    clearTimeout(this.timer);
    try {
      if (this.hasProject) this.project = await ask(this.path);
    } catch (failure) {
      this.head.replaceChildren(el("h1", {}, "Project"), el("p", { class: "problem", role: "alert" }, failure.message));
      return;
    }
    if (problem) this.project.error = problem;
    await this.draw();
    if (this.project?.step) this.timer = setTimeout(() => { if (this.node.isConnected) this.load(); }, POLL);
  }

  async draw() {
    const { project } = this;
    const ready = !project || "labeled" in project;
    this.head.replaceChildren(...(project ? this.heading(project, ready) : [el("h1", {}, "Agreement and labels")]));
    const drawn = ready ? "ready" : "draft";
    if (this.drawn === drawn && ready) { // what is being typed stays
      this.drawFigures();
      return;
    }
    this.drawn = drawn;
    if (!ready) {
      this.parts.replaceChildren(...(project.step ? [el("p", { class: "panel empty", role: "status" }, `${project.step}…`)] : [this.draft(project)]));
      return;
    }
    const session = await this.desk(this.key);
    this.review = new Review(session, this.annotator, this.askName);
    this.figures = el("div", { class: "stack wide-gap" });
    this.parts.replaceChildren(this.figures, ...(project ? [this.people(project)] : []), this.review.node, this.exports(), this.imports(), ...(project ? [this.settings(project)] : []));
    this.drawFigures();
    await this.review.load();
  }

  heading(project, ready) {
    const link = (name, text) => el("a", { class: name === "label" ? "button primary" : "button", href: `#${name}/${encodeURIComponent(this.key)}` }, text);
    return [el("div", { class: "page-top" }, el("h1", { dir: "auto" }, project.title), ready ? el("div", { class: "row-end" }, link("posts", "All posts"), link("label", "Label")) : null),
      project.error ? el("p", { class: "problem problem-box", role: "alert" }, project.error) : null,
      project.notes.length ? el("details", { class: "muted", open: true }, el("summary", {}, "How the files were read"), el("ul", {}, project.notes.map((note) => el("li", {}, note)))) : null].filter(Boolean);
  }

  draft(project) {
    const files = fileField("draft-posts", "Drop files of posts here, or choose them", { endings: [], most: 2 ** 30 });
    const button = el("button", { type: "button", class: "primary", onclick: async () => {
      button.disabled = true;
      try {
        await upload(this.key, files.files(), (text) => { button.textContent = text; });
        await this.load();
      } catch (failure) {
        await this.load(failure.message);
      }
    } }, "Start labeling");
    return panel("Posts",
      project.files.length ? el("ul", { class: "files" }, project.files.map((file) => el("li", {}, file.name))) : null,
      el("p", { class: "muted" }, "A file with the name of an earlier one replaces it."), files.node, el("p", { class: "dialog-end" }, button));
  }

  drawFigures() {
    const { project } = this;
    if (!project) return;
    const finished = project.state === "finished";
    this.figures.replaceChildren(panel("Progress",
      el("dl", { class: "figures" },
        el("div", {}, el("dt", {}, "Relevant found"), el("dd", {}, whole(project.relevant))),
        el("div", {}, el("dt", {}, "Labeled"), el("dd", {}, whole(project.labeled), el("small", {}, ` of ${whole(project.posts)}`)))),
      el("div", {}, el("p", { class: "eyebrow" }, "Relevant posts left"), left(project.relevant, project.estimate)),
      project.waiting ? el("p", {}, `${counted(project.waiting, "post")} wait${project.waiting === 1 ? "s" : ""} for the label of somebody else.`) : null,
      el("div", { class: project.decision.stop ? "decision stop" : "decision" }, el("strong", {}, project.decision.stop ? "You may stop" : "Continue"),
        el("p", { class: "muted" }, sentence(project.decision.reason)))), ...(finished ? [this.next(project)] : []));
  }

  next(project) {
    const command = (id, text, label) => el("li", {}, el("label", { for: id }, text), copied(label, text, id));
    const { commands } = project;
    return panel("What to do next", el("p", { class: "muted" }, "Type these where the server was started."),
      el("ol", { class: "steps stack" },
        project.disputed ? el("li", {}, `Decide on ${counted(project.disputed, "post")} on which people disagree, below.`) : null,
        command("command-export", "Write one label per post", commands.export),
        command("command-rank", "Rank all posts, and keep those above a threshold learned from the labels", commands.rank)));
  }

  people(project) {
    const links = project.people.map((person, i) => {
      const address = `${location.origin}${location.pathname}#token=${person.token}`;
      return el("li", {}, el("label", { for: `link-${i}` }, person.name), copied(address, `Link of ${person.name}`, `link-${i}`));
    });
    return panel("People", links.length ? el("ul", { class: "rows links" }, links) : el("p", { class: "muted" }, "No people are named: visitors enter their own name. Add people under Settings to give each a link."),
      links.length ? el("p", { class: "muted" }, "A link opens this project for one person, under their name. Anyone who has it can label as that person. ",
        project.reachable ? null : "This server can be reached from this computer only; start it with --host and the address of this computer to let others in.") : null);
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
    const files = fileField("import-file", "Drop a file of labels here, or choose it", { several: false });
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
        await this.load();
        await this.review.load();
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

  settings(project) {
    const title = el("input", { required: true, maxlength: 200, value: project.title });
    const question = el("input", { maxlength: 500, value: project.question });
    const guidelines = el("textarea", { rows: 5, maxlength: 50000, value: project.guidelines, oninput: () => draw() });
    const shown = el("div", { class: "prose preview" });
    const draw = () => { shown.hidden = !guidelines.value.trim(); shown.replaceChildren(...markdown(guidelines.value)); };
    const people = el("textarea", { rows: 3, value: project.people.map((one) => one.name).join("\n") });
    const status = el("p", { role: "status", class: "muted" });
    const problem = el("p", { role: "alert", class: "problem" });
    draw();
    const submit = async (event) => {
      event.preventDefault();
      problem.textContent = status.textContent = "";
      try {
        await ask(this.path, { title: title.value, question: question.value, guidelines: guidelines.value, people: people.value.split("\n").filter((name) => name.trim()) });
        this.drawn = "";
        await this.load();
        say("Saved");
      } catch (failure) {
        problem.textContent = failure.message;
      }
    };
    const facts = [
      ["Articles", project.articles.map((one) => one.title).join(" · ")], ["Model", project.model],
      ["Labels", project.labels.map((one) => one.name).join(" / ")],
      ["People per post", project.labels_per_post > 1 ? `${project.labels_per_post} for ${whole(100 * project.overlap)} % of the posts` : "1"],
      ["Target recall", `${whole(100 * project.target)} %`], ["Created", shownTime(project.created)], ["Folder", project.folder],
    ];
    return panel("Settings", el("form", { class: "stack", onsubmit: submit },
      field("set-title", "Name of the project", title), field("set-question", "Question", question), field("set-guidelines", "Guidelines (Markdown)", guidelines), shown,
      field("set-people", "People, one name per line", people, "The link of a name that you remove stops working; its labels stay."), problem, status, el("p", {}, el("button", { type: "submit" }, "Save"))),
    el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { dir: "auto" }, value)))));
  }
}
