// The start page: all projects and how far they are.

import { ask } from "./api.js";
import { counted, el, redrawRows, sentence, steadily, whole } from "./dom.js";
import { Live } from "./live.js";
import { onPage } from "./messages.js";
import { NOTICE, removalButton } from "./removal.js";
import { keep, kept } from "./store.js";

const STATES = {
  draft: ["not started", ""], preparing: ["being prepared", "info"], labeling: ["labeling", "info"],
  finished: ["you may stop", "relevant"], broken: ["cannot be opened", "warn"],
};

export class StartView {
  constructor(about, reached) {
    this.about = about;
    this.live = new Live("api/projects/-/version", () => this.refresh(), (failure) => {
      reached(failure);
      if (failure && !this.list.children.length) this.hint.textContent = `The projects cannot be listed: ${failure.message}`;
    });
    this.list = el("ul", { class: "rows list projects", "aria-label": "Projects" });
    this.hint = el("p", { class: "muted under" });
    this.node = el("div", { class: "page" },
      el("div", { class: "page-top" }, el("h1", {}, "Projects"),
        about.projects ? el("a", { class: "button primary", href: "#new" }, "New project") : null),
      kept(NOTICE) ? el("p", { class: "panel notice", role: "status" }, kept(NOTICE)) : null,
      el("div", { class: "panel" }, this.list), this.hint);
    keep(NOTICE, null);
  }

  close() {
    this.live.stop();
  }

  load() {
    if (!this.about.projects) {
      this.list.replaceChildren(...this.about.sessions.map((one) => el("li", {},
        el("a", { class: "project-title", href: `#label/${encodeURIComponent(one.key)}` }, one.title), el("p", { class: "muted" }, counted(one.posts, "post")))));
    } else this.live.start();
  }

  async refresh() {
    const answer = await ask("api/projects");
    steadily(() => redrawRows(this.list, answer.projects, (project) => project.key, row));
    if (!answer.projects.length) {
      this.list.replaceChildren(el("li", { class: "empty" }, el("p", {}, "No project yet. A project asks one or several people which posts are about an article, the likeliest first, and says when they may stop."),
        el("p", {}, el("a", { href: "#new" }, "Start the first one"))));
    }
    this.hint.textContent = `Projects are kept in ${answer.folder}.`;
  }
}

function row(project) {
  const [state, kind] = STATES[project.state];
  const bar = el("span");
  const labels = "labeled" in project;
  if (labels) bar.style.width = `${(100 * project.labeled / Math.max(project.posts, 1)).toFixed(2)}%`;
  return [
    el("div", { class: "row-end" }, el("a", { class: "project-title", dir: "auto", href: `#project/${encodeURIComponent(project.key)}` }, project.title),
      el("span", { class: `chip ${kind}` }, state)),
    labels ? el("div", { class: "meter", role: "progressbar", "aria-label": `Labeled in ${project.title}`, "aria-valuemin": 0, "aria-valuemax": project.posts, "aria-valuenow": project.labeled }, bar) : null,
    el("p", { class: "muted" }, labels
      ? `${whole(project.labeled)} of ${counted(project.posts, "post")} labeled, ${whole(project.relevant)} relevant. ${sentence(project.estimate.sentence)}`
      : project.error ? onPage(project.error) : project.step ? `${project.step}…` : "Posts are missing."),
    labels && project.error ? el("p", { class: "problem" }, onPage(project.error)) : null,
    project.state === "broken" ? el("p", { class: "dialog-end" }, removalButton(() => project)) : null];
}
