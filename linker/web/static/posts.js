// All posts, with their labels, to look through and to correct.

import { ask } from "./api.js";
import { contextOf, originalLink } from "./context.js";
import { counted, el, redraw, say, shownTime, steadily, words } from "./dom.js";
import { LabelSet } from "./labels.js";
import { asked, inWords, QuestionForm } from "./questions.js";

const PAGE = 50;
const PAUSE = 200;

export class PostsView {
  constructor(session, outbox, annotator, askName) {
    this.askName = askName;
    this.outbox = outbox;
    this.labels = new LabelSet(session);
    this.annotator = annotator;
    this.path = `api/sessions/${encodeURIComponent(session.key)}/posts`;
    this.given = new Map();
    this.questions = session.questions;
    this.forms = new Map(); // of posts whose questions are being answered
    this.rows = new Map();
    this.asked = 0;
    const later = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(), PAUSE);
    };
    const field = (name, label, control, wide) => {
      control.id = `filter-${name}`;
      control.name = name;
      return el("div", { class: wide ? "wide" : "" }, el("label", { for: control.id }, label), control);
    };
    const option = ([value, text]) => el("option", { value }, text);
    const labels = [["all", "All posts"], ["relevant", "Relevant"], ["not", "Not relevant"], ["skip", "Skipped"], ["none", "Unlabeled"]];
    const days = session.times?.map((time) => time.slice(0, 10));
    const day = () => el("input", { type: "date", min: days[0], max: days[1] });
    this.form = el("form", { class: "filters", role: "search", oninput: later, onsubmit: (event) => { event.preventDefault(); this.load(); } },
      field("text", "Text", el("input", { type: "search", autocomplete: "off" }), true),
      field("label", "Label", el("select", {}, labels.map(option))),
      session.languages.length ? field("lang", "Language", el("select", {}, [["", "Any"], ...session.languages.map((lang) => [lang, lang])].map(option))) : null,
      days ? [field("since", "From", day()), field("until", "To", day())] : null);
    this.count = el("p", { class: "muted", role: "status" });
    this.list = el("ul", { class: "rows list" });
    this.more = el("button", { type: "button", hidden: true, onclick: () => this.load(this.list.children.length) }, "Show more");
    this.node = el("div", { class: "page" }, el("h1", {}, "Posts"), this.form, this.count, el("div", { class: "panel" }, this.list), el("p", { class: "under" }, this.more));
  }

  focusSearch() {
    this.form.elements.text.focus();
  }

  async load(offset = 0) {
    this.asked += 1;
    const mine = this.asked;
    const values = Object.fromEntries([...new FormData(this.form)].filter(([, value]) => value));
    if (values.until) values.until = nextDay(values.until);
    let answer;
    try {
      answer = await ask(`${this.path}?${new URLSearchParams({ ...values, annotator: this.annotator(), offset, count: PAGE })}`);
    } catch (failure) {
      if (mine === this.asked) this.count.textContent = `The posts cannot be listed: ${failure.message}`;
      return;
    }
    if (mine !== this.asked) return; // a later question is on its way
    if (!offset) {
      this.rows.clear();
      this.forms.forEach((form) => form.close());
      this.forms.clear();
    }
    const rows = answer.posts.map((post) => this.row(post));
    if (offset) this.list.append(...rows);
    else this.list.replaceChildren(...rows);
    this.count.textContent = counted(answer.total, "post");
    this.more.hidden = this.list.children.length >= answer.total;
    if (!answer.total) this.list.replaceChildren(el("li", { class: "empty" }, "No posts match."));
  }

  /**
   * Show what has changed of the listed posts, each in its place. Those that were labeled here since they were listed
   * stay: their labels of others would come before a slip can be corrected.
   */
  async refresh() {
    const ids = [...this.rows.keys()].filter((id) => !this.given.has(id) && !this.forms.has(id));
    for (let i = 0; i < ids.length; i += PAGE) {
      const query = new URLSearchParams([["annotator", this.annotator()], ["count", PAGE], ...ids.slice(i, i + PAGE).map((id) => ["ids", id])]);
      const { posts } = await ask(`${this.path}?${query}`);
      steadily(() => posts.filter((post) => !this.given.has(post.id) && !this.forms.has(post.id)).forEach((post) => this.row(post)));
    }
  }

  /** Draw the row of a post, or draw it again. */
  row(post) {
    const me = this.annotator();
    const mine = this.given.get(post.id) ?? post.labels.find(([name]) => name === me)?.[2];
    const given = this.labels.choices.find((one) => one.name === mine);
    const form = this.forms.get(post.id);
    const chips = [
      ...post.labels.filter(([name]) => name !== me).map(([name, value, text]) => el("li", { class: `chip ${value}` }, `${name}: ${text.toLowerCase()}`)),
      ...Object.entries(post.answers).filter(([, answers]) => Object.keys(answers).length).map(([name, answers]) => el("li", { class: "chip answers" }, name === me ? inWords(answers) : `${name}: ${inWords(answers)}`)),
      post.created ? el("li", { class: "chip" }, shownTime(post.created)) : null,
      post.lang ? el("li", { class: "chip" }, post.lang) : null,
      post.note ? el("li", { class: "chip info" }, `note: ${post.note}`) : null,
      post.url ? el("li", {}, originalLink(post)) : null,
    ].filter(Boolean);
    const row = this.rows.get(post.id) ?? el("li");
    this.rows.set(post.id, row);
    redraw(row, contextOf(post), words(post.parts), el("div", { class: "row-end" },
      el("ul", { class: "chips" }, chips),
      this.labels.segments(form?.label ?? mine, async (choice) => {
        if (!me && !this.annotator() && !await this.askName()) {
          this.load();
          return;
        }
        this.label(post, choice, choice.name === mine);
      })),
    !form && asked(this.questions, given?.value).length ? el("p", { class: "under-row" },
      el("button", { type: "button", onclick: () => this.label(post, given, true) }, post.answers[me] ? "Change the answers" : "Answer the questions")) : null);
    if (form && form.node.parentNode !== row) row.append(form.node);
    return row;
  }

  /**
   * Label a post, and ask its questions in its row: before the label if an answer is required, else after it.
   * @param again  whether the annotator has given it this label before: then only the answers change
   */
  label(post, choice, again) {
    const me = this.annotator();
    const questions = asked(this.questions, choice.value);
    const give = (answers) => {
      this.given.set(post.id, choice.name);
      this.outbox.add({ post: post.id, answers, ...(again && answers ? { kind: "answers" } : { kind: "label", ...this.labels.action(choice) }) });
      const kept = questions.map(({ key }) => [key, post.answers[me]?.[key]]).filter(([, answer]) => answer !== undefined);
      post.answers = { ...post.answers, [me]: answers ?? Object.fromEntries(kept) };
      say(again && answers ? "Answered" : choice.name);
    };
    const close = () => {
      this.forms.get(post.id)?.close();
      this.forms.delete(post.id);
    };
    const end = () => { close(); this.row(post); };
    close();
    if (!again && !questions.some((one) => one.required)) {
      give();
      again = true;
    }
    if (questions.length) {
      const form = new QuestionForm(questions, post.answers[me], (answers) => { give(answers); end(); }, end);
      form.label = choice.name;
      this.forms.set(post.id, form);
    }
    this.row(post);
    this.forms.get(post.id)?.focus();
  }
}

function nextDay(day) {
  const time = new Date(`${day}T00:00:00Z`);
  time.setUTCDate(time.getUTCDate() + 1);
  return time.toISOString().slice(0, 10);
}
