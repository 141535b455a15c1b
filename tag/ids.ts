// Reads click ids and UTM fields from the address (names in any case), and browser ids from cookies. Values are not changed.

import { cookieNames, hasLinks, loadSecondPart, page, paramNames, safely } from "./page.ts";

const params: Record<string, string> = {};
/** An advertisement brought this visit, or it has links that carry a visit over. */
let needsSecondPart: unknown = hasLinks;
const isParam = new RegExp(`^(${paramNames})$`, "i");
const cookie = new RegExp(`(?:^|; )(${cookieNames})=([^;]*)`, "g");
/** The relay drops longer values, and refuses reports that they make too large. */
const maxLength = 2048;

/** Collects the ids in an address of this site. A later value replaces an earlier one. */
export function readAddress(address: string): void {
  safely(() => {
    const url = new URL(address, location.href);
    if (url.hostname !== location.hostname) return;
    url.searchParams.forEach((value, key) => {
      if (!isParam.test(key) || !value || value[maxLength]) return;
      params[key.toLowerCase()] = value;
      needsSecondPart ||= !/^utm/i.test(key);
    });
  });
}

/** Reads the referrer and the first address too: routers strip the query early, and consent may come one page later. */
export function readAddresses(): void {
  readAddress(page.referrer);
  safely(() => readAddress((performance.getEntriesByType("navigation")[0] as PerformanceEntry).name));
  readAddress(location.href);
}

/** Reads the ids for a report. Loads the second part of the tag where it is needed. */
export function readIds(): object {
  if (needsSecondPart) loadSecondPart();
  const cookies: Record<string, string> = {};
  // Visits every match, in fewer bytes than a loop.
  page.cookie.replace(cookie, (_, name: string, value: string) => (cookies[name] = value));
  return {
    params,
    cookies,
    page: location.origin + location.pathname,
    referrer: safely(() => new URL(page.referrer).origin),
  };
}
