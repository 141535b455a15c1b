// The signals: each a small question about a visit, and what a yes weighs. A new one is an entry here; the verdict adds
// them up (verdict.ts). Points stay below the default threshold in every category, so that no single kind of evidence
// calls anybody a bot: people sit behind company proxies, carrier NATs and privacy relays.

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

const over = (count: number | undefined, limit: number, what: string) =>
  count !== undefined && count >= limit ? `${count} ${what}` : null;
const yes = (holds: boolean | undefined) => (holds ? "" : null);

export const signals: readonly Signal[] = [
  byUserAgent("named bot", "hard", "The user agent is that of a known bot."),
  byUserAgent(
    "ad reviewer",
    "hard",
    "An advertising network looks at the page; it brings click ids that nobody clicked.",
  ),
  byUserAgent("AI agent", "hard", "An assistant fetches the page for somebody who does not see it."),
  byUserAgent("headless browser", "hard", "A browser without a screen says so."),
  byUserAgent("not a browser", "hard", "No browser sends such a user agent."),
  byUserAgent("empty", "hard", "Every browser names itself."),
  byUserAgent("looks like a bot", 50, "The user agent has words that bots use."),

  {
    category: "automation",
    name: "webdriver",
    points: "hard",
    why: "The browser says that it is driven by a program.",
    find: ({ script }) => yes(script?.webdriver),
  },
  {
    category: "automation",
    name: "automation tool",
    points: "hard",
    why: "A tool that drives browsers left its marks in the page.",
    find: ({ script }) => (script?.cypress ? "Cypress" : null),
  },
  {
    category: "automation",
    name: "headless hints",
    points: "hard",
    why: "The client hints name a browser without a screen.",
    find: ({ headers }) => yes(headers?.brands.includes("Headless")),
  },

  ...contradictions,

  {
    category: "headers",
    name: "no language",
    points: 30,
    why: "Every browser says which languages its user reads.",
    find: ({ headers }) => yes(headers !== null && !headers.acceptLanguage),
  },
  {
    category: "headers",
    name: "no fetch metadata",
    points: 25,
    why: "Browsers of the last years say where a request comes from (Sec-Fetch-Site).",
    find: ({ headers, claims }) => yes(headers?.secure && !headers.secFetch && hasFetchMetadata(claims)),
  },
  {
    category: "headers",
    name: "no client hints",
    points: 20,
    why: "Chromium sends client hints over TLS.",
    find: ({ headers, claims }) =>
      yes(
        headers?.secure &&
          headers.brands === "" &&
          claims.engine === "chromium" &&
          (claims.version ?? 0) >= 90 &&
          !claims.inApp,
      ),
  },

  {
    category: "network",
    name: "fake crawler",
    points: "hard",
    why: "It calls itself a crawler whose operator has no such address.",
    find: ({ agent, userAgent, address }) =>
      agent?.hard && isFakeCrawler(userAgent, address) ? agent.detail : null,
  },
  {
    category: "network",
    name: "hosting",
    points: 30,
    why: "The address belongs to a data centre, where few people are.",
    find: ({ network }) => (network?.kind === "hosting" ? network.name : null),
  },
  {
    category: "network",
    name: "many visits",
    points: 25,
    why: "More visits from one network with one user agent than a few people make.",
    find: ({ frequency }) => over(frequency?.ofNetwork, hitsPerMinute.ofNetwork.many, "visits in a minute"),
  },
  {
    category: "network",
    name: "flood",
    points: 35,
    why: "Far more visits from one network with one user agent than people make.",
    find: ({ frequency }) => over(frequency?.ofNetwork, hitsPerMinute.ofNetwork.flood, "visits in a minute"),
  },
  {
    category: "network",
    name: "many emails",
    points: 35,
    why: "One network with one user agent hands in very many different emails.",
    find: ({ frequency }) => over(frequency?.emailsOfNetwork, emailsPerHour.ofNetwork, "emails in an hour"),
  },
  {
    category: "velocity",
    name: "visitor in a hurry",
    points: 45,
    why: "One visitor opens more pages than anybody can look at.",
    find: ({ frequency }) => over(frequency?.ofVisitor, hitsPerMinute.ofVisitor, "visits in a minute"),
  },
  {
    category: "velocity",
    name: "many emails of one visitor",
    points: 50,
    why: "One visitor hands in the emails of many people.",
    find: ({ frequency }) => over(frequency?.emailsOfVisitor, emailsPerHour.ofVisitor, "emails in an hour"),
  },
  {
    category: "click id",
    name: "used by many",
    points: 45,
    why: "One click brought several visitors: a link that was shared, or a click that is played again.",
    find: ({ frequency }) => over(frequency?.visitorsOfClick, visitorsOfOneClick, "visitors in a day"),
  },

  {
    category: "behaviour",
    name: "too fast",
    points: 50,
    why: "The form was handed in faster than anybody types, and without a key or a click.",
    find: ({ submit }) =>
      submit && submit.inputs === 0 && submit.afterMs < tooFastMs ? `${submit.afterMs} ms` : null,
  },
  {
    category: "behaviour",
    name: "made by a script",
    points: 45,
    why: "A script handed the form in, not a person.",
    find: ({ submit }) => yes(submit?.untrusted),
  },
  {
    category: "behaviour",
    name: "no interaction",
    points: 35,
    why: "No key, no touch and no click before the form was handed in.",
    find: ({ submit }) => yes(submit?.inputs === 0),
  },
  {
    category: "tag",
    name: "report without it",
    points: 40,
    why: "The tag always says what it sees of its browser; this report came without that.",
    // A check by hand has no headers either.
    find: ({ script, headers }) => yes(script === null && headers !== null),
  },
  {
    category: "trap",
    name: "hidden field filled in",
    points: 55,
    why: "A field that no person can see was filled in.",
    find: ({ submit }) => yes(submit?.trapped),
  },
];

/** Chromium since 76, Firefox since 90, Safari since 16.4; where the version is not known nothing is concluded. */
function hasFetchMetadata({ engine, version }: Claims): boolean {
  const since = { chromium: 80, gecko: 90, webkit: 17, other: Number.POSITIVE_INFINITY }[engine];
  return version !== null && version >= since;
}
