// Where a post stands: its address, and the posts that it answers.

import { el, visible } from "./dom.js";
import { webLink } from "./markdown.js";

/** A chip that opens the post on its platform; null where the address is not known. */
export function originalLink(post) {
  const link = post.url && webLink(post.url, "open the post ", el("span", { "aria-hidden": "true" }, "↗"));
  link?.classList.add("chip", "info");
  return link || null;
}

/** What the post replies to, quotes or shares. */
export function contextOf(post) {
  if (!post.context?.length) return null;
  return el("ul", { class: "context", "aria-label": "What the post refers to" }, post.context.map((one) => el("li", {},
    el("span", { class: "eyebrow" }, one.relation), " ",
    one.text ? el("span", { dir: "auto", class: "quoted" }, visible(one.text))
      : el("span", { class: "muted" }, "a post that is not in the file"),
    one.url ? [" ", webLink(one.url, "open")] : null)));
}
