// The targets of ⌘K that were used last, in this browser.

import { useState } from "react";

const storageKey = "cc.recent";
const kept = 6;

function read(): string[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(saved) ? saved.filter((one) => typeof one === "string").slice(0, kept) : [];
  } catch {
    return [];
  }
}

/** Their ids, the last one first. */
export const useRecentTargets = () => useState(read)[0];

export function rememberTarget(id: string): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify([id, ...read().filter((one) => one !== id)].slice(0, kept)));
  } catch {
    // Without storage nothing is remembered.
  }
}
