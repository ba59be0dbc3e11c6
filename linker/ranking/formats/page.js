"use strict";
for (const section of document.querySelectorAll("section")) start(section);

function start(section) {
  const body = section.querySelector("tbody");
  const rows = Array.from(body.rows);
  const find = section.querySelector(".find");
  const count = section.querySelector(".count");
  const texts = rows.map((row) => row.textContent.toLowerCase());

  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const fits = words.every((word) => texts[i].includes(word));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    count.textContent = `${shown} of ${rows.length} posts`;
  }

  const order = section.querySelector(".order");
  const heads = Array.from(section.querySelectorAll("th[data-key]"));

  function sort(key, down) {
    const value = (row) => (row.dataset[key] === "" ? null : Number(row.dataset[key]));
    const sorted = rows.slice().sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === y) return 0;
      if (x === null) return 1;
      if (y === null) return -1;
      return down ? y - x : x - y;
    });
    body.append(...sorted);
    for (const head of heads) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    order.value = `${key} ${down ? "down" : "up"}`;
  }

  for (const head of heads) {
    head.querySelector("button").addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      sort(head.dataset.key, before ? before === "ascending" : head.dataset.key === "score");
    });
  }
  order.addEventListener("change", () => {
    const [key, way] = order.value.split(" ");
    sort(key, way === "down");
  });
  find.addEventListener("input", filter);
  section.querySelector(".tools").hidden = false;
  sort("rank", false);
  filter();
}
