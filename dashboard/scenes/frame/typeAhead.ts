// Keeps what is typed after the search was asked for and before its field has the focus. Without this, those characters would
// go to the page behind it.

let typed = "";

function keep(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Backspace") typed = typed.slice(0, -1);
  else if (event.key.length === 1) typed += event.key;
  // Enter would press the button that still has the focus.
  else if (event.key !== "Enter") return;
  event.preventDefault();
  event.stopPropagation();
}

export function startTypeAhead(): void {
  typed = "";
  document.addEventListener("keydown", keep, true);
}

/** Returns what was typed. From here on, keys go where the focus is. */
export function takeTypeAhead(): string {
  document.removeEventListener("keydown", keep, true);
  const taken = typed;
  typed = "";
  return taken;
}
