// Runs before the page is drawn, so that it does not flash in the other colors.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try { return localStorage.getItem("linker:theme"); } catch { return null; }
  };
  const show = () => { document.documentElement.dataset.theme = kept() ?? (dark.matches ? "dark" : "light"); };
  dark.addEventListener("change", show);
  show();
})();
