// Remembers what had the focus. A secret is shown when the dialog that asked for it closes: the focus then belongs to the button
// that opened the first of the two, which only the order of the focus tells.

const recent: HTMLElement[] = [];

/** Starts to remember, once for the page. */
export function rememberFocus(): void {
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) recent.push(target);
    if (recent.length > 10) recent.shift();
  });
}

/** Gives the focus to the last element that had it and is still there, outside of `closed`. */
export function focusLast(closed: string): void {
  const target = recent.findLast((one) => one.isConnected && one.checkVisibility() && !one.closest(closed));
  (target ?? document.querySelector<HTMLElement>("#content"))?.focus({ preventScroll: true });
}
