// Fields for articles: their text or address, their date, and a place for files with them.

import { send } from "./api.js";
import { counted, el, say, sentence } from "./dom.js";
import { dropPlace } from "./files.js";

const ENDINGS = "Saved pages (.html), PDF, text, JSON or a table with title and text; at most 64 MiB each.";

export class ArticleFields {
  /**
   * @param prefix  of the ids
   * @param several  whether there may be several articles
   */
  constructor(prefix, several) {
    Object.assign(this, { prefix, several, fields: [] });
    this.list = el("div", { class: "stack" });
    this.status = el("ul", { class: "files", "aria-live": "polite" });
    this.node = el("div", { class: "stack" }, this.list,
      dropPlace(`${prefix}-article-file`, several ? "Or drop files of articles here, or choose them" : "Or drop a file with the article here, or choose it", ENDINGS, several, (files) => this.read(files)),
      this.status, several ? el("p", {}, el("button", { type: "button", onclick: () => this.add().text.focus() }, "Add another article")) : null);
    this.add();
  }

  add() {
    const number = this.fields.length + 1;
    const [id, first] = [`${this.prefix}-article${this.several ? `-${number}` : ""}`, number === 1];
    const text = el("textarea", { id, name: "article", rows: first ? 6 : 3, required: first, "aria-describedby": first ? `${id}-hint` : null });
    const date = el("input", { id: id.replace("article", "published"), type: "date", name: "published" });
    this.list.append(
      el("div", {}, el("label", { for: id }, !this.several ? "Article" : first ? "Address or text" : `Article ${number}`), text,
        first ? el("small", { id: `${id}-hint` }, "Its address (https://…) or its text. A first line followed by a blank line is the title.") : null),
      el("div", {}, el("label", { for: date.id }, first ? "Published (if the article has no date)" : `Published (article ${number}, if it has no date)`), date));
    this.fields.push({ text, date, time: "" });
    return this.fields.at(-1);
  }

  /** Texts and dates; the time of day that a file says counts unless the date was changed. */
  get values() {
    return this.fields.map(({ text, date, time }) => [text.value, time.startsWith(date.value || "-") ? time : date.value]);
  }

  async read(files) {
    for (const file of this.several ? files : files.slice(0, 1)) {
      const line = el("li", { role: "status" }, `${file.name}: reading it…`);
      const remove = el("button", { type: "button", class: "quiet", "aria-label": `Remove ${file.name}`, onclick: () => line.remove() }, "Remove");
      if (this.several) this.status.append(line);
      else this.status.replaceChildren(line);
      try {
        const articles = await send(`api/articles?${new URLSearchParams({ name: file.name })}`, file);
        const used = this.several ? articles : articles.slice(0, 1);
        const filled = used.map((article) => this.fill(article));
        const more = articles.length - used.length;
        line.replaceChildren(el("span", {}, `${file.name}: ${counted(used.length, "article")} read, shown above`, more ? `; ${counted(more, "other article")} in it not used` : ""));
        remove.addEventListener("click", () => filled.forEach((field) => { field.text.value = field.date.value = field.time = ""; }));
        line.append(remove);
        say(line.textContent);
      } catch (failure) {
        const message = failure.message.startsWith(`${file.name}: `) ? failure.message.slice(file.name.length + 2) : failure.message;
        line.replaceChildren(el("div", {}, el("strong", {}, file.name), " ", el("span", { class: "chip warn" }, "refused"), el("p", { class: "problem", role: "alert" }, sentence(message))), remove);
      }
    }
  }

  /** Show an article in the first empty field. */
  fill(article) {
    const field = this.several ? this.fields.find(({ text }) => !text.value.trim()) ?? this.add() : this.fields[0];
    field.text.value = article.title ? `${article.title}\n\n${article.text}` : article.text;
    field.time = article.published ?? "";
    field.date.value = field.time.slice(0, 10);
    return field;
  }
}
