// The query string: filters, ranges and tabs that a link shares.

import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Mode } from "../../../src/kernel/event.ts";

type Values = Record<string, string | number | undefined>;

/**
 * For a link to events of one mode: the router would keep the mode of the page otherwise. The sync log can show `all`, for counts that
 * do not tell them apart.
 */
export const searchOfMode = (mode: Mode | "all") => ({ mode: mode === "live" ? undefined : mode });

export function useQueryParams() {
  const search: Record<string, string | undefined> = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    /** All parameters, to pass on to another page. The object changes with them alone. */
    search,
    text: (name: string): string => search[name] ?? "",
    /** A time in milliseconds. */
    time: (name: string): number | undefined => {
      const value = Number(search[name] ?? Number.NaN);
      return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
    },
    /** Changes some parameters; an empty value removes one. */
    change: (part: Values): void =>
      // Empty ones are passed on: the router would keep the mode otherwise.
      void navigate({ to: ".", search: { ...search, ...part }, replace: true }),
  };
}
