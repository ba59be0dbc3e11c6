// Further questions about a post: the form that asks them, and answers as text.

import { el, say } from "./dom.js";
import { singleKeys } from "./keys.js";

const LONGEST = 4000;
let forms = 0;

/** The questions that are asked of a post with a label. */
export const asked = (questions, value) => questions.filter((one) => value === "relevant" || (value === "not" && !one.relevant_only));

/** What can be chosen: [answer, text]; empty: any text. */
export function options(question) {
  if (question.kind === "yes_no") return [["yes", "Yes"], ["no", "No"]];
  if (question.kind === "one_of") return question.choices.map((choice) => [choice, choice]);
  if (question.kind === "text") return [];
  return Array.from({ length: question.high - question.low + 1 }, (_, i) => [question.low + i, String(question.low + i)]);
}

/** The keys of the choices: points of a scale have their own digits if all are digits. */
function digits(question) {
  const own = question.kind === "scale" && question.low >= 0 && question.high <= 9;
  return options(question).map(([answer], i) => (own ? String(answer) : i < 9 ? String(i + 1) : null));
}

/** "tone: 2, irony: no". */
export const inWords = (answers) => Object.entries(answers).map(([key, answer]) => `${key}: ${answer}`).join(", ");

/** A form. Digits choose answers to the question that has the focus; Enter finishes. */
export class QuestionForm {
  /**
   * @param questions  what is asked
   * @param answers  what was answered before
   * @param done  a function, called with all answers
   * @param cancelled  a function, called when none is wanted
   */
  constructor(questions, answers, done, cancelled) {
    this.done = done;
    this.cancelled = cancelled;
    this.name = `questions-${forms += 1}`;
    this.parts = questions.map((question, i) => this.part(question, i, answers?.[question.key]));
    this.problem = el("p", { class: "problem", role: "alert" });
    this.node = el("form", { class: "questions stack", novalidate: true, "aria-label": "Questions about the post",
      onsubmit: (event) => { event.preventDefault(); this.finish(); } },
    this.parts.map((part) => part.node), this.problem,
    el("p", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, "Done ", el("kbd", { "aria-hidden": "true" }, "Enter")),
      el("button", { type: "button", onclick: () => this.cancelled() }, "Back ", el("kbd", { "aria-hidden": "true" }, "Esc"))));
    this.node.addEventListener("keydown", (event) => this.press(event));
    this.pressed = (event) => { if (event.target === document.body) this.press(event); }; // after a click beside the fields
    document.addEventListener("keydown", this.pressed, true);
  }

  close() {
    document.removeEventListener("keydown", this.pressed, true);
    this.node.remove();
  }

  part(question, number, answer) {
    const id = `${this.name}-${number}`;
    const help = question.help ? el("small", { id: `${id}-help`, dir: "auto" }, question.help) : null;
    const legend = [question.text, question.required ? el("span", { class: "muted" }, " (required)") : null];
    const describedby = help ? `${id}-help` : null;
    if (question.kind === "text") {
      const field = el("textarea", { id, rows: 1, maxlength: LONGEST, value: answer ?? "", dir: "auto", "aria-describedby": describedby });
      return { question, field, inputs: [field], node: el("div", { class: "ask" }, el("label", { for: id, dir: "auto" }, legend), help, field) };
    }
    const keys = digits(question);
    const inputs = options(question).map(([one], i) => {
      const input = el("input", { type: "radio", id: `${id}-${i}`, name: id, value: String(one), checked: one === answer, "aria-describedby": describedby });
      let was = input.checked;
      input.addEventListener("click", () => { // again: takes it back
        if (was && !question.required) input.checked = false;
        was = input.checked;
      });
      input.addEventListener("change", () => { was = false; });
      return input;
    });
    const ends = question.kind === "scale" && (question.low_label || question.high_label)
      ? el("p", { class: "ends muted" }, el("span", {}, question.low_label), el("span", {}, question.high_label)) : null;
    return { question, inputs, keys, node: el("div", { class: "ask" }, el("fieldset", {}, el("legend", { dir: "auto" }, legend), help,
      el("div", { class: question.kind === "scale" ? "options points" : "options" }, options(question).map(([, text], i) =>
        el("label", { for: `${id}-${i}`, class: "option" }, inputs[i], el("span", { dir: "auto" }, text), keys[i] && keys[i] !== text ? el("kbd", { "aria-hidden": "true" }, keys[i]) : null))),
      ends)) };
  }

  /** Give the focus to the first question without an answer. */
  focus() {
    this.enter(this.parts.find((part) => this.answer(part) === null) ?? this.parts[0]);
  }

  enter(part) {
    (part.inputs.find((one) => one.checked) ?? part.inputs[0]).focus({ preventScroll: true });
    part.node.scrollIntoView({ block: "nearest" });
  }

  answer({ question, field, inputs }) {
    if (field) return field.value.trim() || null;
    const chosen = inputs.findIndex((one) => one.checked);
    return chosen < 0 ? null : options(question)[chosen][0];
  }

  press(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      this.cancelled();
    } else if (event.key === "Enter") {
      if (event.shiftKey || event.repeat || event.target.matches("button")) return;
      this.finish();
    } else {
      const at = Math.max(0, this.parts.findIndex((part) => part.node.contains(event.target)));
      const chosen = event.target.matches("textarea") || !singleKeys() ? -1 : this.parts[at].keys?.indexOf(event.key) ?? -1;
      if (chosen < 0) return;
      this.parts[at].inputs[chosen].checked = true;
      say(options(this.parts[at].question)[chosen][1]);
      if (at + 1 < this.parts.length) this.enter(this.parts[at + 1]);
      else this.enter(this.parts[at]);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  finish() {
    const missing = this.parts.find((part) => part.question.required && this.answer(part) === null);
    this.problem.textContent = missing ? `Answer “${missing.question.text}” first.` : "";
    if (missing) {
      this.enter(missing);
      return;
    }
    this.done(Object.fromEntries(this.parts.map((part) => [part.question.key, this.answer(part)]).filter(([, answer]) => answer !== null)));
  }
}
