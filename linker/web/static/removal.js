// Removing a project, which has to be asked for by its name.

import { ask } from "./api.js";
import { counted, el } from "./dom.js";
import { keep } from "./store.js";

export const NOTICE = "linker:notice";

/** A button that removes a project, which a function returns, after a question. */
export function removalButton(project) {
  return el("button", { type: "button", class: "danger", "aria-label": `Remove the project ${project().title}`, onclick: () => question(project()) }, "Remove…");
}

function question(project) {
  const people = Object.entries(project.annotators ?? {});
  const labels = people.reduce((sum, [, number]) => sum + number, 0);
  const name = el("input", { id: "removed-name", autocomplete: "off", oninput: () => { button.disabled = name.value.trim() !== project.title.trim(); } });
  const problem = el("p", { class: "problem", role: "alert" });
  const button = el("button", { type: "submit", class: "danger", disabled: true }, "Remove the project");
  const dialog = el("dialog", { "aria-labelledby": "removed-title", onclose: () => dialog.remove() },
    el("form", { class: "stack", onsubmit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      try {
        const { folder } = await ask(`api/projects/${encodeURIComponent(project.key)}`, undefined, 30, "DELETE");
        keep(NOTICE, `“${project.title}” was removed from the list. Its folder lies in ${folder}; move it back to have it again.`);
        history.replaceState(null, "", "#start");
        location.reload(); // nothing of it stays in memory
      } catch (failure) {
        problem.textContent = failure.message;
        button.disabled = false;
      }
    } },
    el("h2", { id: "removed-title" }, "Remove this project?"),
    el("p", {}, el("strong", { dir: "auto" }, project.title), project.state === "broken" ? ", with whatever labels it has,"
      : labels ? ` and its ${counted(labels, "label")} (${people.map(([who, number]) => `${who}: ${number}`).join(", ")})` : ", which has no label yet,",
    " will be gone from this page, and the links of its people stop working. Nothing is destroyed: the folder moves to the folder “.removed” beside it."),
    el("div", {}, el("label", { for: "removed-name" }, "To confirm, type the name of the project"), name), problem,
    el("p", { class: "dialog-end buttons" }, el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), button)));
  document.body.append(dialog);
  dialog.showModal();
  name.focus();
}
