// Labeling: one post after another.

import { articlePanel } from "./article.js";
import { contextOf, originalLink } from "./context.js";
import { counted, el, redraw, say, shownTime, words } from "./dom.js";
import { LabelSet } from "./labels.js";
import { progressPanel } from "./progress.js";
import { asked, QuestionForm } from "./questions.js";

const RECENT = 5;
const SHORT = 220;

export class LabelView {
  /**
   * @param session  what the server says of the session
   * @param outbox  where labels go
   * @param next  address of the page with what to do when labeling may stop
   */
  constructor(session, outbox, next = null) {
    this.outbox = outbox;
    this.labels = new LabelSet(session);
    this.question = session.question;
    this.questions = session.questions;
    this.form = null; // questions about the post of the card, which waits for their answers
    this.ahead = [];
    this.recent = [];
    this.heard = false;
    this.article = articlePanel(session.articles);
    this.progress = progressPanel(next);
    this.card = el("section", { class: "panel post", "aria-label": "Post to label" });
    this.upcoming = el("ol", { class: "rows upcoming" });
    this.done = el("ul", { class: "rows recent" });
    this.below = [
      el("section", { class: "panel under", "aria-labelledby": "up-next" }, el("h2", { id: "up-next" }, "Up next"), this.upcoming,
        session.meaning ? el("p", { class: "muted" }, session.meaning) : null),
      el("section", { class: "panel under", "aria-labelledby": "just-now" }, el("h2", { id: "just-now" }, "Just labeled"), this.done),
    ];
    this.node = el("div", { class: "desk" }, this.article.panel, el("div", { class: "posts" }, this.card, this.below), this.progress.panel);
    this.draw();
  }

  get current() {
    return this.ahead[0];
  }

  /** Suggestions of the server; what was shown stays where it is if it is among them, or something on it is being written. */
  suggestions(list) {
    const shown = this.current?.id;
    this.heard = true;
    const noting = this.current && (this.form || document.activeElement === this.note || this.note.value.trim() !== this.current.note);
    this.ahead = noting ? [this.current, ...list.filter((one) => one.id !== shown)] : list;
    if (shown === undefined || this.current?.id !== shown) this.draw();
    else this.drawBelow();
  }

  status(status) {
    this.progress.show(status);
    this.left = status.posts - status.labeled - status.skipped > 0;
  }

  /** The question has changed. */
  asks(question) {
    this.question = question;
    const shown = this.card.querySelector(".question");
    if (shown) shown.textContent = question;
  }

  /** The server has taken back a label. */
  undone(post) {
    if (post === null) say("Nothing to undo");
    this.recent = this.recent.filter((one) => one.post.id !== post);
    this.drawBelow();
  }

  /** Label the post of the card, once the questions that are asked of it are answered. */
  label(choice) {
    const post = this.current;
    if (!post) return;
    const questions = asked(this.questions, choice.value);
    if (questions.length) this.askFor(post, choice, questions);
    else this.give(post, choice);
  }

  askFor(post, choice, questions) {
    this.form?.close();
    this.form = new QuestionForm(questions, post.answers, (answers) => {
      post.answers = answers; // for an undo
      this.give(post, choice, { answers });
      const { top } = this.card.getBoundingClientRect();
      if (top < 0 || top > innerHeight / 2) this.card.scrollIntoView(); // a long form was left behind
    }, () => this.draw());
    this.card.querySelector(".choices").before(this.form.node);
    this.card.querySelectorAll(".choices button").forEach((one, i) => one.setAttribute("aria-pressed", String(this.labels.choices[i] === choice)));
    this.form.focus();
  }

  give(post, choice, more = {}) {
    const note = this.note.value.trim();
    this.outbox.add({ kind: "label", post: post.id, ...this.labels.action(choice), ...more, note: note === post.note ? null : note });
    this.recent = [{ post, choice }, ...this.recent].slice(0, RECENT);
    this.ahead = this.ahead.slice(1);
    say(choice.name);
    this.draw();
  }

  undo() {
    if (this.form) {
      this.draw();
      return;
    }
    const last = this.recent.shift();
    this.outbox.add({ kind: "undo" });
    say("Undone");
    if (last) {
      this.ahead = [last.post, ...this.ahead.filter((one) => one.id !== last.post.id)];
      this.draw();
    }
  }

  editNote() {
    if (this.current) this.note.focus();
  }

  draw() {
    const post = this.current;
    this.form?.close();
    this.form = null;
    if (!post) {
      const held = this.left ? " Others may have posts open, which come here when they are free." : "";
      const text = !this.heard || this.outbox.waiting ? "Waiting for the next posts…" : `No posts left to label.${held}`;
      this.card.replaceChildren(el("p", { class: "empty", role: "status" }, text), this.choices(true));
    } else {
      this.article.mark(post.words);
      const question = this.question && el("h2", { class: "question", dir: "auto" }, this.question);
      this.card.replaceChildren(...[question, chips(post), contextOf(post), words(post.parts), this.noteField(post), this.choices(false)].filter(Boolean));
      this.card.classList.remove("arriving");
      void this.card.offsetWidth; // restarts the animation
      this.card.classList.add("arriving");
      this.card.querySelector(".words").setAttribute("aria-live", "polite");
    }
    this.drawBelow();
  }

  drawBelow() {
    redraw(this.upcoming, this.ahead.slice(1).map((post) => el("li", {}, words(post.parts, { most: SHORT }))));
    redraw(this.done, this.recent.map((one) => el("li", {},
      words(one.post.parts, { most: SHORT }),
      this.labels.segments(one.choice.name, (choice) => {
        if (asked(this.questions, choice.value).length) { // back to the card, which asks them
          this.recent = this.recent.filter((other) => other !== one);
          this.ahead = [one.post, ...this.ahead.filter((other) => other.id !== one.post.id)];
          this.draw();
          this.label(choice);
          return;
        }
        one.choice = choice;
        this.outbox.add({ kind: "label", post: one.post.id, ...this.labels.action(choice) });
        say(choice.name);
      }))));
    this.below[0].hidden = this.ahead.length < 2;
    this.below[1].hidden = !this.recent.length;
  }

  noteField(post) {
    this.note = el("textarea", { id: "note", rows: 1, maxlength: 4000, value: post.note, onkeydown: (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.note.blur();
    }, onchange: () => {
      const note = this.note.value.trim();
      if (post !== this.current || note === post.note) return;
      post.note = note;
      this.outbox.add({ kind: "note", post: post.id, note });
    } });
    return el("div", { class: "note" }, el("label", { for: "note" }, "Note ", el("kbd", { "aria-hidden": "true" }, "E")), this.note);
  }

  choices(empty) {
    const button = (className, text, key, act, disabled) =>
      el("button", { type: "button", class: className, "aria-keyshortcuts": key, disabled, onclick: () => {
        const again = document.activeElement?.className;
        act();
        // The button was drawn again: whoever presses it by Enter or Space presses it again.
        if (again === className) this.card.querySelector(`.choices .${className.split(" ").join(".")}`)?.focus({ preventScroll: true });
      } }, text, el("kbd", { "aria-hidden": "true" }, key));
    const classes = { relevant: "yes", not: "no", skip: "pass" };
    return el("div", { class: this.labels.named ? "choices many" : "choices", role: "group", "aria-label": "Your label" },
      this.labels.choices.map((choice, i) =>
        button(`${classes[choice.value]} choice-${i + 1}`, choice.name, choice.key, () => this.label(choice), empty)),
      button("undo", "Undo", "U", () => this.undo(), false));
  }
}

function chips(post) {
  const list = [];
  if (post.random) list.push(["random sample", "info"]);
  if (post.score !== null) list.push([`score ${post.score.toFixed(1)}`, ""]);
  if (post.created) list.push([shownTime(post.created), ""]);
  if (post.lang) list.push([post.lang, ""]);
  if (post.copies) list.push([`and ${counted(post.copies, "near-duplicate")}`, "warn"]);
  const link = originalLink(post);
  return el("ul", { class: "chips", "aria-label": "About the post" },
    list.filter(([text]) => text).map(([text, kind]) => el("li", { class: `chip ${kind}` }, text)), link && el("li", {}, link));
}
