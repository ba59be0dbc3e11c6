// Labels on their way to the server. Each is kept in the browser until the server has it, and bears an id, so that the
// server does it once however often it is sent: after lost answers, from two tabs, after a restart.

import { ask } from "./api.js";
import { newId } from "./ids.js";
import { Live } from "./live.js";
import { keep, kept, keptNames } from "./store.js";

const AHEAD = 4;
const AT_ONCE = 50;
const FIRST_PAUSE = 800;
const LONGEST_PAUSE = 10000;

export class Outbox {
  /**
   * @param session  what the server says of the session
   * @param annotator  a function: whose suggestions are wanted
   * @param heard  functions: suggestions(list), status(status), state(name, waiting), refused(action, message),
   *   done(action, post), changed(version, before)
   */
  constructor(session, annotator, heard) {
    this.session = session;
    this.annotator = annotator;
    this.heard = heard;
    this.prefix = `linker:${session.uid}:`;
    this.path = `api/sessions/${encodeURIComponent(session.key)}`;
    this.pause = FIRST_PAUSE;
    this.running = false;
    this.again = false;
    this.closed = false;
    this.wake = () => this.retry();
    this.look = () => { if (!document.hidden) this.retry(); };
    addEventListener("online", this.wake);
    document.addEventListener("visibilitychange", this.look);
    this.live = new Live(`${this.path}/version`, async (version, before) => {
      this.heard.status(await ask(`${this.path}/status`));
      await this.heard.changed(version, before);
    }, (failure) => {
      if (Boolean(failure) !== Boolean(this.failed)) this.retry(); // whether there is a server
    });
  }

  close() {
    this.closed = true;
    this.live.stop();
    clearTimeout(this.timer);
    removeEventListener("online", this.wake);
    document.removeEventListener("visibilitychange", this.look);
  }

  get waiting() {
    return keptNames(this.prefix).length;
  }

  /** Send an action, now or when the server is there again. */
  add(action) {
    const id = newId();
    keep(this.prefix + id, JSON.stringify({ id, annotator: this.annotator(), ...action }));
    if (this.failed) this.heard.state("waiting", this.waiting);
    this.run();
  }

  retry() {
    clearTimeout(this.timer);
    this.pause = FIRST_PAUSE;
    this.run();
  }

  /** Exchange with the server until nothing is left to send. */
  async run() {
    if (this.closed) return;
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    clearTimeout(this.timer);
    try {
      do {
        this.again = false;
        await this.exchange();
        if (this.closed) return;
      } while (this.again || this.waiting);
      this.failed = false;
      this.pause = FIRST_PAUSE;
      this.heard.state("saved", 0);
    } catch (failure) {
      this.failed = true;
      this.heard.state("waiting", this.waiting, failure);
      this.timer = setTimeout(() => this.run(), this.pause);
      this.pause = Math.min(this.pause * 1.6, LONGEST_PAUSE);
    } finally {
      this.running = false;
    }
  }

  async exchange() {
    let names = keptNames(this.prefix).slice(0, this.single ? 1 : AT_ONCE);
    const actions = names.map((name) => JSON.parse(kept(name)));
    if (actions.length && !this.failed) this.heard.state("sending", actions.length);
    const body = { annotator: this.annotator(), actions, count: this.annotator() ? AHEAD : 0 };
    let answer;
    try {
      answer = await ask(`${this.path}/sync`, body);
    } catch (failure) {
      if (failure.status !== 422 || !actions.length) throw failure;
      // One of them can never be understood: find it, and do not let it hold up the others.
      if (actions.length === 1) {
        keep(names[0], null);
        this.heard.refused(actions[0], failure.message);
      }
      this.single = true;
      this.again = true;
      return;
    }
    this.single = false;
    for (const done of answer.done) {
      const action = actions.find((one) => one.id === done.id);
      keep(this.prefix + done.id, null);
      if (done.error) this.heard.refused(action, done.error);
      else this.heard.done?.(action, done.post);
    }
    this.heard.status(answer.status);
    // What was labeled meanwhile may be among these suggestions: then the next exchange brings others.
    if (!this.waiting) this.heard.suggestions(answer.next);
  }
}
