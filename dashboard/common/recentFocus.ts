// Remembers what had the focus, and where it stood. A secret is shown when the dialog that asked for it closes: the focus then
// belongs to the button that opened the first of the two, which only the order of the focus tells. And a row that is deleted
// takes the focus with it: it goes on to the row that follows, or else to the heading.

type Focused = {
  element: HTMLElement;
  /** The row around it and its place among the others. */
  row: HTMLElement | null;
  list: HTMLElement | null;
  index: number;
  section: HTMLElement | null;
  dialog: HTMLElement | null;
};

const recent: Focused[] = [];
const rowSelector = "tr,li,[role=listitem]";
const rowsOf = (list: HTMLElement) => [...list.children].filter((one): one is HTMLElement => one.matches(rowSelector));

function placeOf(element: HTMLElement): Focused {
  const row = element.closest<HTMLElement>(rowSelector);
  const list = row?.parentElement ?? null;
  return {
    element,
    row,
    list,
    index: row && list ? rowsOf(list).indexOf(row) : 0,
    section: element.closest<HTMLElement>("section, [role=dialog]"),
    dialog: element.closest<HTMLElement>("[role=dialog], [role=menu]"),
  };
}

/** Starts to remember, once for the page. */
export function rememberFocus(): void {
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) recent.push(placeOf(target));
    if (recent.length > 10) recent.shift();
  });
  new MutationObserver(keepFocus).observe(document.body, { childList: true, subtree: true });
}

/** Gives the focus to the last element that had it and is still there, outside of `closed`. */
export function focusLast(closed: string): void {
  const found = recent.findLast(({ element }) => element.isConnected && element.checkVisibility() && !element.closest(closed));
  give(found?.element ?? contentOf());
}

/** Gives the focus to what stands next to an element that was removed while it had the focus, or while its dialog had it. */
function keepFocus(): void {
  if (document.activeElement !== document.body) return;
  const last = recent.at(-1);
  const lost = recent.findLast(({ dialog }) => !dialog || dialog.isConnected);
  // An element that is still there gets the focus back from its dialog.
  if (!lost || lost.element.isConnected) return;
  const next = nextTo(lost);
  if (next) give(next);
  // Another page: a link leads there without the focus, but a dialog does not leave it nowhere.
  else if (last !== lost) give(contentOf());
}

function nextTo({ row, list, index, section }: Focused): HTMLElement | null {
  if (row?.isConnected) return row;
  // Rows of a long list are also removed by scrolling.
  if (list?.closest("[data-virtual]")) return null;
  const rows = list?.isConnected ? rowsOf(list) : [];
  return rows[index] ?? rows.at(-1) ?? (section?.isConnected ? section.querySelector("h2") : null);
}

const contentOf = () => document.querySelector<HTMLElement>("#content");

function give(target: HTMLElement | null): void {
  if (target && target.tabIndex < 0) target.tabIndex = -1;
  target?.focus({ preventScroll: true });
}
