// Guidelines in Markdown, made into elements. HTML in it stays text, and links lead only to web pages.

import { el, visible } from "./dom.js";

const INLINE = /(`[^`\n]+`)|\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])|(?<!\w)_([^_\s](?:[^_]*[^_\s])?)_(?!\w)|\[([^\]\n]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/gu;

/** An address that may be opened: of a web page, and of nothing that runs. */
export function webLink(url, ...children) {
  let address;
  try { address = new URL(url); } catch { return null; }
  if (!["http:", "https:"].includes(address.protocol)) return null;
  return el("a", { href: address.href, rel: "noopener noreferrer", target: "_blank" }, ...children);
}

function inline(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [all, code, bold, bold2, italic, italic2, name, url, bare] = match;
    nodes.push(visible(text.slice(end, match.index)));
    end = match.index + all.length;
    if (code) nodes.push(el("code", {}, visible(code.slice(1, -1))));
    else if (bold ?? bold2) nodes.push(el("strong", {}, inline(bold ?? bold2)));
    else if (italic ?? italic2) nodes.push(el("em", {}, inline(italic ?? italic2)));
    else if (url) nodes.push(webLink(url, visible(name)) ?? visible(all));
    else nodes.push(webLink(bare, bare) ?? visible(all));
  }
  nodes.push(visible(text.slice(end)));
  return nodes;
}

/** The blocks of a text in Markdown. */
export function markdown(text) {
  const blocks = [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  let paragraph = [];
  let list = null;
  const flush = () => {
    if (paragraph.length) blocks.push(el("p", { dir: "auto" }, inline(paragraph.join(" "))));
    paragraph = [];
  };
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    const item = /^\s*(?:([-*+])|(\d+)[.)])\s+(.*)/.exec(line);
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    const quote = /^>\s?(.*)/.exec(line);
    if (item) {
      flush();
      const tag = item[1] ? "ul" : "ol";
      if (list?.tagName.toLowerCase() !== tag) blocks.push(list = el(tag));
      list.append(el("li", { dir: "auto" }, inline(item[3])));
      continue;
    }
    if (list && /^\s{2,}\S/.test(line)) {
      list.lastChild.append(" ", ...inline(line.trim()));
      continue;
    }
    list = null;
    if (/^```/.test(line)) {
      flush();
      const code = [];
      while (i + 1 < lines.length && !/^```/.test(lines[i += 1])) code.push(lines[i]);
      blocks.push(el("pre", {}, el("code", {}, visible(code.join("\n")))));
    } else if (heading) {
      flush();
      blocks.push(el(heading[1].length < 2 ? "h3" : "h4", { dir: "auto" }, inline(heading[2])));
    } else if (quote) {
      flush();
      blocks.push(el("blockquote", { dir: "auto" }, inline(quote[1])));
    } else if (/^\s*(?:-{3,}|\*{3,})\s*$/.test(line)) {
      flush();
      blocks.push(el("hr"));
    } else if (line.trim()) paragraph.push(line.trim());
    else flush();
  }
  flush();
  return blocks;
}
