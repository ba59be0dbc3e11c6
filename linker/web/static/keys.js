// Single keys. They can be turned off: programs that turn speech into keys would press them.

import { byId } from "./dom.js";
import { keep, kept } from "./store.js";

const OFF = "linker:single-keys-off";

/** Whether single keys label posts and answer questions. */
export const singleKeys = () => kept(OFF) === null;

/** Calls actions[key] for keys that are pressed outside of fields and dialogs. */
export function listen(actions) {
  byId("shortcuts").checked = singleKeys();
  byId("shortcuts").addEventListener("change", (event) => keep(OFF, event.target.checked ? null : "1"));
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || event.metaKey || event.repeat) return;
    if (document.querySelector("dialog[open]")) return;
    const target = event.target;
    if (target.closest?.("input, textarea, select, [contenteditable]")) return;
    let key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey) {
      if (key !== "z" || event.shiftKey) return;
      key = "u";
    } else if (!singleKeys()) return;
    const action = Object.hasOwn(actions, key) ? actions[key] : null;
    if (action?.()) event.preventDefault();
  });
}
