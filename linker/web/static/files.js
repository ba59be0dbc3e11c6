// A place to drop files on, which is a button as well.

import { el, whole } from "./dom.js";

const MIB = 1 << 20;

export const shownSize = (bytes) => (bytes < MIB ? `${whole(Math.max(1, bytes / 1024))} KiB` : `${whole(bytes / MIB)} MiB`);

/** A field for files; `files()` returns those that were chosen. */
export function fileField(id, label, { endings = [], most = Infinity, several = true } = {}) {
  let chosen = [];
  const list = el("ul", { class: "files", "aria-live": "polite" });
  const problem = el("p", { class: "problem", role: "alert" });
  const input = el("input", { id, type: "file", multiple: several, "aria-describedby": `${id}-hint`, onchange: () => take([...input.files]) });
  const place = el("div", { class: "drop" }, el("label", { for: id }, label), input,
    el("small", { id: `${id}-hint` }, endings.length ? `${endings.join(" ")}, also compressed (.gz .bz2 .xz .zst); exports of platforms as they are. At most ${shownSize(most)} each.` : ""));
  for (const kind of ["dragenter", "dragover"]) {
    place.addEventListener(kind, (event) => { event.preventDefault(); place.classList.add("over"); });
  }
  for (const kind of ["dragleave", "drop"]) place.addEventListener(kind, () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => { event.preventDefault(); take([...event.dataTransfer.files]); });

  function take(files) {
    const large = files.filter((file) => file.size > most);
    problem.textContent = large.length ? `${large[0].name} has ${shownSize(large[0].size)}; at most ${shownSize(most)} can be uploaded.` : "";
    const fitting = files.filter((file) => file.size <= most);
    chosen = several ? [...chosen.filter((one) => !fitting.some((file) => file.name === one.name)), ...fitting] : fitting.slice(0, 1);
    draw();
  }
  function draw() {
    list.replaceChildren(...chosen.map((file) => el("li", {}, el("span", {}, `${file.name} (${shownSize(file.size)})`),
      el("button", { type: "button", class: "quiet", "aria-label": `Remove ${file.name}`, onclick: () => {
        chosen = chosen.filter((one) => one !== file);
        input.value = "";
        draw();
      } }, "Remove"))));
  }
  return { node: el("div", {}, place, problem, list), files: () => chosen, clear: () => { chosen = []; input.value = ""; draw(); } };
}
