// Keeps what is shown current: asks for a number that changes whenever the data do, and loads them again only then.
// Short questions instead of an open connection: nothing has to survive proxies, sleep, or the server's restart.

import { ask, Failure } from "./api.js";

const PAUSE = 2000;
const SECONDS = 10;

export class Live {
  /**
   * @param path  address of the number
   * @param load  a function that loads and shows the data: at first, and after each change
   * @param reached  a function, called after each question: with the failure, or null
   */
  constructor(path, load, reached) {
    this.path = path;
    this.load = load;
    this.reached = reached;
    this.wake = () => { if (!document.hidden) this.look(); };
  }

  start() {
    if (!this.running) {
      this.running = true;
      addEventListener("online", this.wake);
      document.addEventListener("visibilitychange", this.wake);
    }
    return this.look();
  }

  stop() {
    this.running = false;
    clearTimeout(this.timer);
    removeEventListener("online", this.wake);
    document.removeEventListener("visibilitychange", this.wake);
  }

  /** Ask now; while it is asking, once more after that. */
  look() {
    this.again = Boolean(this.busy);
    this.busy ??= this.ask().finally(() => {
      this.busy = null;
      clearTimeout(this.timer);
      // A page that nobody sees asks nothing.
      if (this.running && !document.hidden) this.timer = setTimeout(() => this.look(), PAUSE);
    });
    return this.busy;
  }

  async ask() {
    do {
      this.again = false;
      try {
        const { version } = await ask(this.path, undefined, SECONDS);
        if (!this.running) return;
        if (version !== this.version) {
          await this.load(version, this.version);
          this.version = version;
        }
        this.reached(null);
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure;
        if (this.running) this.reached(failure);
      }
    } while (this.again && this.running);
  }
}
