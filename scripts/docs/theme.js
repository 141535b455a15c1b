// Sets the chosen theme before the first paint. The documentation and the dashboard share the choice.
(() => {
  const key = "mantine-color-scheme-value";
  const root = document.documentElement;
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  let chosen = null;
  try {
    chosen = localStorage.getItem(key);
  } catch {
    // Storage may be disabled; then the system's theme is used.
  }
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  window.switchTheme = () => {
    const next = (root.dataset.theme ?? (isDark() ? "dark" : "light")) === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    try {
      localStorage.setItem(key, next);
    } catch {
      // The choice applies to this page only.
    }
  };
})();
