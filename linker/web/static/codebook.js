// The further questions of a new project: fields that describe each.

import { el } from "./dom.js";

const KINDS = [["yes_no", "Yes or no"], ["one_of", "One of several answers"], ["scale", "A scale"], ["text", "A short text"]];
const MOST = 20;

/** A short name of a question for exports: the letters and digits of its first words. */
export function keyOf(text, taken) {
  const plain = text.normalize("NFKD").toLowerCase().replace(/[^a-z0-9\s_]/g, "").trim().split(/[\s_]+/).slice(0, 4).join("_").replace(/^[\d_]+/, "").slice(0, 24).replace(/_+$/, "") || "question";
  for (let i = 1; ; i += 1) {
    const key = i > 1 ? `${plain}_${i}` : plain;
    if (!taken.includes(key)) return key;
  }
}

export class QuestionFields {
  constructor() {
    this.parts = [];
    this.made = 0;
    this.list = el("div", { class: "stack" });
    this.more = el("button", { type: "button", onclick: () => this.add() }, "Add a question");
    this.node = el("fieldset", { class: "stack" }, el("legend", {}, "Further questions"),
      el("small", {}, "Asked after the label, such as for the codebook of a content analysis. The order of the posts and the end depend on the label alone."),
      this.list, el("p", {}, this.more));
  }

  get values() {
    return this.parts.map((part) => part.value());
  }

  add() {
    const number = this.made += 1;
    const field = (name, label, control, hint) => {
      control.id = `question-${number}-${name}`;
      return el("div", {}, el("label", { for: control.id }, label), control, hint ? el("small", {}, hint) : null);
    };
    const check = (name, label, checked) => {
      const box = el("input", { type: "checkbox", id: `question-${number}-${name}`, checked });
      return [box, el("p", { class: "check" }, box, el("label", { for: box.id }, label))];
    };
    const text = el("input", { required: true, maxlength: 500, oninput: () => { if (!typed) key.value = keyOf(text.value, this.parts.filter((one) => one !== part).map((one) => one.value().key)); } });
    let typed = false;
    const key = el("input", { required: true, maxlength: 30, pattern: "[a-z][a-z0-9_]*", autocapitalize: "none", spellcheck: "false", title: "Letters a to z, digits and _, a letter first", oninput: () => { typed = true; } });
    const kind = el("select", { onchange: () => draw() }, KINDS.map(([value, shown]) => el("option", { value }, shown)));
    const choices = el("textarea", { rows: 4 });
    const number_ = (value) => el("input", { type: "number", min: -99, max: 99, value, required: true });
    const [low, high] = [number_(1), number_(5)];
    const [lowLabel, highLabel] = [1, 2].map(() => el("input", { maxlength: 60 }));
    const help = el("input", { maxlength: 2000 });
    const [required, requiredRow] = check("required", "An answer is required", true);
    const [relevant, relevantRow] = check("relevant", "Ask only if the post is relevant", true);
    const choicesField = field("choices", "Answers, one per line", choices);
    const scaleFields = el("div", { class: "four" }, field("low", "Lowest", low), field("low-label", "It means (optional)", lowLabel), field("high", "Highest", high), field("high-label", "It means (optional)", highLabel));
    const draw = () => {
      choicesField.hidden = kind.value !== "one_of";
      choices.required = kind.value === "one_of";
      scaleFields.hidden = kind.value !== "scale";
      for (const one of [low, high]) one.disabled = kind.value !== "scale";
    };
    const part = {
      node: el("div", { class: "stack question-fields", role: "group", "aria-label": `Question ${number}` },
        field("text", "Question", text), el("div", { class: "two-equal" }, field("kind", "Answered by", kind), field("key", "Name in exports", key)),
        choicesField, scaleFields, field("help", "Help (optional)", help, "Shown below the question: what counts, with examples."),
        el("div", { class: "two-equal" }, requiredRow, relevantRow),
        el("p", {}, el("button", { type: "button", onclick: () => this.remove(part) }, "Remove this question"))),
      value: () => ({
        key: key.value.trim(), text: text.value.trim(), kind: kind.value, help: help.value.trim(), required: required.checked, relevant_only: relevant.checked,
        ...(kind.value === "one_of" ? { choices: choices.value.split("\n").map((one) => one.trim()).filter(Boolean) } : {}),
        ...(kind.value === "scale" ? { low: Number(low.value), high: Number(high.value), low_label: lowLabel.value.trim(), high_label: highLabel.value.trim() } : {}),
      }),
    };
    draw();
    this.parts.push(part);
    this.list.append(part.node);
    this.more.hidden = this.parts.length >= MOST;
    text.focus();
  }

  remove(part) {
    this.parts = this.parts.filter((one) => one !== part);
    part.node.remove();
    this.more.hidden = false;
    this.more.focus();
  }
}
