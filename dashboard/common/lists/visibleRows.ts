// Renders only the rows of a long table that are on the screen, and some around them. All rows have one height, which is
// read from the first rendered row.

import { useEffect, useRef, useState, type RefObject } from "react";

/** Rows above and below the screen, so that scrolling and the Tab key find rows that are rendered already. */
const overscan = 8;
/** The range moves in steps, so that not every scrolled row renders the table again. */
const step = 4;

/** The rows of the first paint: other parts of the page take the rest of the window. */
const firstRange = (): RowRange => ({ first: 0, last: Math.ceil((0.6 * innerHeight) / 48), height: 48 });

type RowRange = { first: number; last: number; height: number };

/** Computes the range from the top of the table in the window, in pixels. */
export function rangeAt(top: number, windowHeight: number, height: number): RowRange {
  const firstSeen = Math.floor(-top / height) - overscan;
  const lastSeen = Math.ceil((windowHeight - top) / height) + overscan;
  return {
    first: Math.max(0, Math.floor(firstSeen / step) * step),
    last: Math.max(step, Math.ceil(lastSeen / step) * step),
    height,
  };
}

/**
 * Returns the rows to render, from `first` to `last`, which is not included. `layout` changes with what a row shows, and with it the
 * height of rows.
 */
export function useVisibleRows(count: number, layout: unknown): [RefObject<HTMLTableSectionElement | null>, RowRange] {
  const body = useRef<HTMLTableSectionElement>(null);
  const [range, setRange] = useState(firstRange);
  useEffect(() => {
    const update = () => {
      const element = body.current;
      const row = element?.querySelector("tr[aria-rowindex]");
      if (!element || !row) return;
      const height = row.getBoundingClientRect().height || 48;
      const next = rangeAt(element.getBoundingClientRect().top, innerHeight, height);
      setRange((before) =>
        before.first === next.first && before.last === next.last && before.height === next.height ? before : next,
      );
    };
    // Reports the first size, too, once the page is laid out: reading it now would lay out the page twice.
    const observer = new ResizeObserver(update);
    if (body.current) observer.observe(body.current);
    document.addEventListener("scroll", update, { capture: true, passive: true });
    window.addEventListener("resize", update);
    return () => {
      observer.disconnect();
      document.removeEventListener("scroll", update, { capture: true });
      window.removeEventListener("resize", update);
    };
  }, [count, layout]);
  const last = Math.min(count, range.last);
  return [body, { first: Math.min(range.first, Math.max(0, last - step)), last, height: range.height }];
}
