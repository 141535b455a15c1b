// Unsaved input. Forms report theirs, and what would lose it asks first: a link, the back button, a reload, a dialog that closes.

import { createContext, useCallback, useContext, useLayoutEffect, useRef, useSyncExternalStore } from "react";

export type Place = { pathname: string; search: unknown };
type Draft = { isKept: (from: Place, to: Place) => boolean };

const drafts = new Set<Draft>();
let question: ((mayDiscard: boolean) => void) | null = null;
const listeners = new Set<() => void>();
const notifyAll = () => {
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The unsaved input of one dialog, for the forms in it. */
export const DialogDrafts = createContext<Set<unknown> | null>(null);

/** Another page, or another tab of this one, loses what was typed. */
const isSamePlace = (from: Place, to: Place) =>
  from.pathname === to.pathname && JSON.stringify(from.search) === JSON.stringify(to.search);

/**
 * Reports unsaved input. Returns a function that forgets it at once, for a form that was saved and leaves the page. `isKept` tells
 * which places keep it.
 */
export function useUnsaved(isChanged: boolean, isKept: Draft["isKept"] = isSamePlace): () => void {
  const dialog = useContext(DialogDrafts);
  const current = useRef<Draft | null>(null);
  const rule = useRef(isKept);
  useLayoutEffect(() => {
    rule.current = isKept;
  });
  const forget = useCallback(() => {
    if (!current.current) return;
    drafts.delete(current.current);
    dialog?.delete(current.current);
    current.current = null;
    notifyAll();
  }, [dialog]);
  useLayoutEffect(() => {
    if (!isChanged) return undefined;
    const draft: Draft = { isKept: (from, to) => rule.current(from, to) };
    current.current = draft;
    drafts.add(draft);
    dialog?.add(draft);
    notifyAll();
    return forget;
  }, [isChanged, dialog, forget]);
  return forget;
}

export const hasUnsaved = (): boolean => drafts.size > 0;
export const useHasUnsaved = (): boolean => useSyncExternalStore(subscribe, hasUnsaved);
export const isLostBetween = (from: Place, to: Place): boolean => [...drafts].some((draft) => !draft.isKept(from, to));

export function forgetAll(): void {
  drafts.clear();
  notifyAll();
}

/** Asks if the input may be discarded. The frame shows the question. */
export function askToDiscard(): Promise<boolean> {
  question?.(false);
  return new Promise((resolve) => {
    question = (mayDiscard) => {
      question = null;
      notifyAll();
      resolve(mayDiscard);
    };
    notifyAll();
  });
}

/** The open question, as the function that answers it. */
export const useQuestion = () => useSyncExternalStore(subscribe, () => question);
