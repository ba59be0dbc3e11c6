// The labels that a session offers, and the buttons that give them.

import { el } from "./dom.js";

const LETTERS = { relevant: "R", not: "N", skip: "S" };

/** The labels of a session: what each is called, counts as, and its key. */
export class LabelSet {
  constructor(session) {
    this.named = session.named;
    this.choices = session.labels.map((one, i) => ({ ...one, key: this.named ? String(i + 1) : LETTERS[one.value] }));
  }

  /** What an action needs to record a label. */
  action(choice) {
    return this.named ? { value: choice.value, choice: choice.name } : { value: choice.value };
  }

  /** The label of a key, if there is one. */
  of(key) {
    const number = /^[1-9]$/.test(key) ? this.choices[Number(key) - 1] : undefined;
    return number ?? (this.named ? undefined : this.choices.find((one) => one.key.toLowerCase() === key));
  }

  /** Buttons of which the current label is pressed. */
  segments(current, onchoose, label = "Label") {
    return segments(this.choices, (choice) => choice.name === current, onchoose, label);
  }
}

/** Buttons of which those that `isChosen` are pressed. */
export function segments(choices, isChosen, onchoose, label) {
  const buttons = choices.map((choice) => el("button", {
    type: "button", class: choice.value, "aria-pressed": String(isChosen(choice)), onclick: () => {
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(choices[i] === choice)));
      onchoose(choice);
    },
  }, choice.name));
  return el("div", { class: "segments", role: "group", "aria-label": label }, buttons);
}
