// Click ids and UTM fields from the address, browser ids from cookies. Names match in any case; values stay as they are.

import { config, page, quietly } from "./page.ts";

const params: Record<string, string> = {};
const isParam = new RegExp(`^(${config.params})$`, "i");
const cookie = new RegExp(`(?:^|; )(${config.cookies})=([^;]*)`, "g");
/** The relay drops longer ones, and would refuse a report that such a value makes too large. */
const longest = 1024;

/** Remembers what an address of this site carries. The newest wins. */
export function readAddress(address: string): void {
  quietly(() => {
    const url = new URL(address, location.href);
    if (url.hostname !== location.hostname) return;
    url.searchParams.forEach((value, key) => {
      if (isParam.test(key) && value && value.length <= longest) params[key.toLowerCase()] = value;
    });
  });
}

/** Routers strip the query early, and consent may come a page late: the first address and the last page still have it. */
export function readAddresses(): void {
  readAddress(page.referrer);
  quietly(() => readAddress((performance.getEntriesByType("navigation")[0] as PerformanceEntry).name));
  readAddress(location.href);
}

export function ids(): object {
  const cookies: Record<string, string> = {};
  for (const [, name, value] of page.cookie.matchAll(cookie)) cookies[name as string] = value as string;
  return {
    params,
    cookies,
    page: location.origin + location.pathname,
    referrer: quietly(() => new URL(page.referrer).origin),
  };
}
