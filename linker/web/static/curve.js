// Small pictures of numbers.

import { svg, whole } from "./dom.js";

const WIDTH = 280;
const HEIGHT = 132;
const PAD = { left: 30, right: 8, top: 10, bottom: 22 };

/** Relevant posts found after each label. */
export function curve(points, labeled) {
  const found = points.length ? points[points.length - 1][1] : 0;
  const most = Math.max(found, 1);
  const x = (n) => PAD.left + (WIDTH - PAD.left - PAD.right) * n / Math.max(labeled, 1);
  const y = (n) => HEIGHT - PAD.bottom - (HEIGHT - PAD.bottom - PAD.top) * n / most;
  const path = [[0, 0], ...points].map(([n, r]) => `${x(n).toFixed(1)},${y(r).toFixed(1)}`).join(" L");
  const base = y(0);
  const text = `Found so far: ${found} relevant posts after ${labeled} labels`;
  const node = svg("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": text });
  for (const level of most > 1 ? [0, 0.5, 1] : [0, 1]) {
    const line = base - level * (base - PAD.top);
    node.append(svg("line", { class: "axis", x1: PAD.left, x2: WIDTH - PAD.right, y1: line, y2: line }));
    if (level !== 0.5) {
      node.append(svg("text", { x: PAD.left - 6, y: line + 4, "text-anchor": "end" }, whole(level * most)));
    }
  }
  if (points.length) {
    node.append(
      svg("path", { class: "area", d: `M${path} L${x(labeled)},${base} Z` }),
      svg("path", { class: "line", d: `M${path}` }),
      svg("circle", { class: "dot", cx: x(labeled), cy: y(found), r: 3.5 }),
    );
  }
  node.append(
    svg("text", { x: PAD.left, y: HEIGHT - 6 }, "0"),
    svg("text", { x: WIDTH - PAD.right, y: HEIGHT - 6, "text-anchor": "end" }, `${whole(labeled)} labeled`),
  );
  return node;
}

/** The relevant posts found, and how many more there may be. */
export function interval(found, estimate, labeled) {
  const total = Math.max(found + estimate.high, 1);
  const x = (n) => 280 * n / total;
  return svg("svg", { class: "interval", viewBox: "0 0 280 14", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 280, height: 10, y: 2, rx: 5 }),
    svg("rect", { class: "range", x: x(found + estimate.low), width: x(estimate.high - estimate.low), height: 10, y: 2 }),
    svg("rect", { class: "found", width: x(found), height: 10, y: 2 }),
    labeled && svg("line", { class: "middle", x1: x(found + estimate.middle), x2: x(found + estimate.middle), y1: 0, y2: 14 }));
}
