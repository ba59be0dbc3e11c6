// Requests to the server, and the token where it wants one.

import { byId } from "./dom.js";
import { onPage } from "./messages.js";

const SECONDS = 30;

export class Failure extends Error {
  /** status 0: the server cannot be reached. */
  constructor(message, status) {
    super(onPage(message));
    this.status = status;
  }
}

/** Ask for JSON; with a body, send it. */
export async function ask(path, body, seconds = SECONDS, method = body === undefined ? "GET" : "POST") {
  const options = { method, headers: { "X-Linker": "1" }, signal: AbortSignal.timeout(seconds * 1000), cache: "no-store" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Failure("the server cannot be reached", 0);
  }
  if (response.status === 401 && path !== "api/login") {
    await signIn();
    return ask(path, body, seconds, method);
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Failure(answer?.error ?? `the server answered with status ${response.status}`, response.status);
  if (answer === null) throw new Failure("the answer was cut off", 0);
  return answer;
}

/** The token out of the address, which then no longer shows it. */
export async function tokenOfAddress() {
  const match = /^#token=([\w-]+)$/.exec(location.hash);
  if (!match) return;
  history.replaceState(null, "", location.pathname);
  await ask("api/login", { token: match[1] }).catch(() => {});
}

/** Send a file as it is. */
export async function send(path, file) {
  let response;
  try {
    response = await fetch(path, { method: "POST", body: file, headers: { "X-Linker": "1", "Content-Type": "application/octet-stream" } });
  } catch {
    throw new Failure("the server cannot be reached, or the file was changed meanwhile", 0);
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Failure(answer?.error ?? `the server answered with status ${response.status}`, response.status);
  return answer;
}

/** Ask for a file, and have the browser save it. */
export async function download(path, body, name, seconds) {
  let response;
  try {
    response = await fetch(path, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(seconds * 1000),
      headers: { "X-Linker": "1", "Content-Type": "application/json" } });
  } catch {
    throw new Failure("the server cannot be reached", 0);
  }
  if (!response.ok) throw new Failure((await response.json().catch(() => null))?.error ?? `the server answered with status ${response.status}`, response.status);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

let signingIn = null;

function signIn() {
  signingIn ??= new Promise((resolve) => {
    const dialog = byId("token-dialog");
    const submit = async (event) => {
      event.preventDefault();
      try {
        await ask("api/login", { token: byId("token").value });
      } catch (failure) {
        byId("token-problem").textContent = failure.message;
        byId("token").select();
        return;
      }
      dialog.removeEventListener("submit", submit);
      byId("token").value = "";
      byId("token-problem").textContent = "";
      dialog.close();
      signingIn = null;
      resolve();
    };
    dialog.addEventListener("submit", submit);
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.showModal();
  });
  return signingIn;
}
