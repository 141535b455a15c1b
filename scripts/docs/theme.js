// Before anything is painted: what was chosen, here or in the dashboard, which share the choice.
(() => {
  const key = "mantine-color-scheme-value";
  const root = document.documentElement;
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  let chosen = null;
  try {
    chosen = localStorage.getItem(key);
  } catch {
    // Storage may be shut; then the system decides.
  }
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  window.switchTheme = () => {
    const next = (root.dataset.theme ?? (isDark() ? "dark" : "light")) === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    try {
      localStorage.setItem(key, next);
    } catch {
      // It holds for this page.
    }
  };
})();
