// The part of the address after the question mark: filters, ranges and tabs that a link shares.

import { useNavigate, useSearch } from "@tanstack/react-router";

type Values = Record<string, string | number | undefined>;

export function useAddress() {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  return {
    /** All of it, to carry along to another page. */
    search,
    text: (name: string): string => search[name] ?? "",
    /** A time in milliseconds. */
    time: (name: string): number | undefined => {
      const value = Number(search[name] ?? Number.NaN);
      return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
    },
    /** Changes some of it; blank takes one out. */
    change: (part: Values): void => {
      const kept = Object.entries({ ...search, ...part }).filter(
        ([, value]) => value !== undefined && value !== "",
      );
      void navigate({ to: ".", search: Object.fromEntries(kept), replace: true });
    },
  };
}
