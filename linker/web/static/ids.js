// Idempotency keys: an action with the same id counts once, however often it is sent.

let last = 0;

export function newId() {
  last = Math.max(last + 1, Date.now() * 1000);
  const random = crypto.getRandomValues(new Uint32Array(2));
  return `${String(last).padStart(17, "0")}-${[...random].map((n) => n.toString(16).padStart(8, "0")).join("")}`;
}
