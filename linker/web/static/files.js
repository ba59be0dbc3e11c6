// Places to drop files on, which are buttons as well: files that are kept here, and files of posts that the server reads.

import { ask, send } from "./api.js";
import { originalLink } from "./context.js";
import { counted, el, say, sentence, shownTime, visible, whole } from "./dom.js";
import { onPage } from "./messages.js";

const MIB = 1 << 20;
const COUNTED = 5000; // posts that the server counts at most
const ENCODINGS = ["utf-8", "utf-16", "windows-1252", "windows-1250", "windows-1254", "windows-1257", "mac-roman", "windows-1255", "windows-1253", "windows-1251", "windows-1256", "windows-874", "euc-kr", "shift_jis", "gb18030", "big5"];
const TITLES = { csv: "CSV", tsv: "TSV", json: "JSON", jsonl: "JSON Lines", xlsx: "Workbook", parquet: "Parquet", txt: "Plain text, one post per line" };

export const shownSize = (bytes) => (bytes < MIB ? `${whole(Math.max(1, bytes / 1024))} KiB` : `${whole(bytes / MIB)} MiB`);

/** A place for files; `taken` gets those that are dropped or chosen. */
export function dropPlace(id, label, hint, several, taken) {
  const input = el("input", { id, type: "file", multiple: several, "aria-describedby": `${id}-hint`, onchange: () => { taken([...input.files]); input.value = ""; } });
  const place = el("div", { class: "drop" }, el("label", { for: id }, label), input, el("small", { id: `${id}-hint` }, hint));
  for (const kind of ["dragenter", "dragover"]) {
    place.addEventListener(kind, (event) => { event.preventDefault(); place.classList.add("over"); });
  }
  for (const kind of ["dragleave", "drop"]) place.addEventListener(kind, () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => { event.preventDefault(); taken([...event.dataTransfer.files]); });
  return place;
}

const removal = (name, remove) => el("button", { type: "button", class: "quiet", "aria-label": `Remove ${name}`, onclick: remove }, "Remove");

/** A field for one file, which the page sends later; `files()` returns it. */
export function fileField(id, label) {
  let chosen = [];
  const list = el("ul", { class: "files", "aria-live": "polite" });
  const draw = () => list.replaceChildren(...chosen.map((file) => el("li", {}, el("span", {}, `${file.name} (${shownSize(file.size)})`),
    removal(file.name, () => { chosen = []; draw(); }))));
  const place = dropPlace(id, label, "", false, (files) => { chosen = files.slice(0, 1); draw(); });
  return { node: el("div", {}, place, list), files: () => chosen, clear: () => { chosen = []; draw(); } };
}

/** The address of files that belong to no project yet. */
export function temporary() {
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, "0")).join("");
  return { key, path: `api/uploads/${key}/files` };
}

/** Files of posts: sent one by one, and shown as the server reads them, with controls to have them read otherwise. */
export class PostFiles {
  /**
   * @param id  of the field
   * @param path  address of the files
   * @param about  endings of files that can be read, and the most bytes of a file
   * @param changed  called when files come, go or are read again
   */
  constructor(id, path, { endings, upload_bytes: most }, changed = () => {}) {
    Object.assign(this, { id, path, most, changed, files: [], number: 0, sending: Promise.resolve() });
    this.list = el("ul", { class: "files read", "aria-label": "Files of posts" });
    const hint = `${endings.join(" ")}, also compressed (.gz .bz2 .xz .zst); exports of platforms as they are. At most ${shownSize(most)} each. A file replaces one of its name in this list.`;
    this.node = el("div", {}, dropPlace(id, "Drop files of posts here, or choose them", hint, true, (files) => files.forEach((file) => this.send(file))), this.list);
  }

  /** Show the files that the server has. */
  async load() {
    try {
      (await ask(this.path, undefined, 600)).forEach((view) => this.show(this.entry(view.name), view));
    } catch (failure) {
      this.show(this.entry("Files"), { refused: failure.message });
    }
  }

  /** Why there is nothing to begin with, once all is sent; empty: there is. */
  get problem() {
    if (!this.files.some((file) => !file.view.refused)) return "Posts are missing: drop a file of posts.";
    const faulty = this.files.find((file) => file.view.error)?.name;
    return faulty ? `${faulty} cannot be read yet: see what is wrong beside its name, or remove it.` : "";
  }

  entry(name) {
    let file = this.files.find((one) => one.name === name);
    if (!file) {
      file = { name, number: this.number += 1, node: el("li", {}) };
      this.files.push(file);
      this.list.append(file.node);
    }
    return file;
  }

  send(source) {
    const file = this.entry(source.name);
    if (source.size > this.most) {
      this.show(file, { refused: `has ${shownSize(source.size)}; at most ${shownSize(this.most)} can be uploaded` });
      return;
    }
    file.view = null;
    file.node.replaceChildren(el("p", { class: "muted", role: "status" }, `${source.name}: uploading, and reading it…`));
    this.changed();
    this.sending = this.sending.then(async () => {
      if (!this.files.includes(file)) return;
      try {
        const view = await send(`${this.path}?${new URLSearchParams({ name: source.name })}`, source);
        const same = this.files.find((one) => one !== file && one.name === view.name);
        if (same) this.drop(same);
        file.name = view.name;
        this.show(file, view);
        say(view.error ? `${file.name}: ${onPage(view.error)}` : `${file.name} was read`);
      } catch (failure) {
        this.show(file, { refused: failure.message });
      }
    });
  }

  drop(file) {
    this.files = this.files.filter((one) => one !== file);
    file.node.remove();
    this.changed();
  }

  async remove(file) {
    try {
      if (!file.view.refused) await ask(`${this.path}/${encodeURIComponent(file.name)}`, undefined, 30, "DELETE");
      this.drop(file);
      say(`${file.name} was removed`);
      document.getElementById(this.id)?.focus();
    } catch (failure) {
      this.show(file, { ...file.view, error: failure.message });
    }
  }

  async choose(file, choice) {
    const [id, open] = [document.activeElement?.id, file.node.querySelector("details")?.open];
    try {
      this.show(file, await ask(`${this.path}/${encodeURIComponent(file.name)}`, choice, 600), open);
    } catch (failure) {
      this.show(file, { ...file.view, error: failure.message }, open);
    }
    document.getElementById(id)?.focus();
    say(file.view.error ? onPage(file.view.error) : `${file.name} was read again`);
  }

  show(file, view, open = false) {
    file.view = view;
    const bare = (text) => onPage(text.startsWith(`${file.name}: `) ? text.slice(file.name.length + 2) : text);
    const head = (facts) => el("div", { class: "row-end" }, el("strong", {}, file.name), el("span", { class: "row-end" }, facts, removal(file.name, () => this.remove(file))));
    if (view.refused) {
      file.node.replaceChildren(head(el("span", { class: "chip warn" }, "refused")), el("p", { class: "problem", role: "alert" }, sentence(bare(view.refused))));
    } else {
      const notes = view.notes.map(bare);
      const number = view.count > COUNTED ? `more than ${counted(COUNTED, "post")}` : counted(view.count, "post");
      const facts = [TITLES[view.format] ?? view.format, view.encoding].filter((fact) => fact && !notes.some((note) => note.includes(fact))).join(" · ");
      const controls = this.controls(file, view);
      const doubt = view.error || view.order === "unknown";
      file.node.replaceChildren(...[head(el("span", { class: view.error ? "chip warn" : "chip" }, view.error && !view.count ? "not read" : number)),
        el("p", { class: "muted" }, [facts, ...notes].filter(Boolean).map(sentence).join(" ")),
        view.error ? el("p", { class: "problem", role: "alert" }, sentence(bare(view.error))) : null,
        controls.length ? el("details", { open: Boolean(open || doubt) }, el("summary", {}, "How it is read"), el("div", { class: "two-equal" }, controls)) : null,
        view.posts.length ? el("ul", { class: "samples", "aria-label": `First posts of ${file.name}` }, view.posts.map(sample)) : null].filter(Boolean));
    }
    this.changed();
  }

  /** Selects of what can be chosen for a file; each says what was recognized. */
  controls(file, view) {
    const { choice, columns = [], names = {}, sheets = [], order } = view;
    const select = (key, label, options, value, changes) => {
      const id = `${this.id}-${file.number}-${key}`;
      const known = options.some(([one]) => one === value) ? options : [...options, [value, value]];
      const control = el("select", { id, onchange: () => this.choose(file, Object.fromEntries(Object.entries({ ...choice, ...changes(control.value) }).filter(([, one]) => one !== undefined))) },
        known.map(([one, text]) => el("option", { value: one, selected: one === value }, text)));
      return el("div", {}, el("label", { for: id }, label), control);
    };
    const none = "\u0001"; // no column has this name
    const found = (key) => names[key]?.filter((name) => columns.includes(name)) ?? [];
    const recognized = (what) => ["", what ? `Recognize it (${what})` : "Recognize it"];
    const each = columns.map((name) => [name, visible(name) || "(no name)"]);
    const column = (key, label, without) => {
      const value = key in choice ? choice[key] ?? none : "";
      return select(key, label, [recognized(key in choice || view.error ? "" : found(key).join(", ") || without.toLowerCase()), ...each, [none, without]], value, (chosen) => ({ [key]: chosen === none ? null : chosen || undefined }));
    };
    const controls = [];
    if (columns.length && view.format !== "txt") {
      const texts = [choice.text ?? []].flat();
      const title = texts.length > 1 ? texts[0] : "";
      const main = texts.at(-1) ?? "";
      controls.push(
        select("text", "Text", [recognized(choice.text ? "" : found("text").join(" and ")), ...each], main, (chosen) => ({ text: chosen ? [...(title ? [title] : []), chosen] : undefined })),
        select("title", "Title above the text", [["", choice.text || found("text").length < 2 ? "None" : `Recognize it (${found("text")[0]})`], ...each], title, (chosen) => ({ text: chosen || main ? [...(chosen ? [chosen] : []), main || found("text").at(-1)].filter(Boolean) : undefined })),
        column("id", "Id", "Made from the content"), column("created_at", "Date", "None"), column("lang", "Language", "None"));
    }
    if (order) {
      controls.push(select("day_first", "Day and month", [recognized({ day: "day first", month: "month first" }[choice.day_first === undefined ? order : ""] ?? ""), ["true", "Day first: 31/12/2024"], ["false", "Month first: 12/31/2024"]],
        choice.day_first === undefined ? "" : String(choice.day_first), (chosen) => ({ day_first: chosen ? chosen === "true" : undefined })));
    }
    if (sheets.length > 1) controls.push(select("sheet", "Sheet", [recognized(choice.sheet ? "" : sheets[0]), ...sheets.map((name) => [name, name])], choice.sheet ?? "", (chosen) => ({ sheet: chosen || undefined })));
    if (!sheets.length && view.format !== "parquet") {
      controls.push(select("encoding", "Encoding", [recognized(choice.encoding ? "" : view.encoding), ...ENCODINGS.map((name) => [name, name])], choice.encoding ?? "", (chosen) => ({ encoding: chosen || undefined })));
    }
    if ((view.format && !(view.format in TITLES)) || choice.format) controls.push(select("format", "Format", [recognized(choice.format ? "" : view.format), ["columns", "By its columns"]], choice.format ?? "", (chosen) => ({ format: chosen || undefined })));
    return controls;
  }
}

function sample([id, text, created, url]) {
  return el("li", {}, el("p", { class: "words", dir: "auto" }, visible(text)),
    el("p", { class: "muted" }, `${id} · ${created ? shownTime(created) : "no date"} `, originalLink({ url })));
}
