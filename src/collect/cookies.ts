// The relay's cookies in the visitor's browser. The visitor cookie holds a random id. A refusal removes it and leaves a
// cookie with a constant value, the same for everybody, which only says that this browser refused, and by which source. A
// browser that refused for an email also keeps a random proof, without which nobody can lift that refusal. It is no identifier:
// the relay stores no trace of it but a hash with each email, so it recognises the proof only together with that email, when
// the visitor gives both again (src/identity/visits.ts).

import { consentSources, type ConsentSource } from "../kernel/event.ts";
import { randomBase62 } from "../kernel/ids.ts";
import { dayMs } from "../kernel/time.ts";
import type { StoredReport } from "../identity/visits.ts";

const visitorIdLength = 22;
/** The relay's ids have letters and digits; ids that pages propose also have dashes. */
const visitorIdForm = `[0-9A-Za-z-]{${visitorIdLength}}`;
const visitorIdPattern = new RegExp(`^${visitorIdForm}$`);
const visitorPattern = new RegExp(`(?:^|;\\s*)__cc_v=(${visitorIdForm})(?:;|$)`);
const proofPattern = new RegExp(`(?:^|;\\s*)__cc_p=(${visitorIdForm})(?:;|$)`);
const refusalPattern = new RegExp(`(?:^|;\\s*)__cc_(${consentSources.join("|")})=denied(?=;|$)`, "g");

export const newVisitorId = () => randomBase62(visitorIdLength);

export function isVisitorId(value: unknown): value is string {
  return typeof value === "string" && visitorIdPattern.test(value);
}

export type BrowserCookies = { visitorId: string | null; refusals: ConsentSource[]; proof: string | null };

export function readCookies(header = ""): BrowserCookies {
  return {
    visitorId: visitorPattern.exec(header)?.[1] ?? null,
    refusals: [...header.matchAll(refusalPattern)].map(([, source]) => source as ConsentSource),
    proof: proofPattern.exec(header)?.[1] ?? null,
  };
}

/** Returns the Set-Cookie headers for a stored report: the browser then holds either an id or its refusals. */
export function listCookies({ visitorId, consent, refusedBy, proof }: StoredReport, before: BrowserCookies): string[] {
  const cookies = visitorId ? [visitorCookie(visitorId, maxAgeSeconds)] : [];
  // Sent even to a browser without the cookie: the answer to its visit may still be on the way.
  if (consent === "denied") cookies.push(visitorCookie("", 0));
  for (const source of consentSources) {
    if (refusedBy.includes(source)) cookies.push(refusalCookie(source, maxAgeSeconds));
    else if (before.refusals.includes(source)) cookies.push(refusalCookie(source, 0));
  }
  if (proof && proof !== before.proof) cookies.push(proofCookie(proof));
  return cookies;
}

/** The longest time that browsers accept. */
const maxAgeSeconds = (400 * dayMs) / 1000;

/** The server sets both kinds, because some browsers expire cookies of scripts after a week. Scripts cannot read this one. */
const visitorCookie = (visitorId: string, seconds: number) =>
  `__cc_v=${visitorId}; Path=/__cc/; Max-Age=${seconds}; HttpOnly; Secure; SameSite=Lax`;

const proofCookie = (proof: string) => `__cc_p=${proof}; Path=/__cc/; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=Lax`;

/** The tag reads this one, so that it reports no ids where the visitor refused on an earlier page. */
const refusalCookie = (source: ConsentSource, seconds: number) =>
  `__cc_${source}=denied; Path=/; Max-Age=${seconds}; Secure; SameSite=Lax`;
