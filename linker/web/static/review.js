// Agreement of people and machines, and the posts on which people disagree.

import { ask } from "./api.js";
import { contextOf } from "./context.js";
import { counted, el, redraw, redrawRows, say, steadily, whole, words } from "./dom.js";
import { newId } from "./ids.js";
import { LabelSet, segments } from "./labels.js";
import { options } from "./questions.js";

const figure = (value) => (value === null ? "not defined" : value.toFixed(2));
const percent = (value) => `${whole(100 * value)} %`;
const share = (one) => (one.count ? `${percent(one.hits / one.count)} (${percent(one.low)} to ${percent(one.high)})` : "not known");

export class Review {
  /** `changed`: called when a label has been decided. */
  constructor(session, annotator, askName, changed) {
    this.changed = changed;
    this.session = session;
    this.annotator = annotator;
    this.askName = askName;
    this.labels = new LabelSet(session);
    this.path = `api/sessions/${encodeURIComponent(session.key)}`;
    this.figures = el("div");
    this.list = el("ul", { class: "rows list disputes" });
    // Changes by others would interrupt readers of the screen again and again.
    this.count = el("p", { class: "muted", role: "status", "aria-live": "off" });
    this.open = el("p", { hidden: true }, el("button", { type: "button", onclick: async () => { if (await this.askName()) this.load(); } }, "Show these posts"),
      el("small", {}, " It is recorded under your name that you saw the labels."));
    this.questions = el("ul", { class: "rows" });
    this.node = el("section", { class: "panel", "aria-labelledby": "review-title" }, el("h2", { id: "review-title", tabindex: -1 }, "Agreement"), this.figures, this.count, this.open, this.list, this.questions);
  }

  async load() {
    try {
      const answer = await ask(`${this.path}/agreement?annotator=${encodeURIComponent(this.annotator())}`);
      steadily(() => this.show(answer));
    } catch (failure) {
      this.count.textContent = `The agreement cannot be computed: ${failure.message}`;
    }
  }

  show(answer) {
    const rows = answer.kappas.map((one) => [one.people.join(" and "), `κ ${figure(one.kappa)}`]);
    redraw(this.figures,
      answer.posts ? el("dl", { class: "figures" },
        el("div", {}, el("dt", {}, "Krippendorff's α"), el("dd", {}, el("span", { id: "alpha" }, figure(answer.alpha)),
          answer.interval ? el("small", { id: "alpha-interval" }, ` (${answer.interval.map(figure).join(" to ")})`) : null)),
        el("div", {}, el("dt", {}, "Percent agreement"), el("dd", { id: "percent" }, percent(answer.percent))),
        el("div", {}, el("dt", {}, "Posts with several labels"), el("dd", {}, whole(answer.posts))),
        answer.revised ? el("div", {}, el("dt", {}, "Labels changed after others were seen (not counted)"), el("dd", {}, whole(answer.revised))) : null) : el("p", { class: "muted" }, "No post has the labels of two people yet."),
      answer.posts ? el("p", { class: "muted" }, answer.interval
        ? "In brackets: the 95 % interval of α, from resampling the posts. Percent agreement does not take chance into account."
        : `α has no 95 % interval: ${answer.why_no_interval}.`) : null,
      rows.length ? el("ul", { class: "people" }, rows.map(([name, value]) => el("li", {}, el("span", {}, name), el("span", { class: "num" }, value)))) : null,
      ...answer.machines.map((one) => this.machine(one)));
    const open = answer.undecided;
    this.count.textContent = answer.total
      ? `People disagree on ${counted(answer.total, "post")}, ${open ? `${whole(open)} of them undecided` : "all decided"}. Until you decide, the majority counts, and a tie counts as relevant.`
      : answer.posts ? `Nobody disagrees on ${answer.questions.some((one) => one.total) ? "the label of " : ""}a post that all have labeled.` : "";
    const parts = [answer, ...answer.questions];
    this.open.hidden = parts.every((one) => !one.total || one.disagreements.length > 0);
    redrawRows(this.list, answer.disagreements, (post) => post.id, (post) => this.row(post));
    redrawRows(this.questions, answer.questions.filter((one) => one.posts), (one) => one.key, (one) => this.question(one));
  }

  /** Agreement on a further question, and the posts to which people answer differently. */
  question(one) {
    const question = this.session.questions.find((other) => other.key === one.key);
    const interval = one.interval ? ` (${one.interval.map(figure).join(" to ")})` : "";
    const answered = `${counted(one.posts, "post")} with several answers, ${percent(one.percent)} agreement, α ${figure(one.alpha)}${interval}`;
    return [el("h3", { dir: "auto" }, question.text), el("p", { class: "muted" }, `${answered}${one.interval ? "" : `; no interval: ${one.why_no_interval}`}.`),
      one.total ? el("p", { class: "muted" }, `People answer ${counted(one.total, "post")} differently. Until you decide, the most frequent answer counts, and none where two are as frequent.`) : null,
      one.disagreements.length ? el("ul", { class: "rows list disputes" }, one.disagreements.map((post) => el("li", {}, words(post.parts),
        el("ul", { class: "chips" }, Object.entries(post.answers).filter(([, answers]) => one.key in answers).map(([name, answers]) => el("li", { class: "chip" }, `${name}: ${answers[one.key]}`))),
        el("div", { class: "row-end" }, el("span", { class: "muted" }, one.key in post.decided ? "Decided" : "Not decided"),
          segments(options(question).map(([answer, text]) => ({ name: text, value: "answer", answer })), (choice) => choice.answer === post.decided[one.key],
            (choice) => this.decide(post, { value: post.resolved?.value ?? (post.holds ? "relevant" : "not"), choice: post.resolved?.choice ?? null, answers: { ...post.decided, [one.key]: choice.answer } }, choice.name), `Decided answer to ${question.text}`))))) : null];
  }

  async decide(post, label, name) {
    try {
      this.show(await ask(`${this.path}/resolve`, { annotator: this.annotator(), post: post.id, id: newId(), choice: null, ...label }));
      say(`Decided: ${name}`);
      this.changed();
    } catch (failure) {
      this.count.textContent = failure.message;
    }
  }

  machine(one) {
    return el("div", { class: "block machine" }, el("p", { class: "eyebrow" }, `Machine: ${one.machine}`),
      el("ul", { class: "people" }, [["κ with people", figure(one.kappa)], ["Precision", share(one.precision)], ["Recall", share(one.recall)]]
        .map(([name, value]) => el("li", {}, el("span", {}, name), el("span", { class: "num" }, value)))),
      el("p", { class: "muted" }, `${counted(one.labels, "label")}, ${whole(one.posts)} on posts that people labeled too, ${whole(one.sampled)} of these sampled at random. People see the likeliest posts first, so the figures are about those. Labels of machines never count when it is decided whether to stop.`));
  }

  row(post) {
    const current = post.resolved ? post.resolved.choice ?? this.labels.choices.find((one) => one.value === post.resolved.value)?.name : null;
    return [contextOf(post), words(post.parts),
      el("ul", { class: "chips" }, post.labels.map(([name, value, text, note]) => el("li", { class: `chip ${value}` }, `${name}: ${text.toLowerCase()}${note ? ` (${note})` : ""}`))),
      el("div", { class: "row-end" }, el("span", { class: "muted" }, post.resolved ? "Decided" : `Counts as ${post.holds ? "relevant" : "not relevant"} now`),
        this.labels.segments(current, (choice) => this.decide(post, this.labels.action(choice), choice.name), "Adjudicated label"))];
  }
}
