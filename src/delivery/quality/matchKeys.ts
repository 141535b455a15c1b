// Finds which match keys a platform really receives. A request is built with and without each key: if the two differ, the key is
// in it. So nothing is declared a second time, and settings, mappings and the platform's own rules are taken into account.

import { keepsClick } from "../../identity/clickIds.ts";
import type { Conversion, Person } from "../../kernel/event.ts";
import { matchKeys, type MatchKey } from "../../kernel/quality.ts";
import type { ConnectionSettings, Platform } from "../../platforms/platform.ts";
import { sha256 } from "../../platforms/shared/sample.ts";

/** A conversion without a key, or with another email, because an event always has one. Null where it has no such key. */
const without: Record<MatchKey, (conversion: Conversion) => Conversion | null> = {
  email: ({ person, ...rest }) => person && { ...rest, person: withOtherEmail(person) },
  phone: ({ person, ...rest }) =>
    person?.phoneSha256 || person?.phoneDigitsSha256
      ? { ...rest, person: leaveOut(person, ["phoneSha256", "phoneDigitsSha256"]) }
      : null,
  name: ({ person, ...rest }) =>
    person?.firstNameSha256 || person?.lastNameSha256 ? { ...rest, person: leaveOut(person, nameFields) } : null,
  // The address and the platform's own cookie mostly carry the same click: leaving one out would change nothing.
  "click id": (conversion) => {
    const cookies = pick(conversion.browserIds, (name) => !keepsClick(name));
    const isSame = isEmpty(conversion.clickIds) && cookies === conversion.browserIds;
    return isSame ? null : { ...conversion, clickIds: {}, browserIds: cookies };
  },
  "browser id": (conversion) => {
    const clicks = pick(conversion.browserIds, keepsClick);
    return clicks === conversion.browserIds ? null : { ...conversion, browserIds: clicks };
  },
  "address and user agent": ({ browser, ...rest }) =>
    browser?.address || browser?.userAgent ? { ...rest, browser: { ...browser, address: "", userAgent: "" } } : null,
};

const nameFields = ["firstNameSha256", "lastNameSha256", "firstNameAmazonSha256", "lastNameAmazonSha256"] as const;

/** The same object where nothing is left out. */
function pick(ids: Record<string, string>, isKept: (name: string) => boolean): Record<string, string> {
  const kept = Object.entries(ids).filter(([name]) => isKept(name));
  return kept.length === Object.keys(ids).length ? ids : Object.fromEntries(kept);
}

const isEmpty = (ids: object) => Object.keys(ids).length === 0;

const other = sha256("0".repeat(64));

function withOtherEmail(person: Person): Person {
  const changed: Person = { ...person, emailSha256: other };
  for (const form of ["emailGoogleSha256", "emailMicrosoftSha256", "emailRedditSha256", "emailAmazonSha256"] as const)
    if (person[form]) changed[form] = other;
  return changed;
}

function leaveOut(person: Person, names: readonly (keyof Person)[]): Person {
  return Object.fromEntries(Object.entries(person).filter(([name]) => !(names as readonly string[]).includes(name)));
}

/** Returns the keys that the request for a conversion has. */
export function sentKeys(platform: Platform, settings: ConnectionSettings, conversion: Conversion, now: number): Set<MatchKey> {
  const toText = (one: Conversion) => {
    const { url, headers, body } = platform.toRequest([one], settings, now);
    return JSON.stringify([url, headers, body]);
  };
  const text = toText(conversion);
  return new Set(
    matchKeys.filter((key) => {
      const changed = without[key](conversion);
      return changed !== null && toText(changed) !== text;
    }),
  );
}
