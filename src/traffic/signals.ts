// The table of signals with their points; verdict.ts adds them up. A new signal is an entry here. The points of every soft
// signal stay below the default threshold, so that none of them alone makes a bot: people use company proxies, carrier NATs
// and privacy relays.

import { contradictions } from "./contradictions.ts";
import { isFakeCrawler } from "./networks/networks.ts";
import type { Signal } from "./signal.ts";
import type { UserAgentEvidence } from "./userAgent/userAgent.ts";
import type { Claims } from "./userAgent/claims.ts";

const byUserAgent = (kind: UserAgentEvidence["kind"], points: Signal["points"], why: string): Signal => ({
  category: "user agent",
  name: kind === "empty" ? "none" : kind,
  points,
  why,
  find: ({ agent }) => (agent?.kind === kind ? agent.detail : null),
});

const hitsPerMinute = { ofNetwork: { many: 60, flood: 300 }, ofVisitor: 40 };
const emailsPerHour = { ofNetwork: 30, ofVisitor: 6 };
const visitorsOfOneClick = 5;
const tooFastMs = 1500;

const ifAtLeast = (count: number | undefined, limit: number, what: string) =>
  count !== undefined && count >= limit ? `${count} ${what}` : null;
const ifTrue = (holds: boolean | undefined) => (holds ? "" : null);

export const signals: readonly Signal[] = [
  byUserAgent("named bot", "hard", "The user agent is that of a known bot."),
  byUserAgent("ad reviewer", "hard", "An advertising network reviews the page, with click ids of clicks that never happened."),
  byUserAgent("AI agent", "hard", "An AI assistant fetches the page; no person sees it."),
  byUserAgent("headless browser", "hard", "The user agent is that of a headless browser."),
  byUserAgent("not a browser", "hard", "No browser sends such a user agent."),
  byUserAgent("empty", "hard", "Every browser sends a user agent."),
  byUserAgent("looks like a bot", 50, "The user agent has words that bots use."),

  {
    category: "automation",
    name: "webdriver",
    points: "hard",
    why: "The browser reports that a program controls it.",
    find: ({ script }) => ifTrue(script?.webdriver),
  },
  {
    category: "automation",
    name: "automation tool",
    points: "hard",
    why: "An automation tool is in the page.",
    find: ({ script }) => (script?.cypress ? "Cypress" : null),
  },
  {
    category: "automation",
    name: "headless hints",
    points: "hard",
    why: "The client hints name a headless browser.",
    find: ({ headers }) => ifTrue(headers?.brands.includes("Headless")),
  },

  ...contradictions,

  {
    category: "headers",
    name: "no language",
    points: 30,
    why: "Every browser sends the languages of its user.",
    find: ({ headers }) => ifTrue(headers !== null && !headers.acceptLanguage),
  },
  {
    category: "headers",
    name: "no fetch metadata",
    points: 25,
    why: "Recent browsers send fetch metadata (Sec-Fetch-Site).",
    find: ({ headers, claims }) => ifTrue(headers?.secure && !headers.secFetch && hasFetchMetadata(claims)),
  },
  {
    category: "headers",
    name: "no client hints",
    points: 20,
    why: "Chromium sends client hints over TLS.",
    find: ({ headers, claims }) =>
      ifTrue(
        headers?.secure && headers.brands === "" && claims.engine === "chromium" && (claims.version ?? 0) >= 90 && !claims.inApp,
      ),
  },

  {
    category: "network",
    name: "fake crawler",
    points: "hard",
    why: "It claims to be a crawler, but the operator of that crawler has no such address.",
    find: ({ agent, userAgent, address }) => (agent?.hard && isFakeCrawler(userAgent, address) ? agent.detail : null),
  },
  {
    category: "network",
    name: "hosting",
    points: 30,
    why: "The address belongs to a data centre, where few people browse.",
    find: ({ network }) => (network?.kind === "hosting" ? network.name : null),
  },
  {
    category: "network",
    name: "many visits",
    points: 25,
    why: "More visits from one network with one user agent than a few people make.",
    find: ({ frequency }) => ifAtLeast(frequency?.ofNetwork, hitsPerMinute.ofNetwork.many, "visits in a minute"),
  },
  {
    category: "network",
    name: "flood",
    points: 35,
    why: "Far more visits from one network with one user agent than people make.",
    find: ({ frequency }) => ifAtLeast(frequency?.ofNetwork, hitsPerMinute.ofNetwork.flood, "visits in a minute"),
  },
  {
    category: "network",
    name: "many emails",
    points: 35,
    why: "One network with one user agent submits very many different emails.",
    find: ({ frequency }) => ifAtLeast(frequency?.emailsOfNetwork, emailsPerHour.ofNetwork, "emails in an hour"),
  },
  {
    category: "velocity",
    name: "visitor in a hurry",
    points: 45,
    why: "One visitor opens more pages than a person can read.",
    find: ({ frequency }) => ifAtLeast(frequency?.ofVisitor, hitsPerMinute.ofVisitor, "visits in a minute"),
  },
  {
    category: "velocity",
    name: "many emails of one visitor",
    points: 50,
    why: "One visitor submits the emails of many people.",
    find: ({ frequency }) => ifAtLeast(frequency?.emailsOfVisitor, emailsPerHour.ofVisitor, "emails in an hour"),
  },
  {
    category: "click id",
    name: "used by many",
    points: 45,
    why: "One click brought several visitors: a shared link, or a replayed click.",
    find: ({ frequency }) => ifAtLeast(frequency?.visitorsOfClick, visitorsOfOneClick, "visitors in a day"),
  },

  {
    category: "behaviour",
    name: "too fast",
    points: 50,
    why: "The form was submitted faster than a person types, without a key or a click.",
    find: ({ submit }) => (submit && submit.inputs === 0 && submit.afterMs < tooFastMs ? `${submit.afterMs} ms` : null),
  },
  {
    category: "behaviour",
    name: "made by a script",
    points: 45,
    why: "A script submitted the form, not a person.",
    find: ({ submit }) => ifTrue(submit?.untrusted),
  },
  {
    category: "behaviour",
    name: "no interaction",
    points: 35,
    why: "No key, touch or click before the form was submitted.",
    find: ({ submit }) => ifTrue(submit?.inputs === 0),
  },
  {
    category: "tag",
    name: "report without it",
    points: 40,
    why: "The tag always reports its browser; this report came without that.",
    // Without headers this is a manual check, not a report.
    find: ({ script, headers }) => ifTrue(script === null && headers !== null),
  },
  {
    category: "trap",
    name: "hidden field filled in",
    points: 55,
    why: "A hidden field was filled in.",
    find: ({ submit }) => ifTrue(submit?.trapped),
  },
];

/** Chromium has sent it since 76, Firefox since 90, Safari since 16.4: rounded up. False for an unknown version. */
function hasFetchMetadata({ engine, version }: Claims): boolean {
  const since = { chromium: 80, gecko: 90, webkit: 17, other: Number.POSITIVE_INFINITY }[engine];
  return version !== null && version >= since;
}
