// The table of signals with their points; verdict.ts adds them up. A new signal is an entry here. The points of every soft
// signal stay below the default threshold, so that none of them alone makes a bot: people use company proxies, carrier NATs
// and privacy relays.

import { contradictions } from "./contradictions.ts";
import type { Frequency } from "./frequency.ts";
import { isFakeCrawler } from "./networks/networks.ts";
import { useSignals } from "./use.ts";
import type { Signal, SignalInput } from "./signal.ts";
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
const emailsPerHour = { ofNetwork: 30, ofVisitor: 6, withoutHands: 10 };
const visitorsOfOneClick = 5;
const tooFastMs = 1500;
const submitAtOnceMs = 1000;
const clickIdsPerDay = { many: 12, farm: 40 };
/** A network of many people has visitors with different browsers. */
const shareOfOneBrowser = 0.9;
const visitsOfNeighboursPerDay = 40;
/** With so many visitors expected to go on, none of them doing so is no accident: less than one in a million. */
const minExpected = 14;

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
    why: "An automation tool left its marks in the page, such as the driver of Chrome.",
    find: ({ use }) => ifTrue(use?.hasTool),
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
    isShared: true,
    why: "Recent browsers send fetch metadata (Sec-Fetch-Site), unless a gateway removes it.",
    find: ({ headers, claims }) => ifTrue(headers?.secure && !headers.secFetch && hasFetchMetadata(claims)),
  },
  {
    category: "headers",
    name: "no client hints",
    points: 20,
    isShared: true,
    why: "Chromium sends client hints over TLS, unless a gateway removes them.",
    find: ({ headers, claims }) =>
      ifTrue(
        headers?.secure && headers.brands === "" && claims.engine === "chromium" && (claims.version ?? 0) >= 90 && !claims.inApp,
      ),
  },

  {
    category: "headers",
    name: "neither language nor metadata",
    points: 50,
    why: "Recent browsers send the languages of their user and fetch metadata; both are missing.",
    find: ({ headers, claims }) =>
      ifTrue(headers?.secure && !headers.secFetch && !headers.acceptLanguage && hasFetchMetadata(claims)),
  },
  {
    category: "headers",
    name: "Chromium without client hints",
    points: 35,
    isShared: true,
    why: "The script runs in Chromium, which sends client hints over TLS, unless a gateway removes them.",
    find: ({ headers, script, claims }) =>
      ifTrue(headers?.secure && headers.brands === "" && script?.isChromium && claims.engine === "chromium" && !claims.inApp),
  },
  {
    category: "headers",
    name: "headers of a page load",
    points: "hard",
    why: "The report has headers with which browsers load a page, and never send a report.",
    find: ({ headers }) => ifTrue(headers?.isPageLoad),
  },
  {
    category: "headers",
    name: "not sent by the tag",
    points: 40,
    why: "The content type or the accepted types are not those with which the tag reports.",
    find: ({ headers }) => ifTrue(headers !== null && !headers.isReport),
  },
  {
    category: "connection",
    name: "TLS of a program",
    points: 45,
    mode: "shadow",
    isShared: true,
    why: "The TLS handshake offers what programs offer and no browser does. Gateways of companies do, too.",
    // GNOME's browser uses the library of programs.
    find: ({ handshake, claims }) =>
      claims.engine === "other" || (claims.engine === "webkit" && claims.os === "linux") ? null : handshake || null,
  },
  {
    category: "headers",
    name: "unusual order",
    points: 35,
    mode: "shadow",
    isShared: true,
    why: "Chromium sends its headers in another order, unless a proxy reorders them.",
    find: ({ headers, claims }) => ifTrue(headers?.isReordered && claims.engine === "chromium"),
  },

  {
    category: "network",
    name: "crawler operator",
    points: 35,
    isShared: true,
    why: "The network belongs to the operator of a crawler, and the user agent is an ordinary browser's.",
    find: ({ network, agent }) => (network?.kind === "crawler" && agent === null ? network.name : null),
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
    isShared: true,
    why: "The address belongs to a data centre, where few people browse.",
    find: ({ network }) => (network?.kind === "hosting" ? network.name : null),
  },
  {
    category: "network",
    name: "many visits",
    points: 25,
    isShared: true,
    why: "More visits from one network with one user agent than a few people make.",
    find: ({ frequency }) => ifAtLeast(frequency?.ofNetwork, hitsPerMinute.ofNetwork.many, "visits in a minute"),
  },
  {
    category: "network",
    name: "flood",
    points: 35,
    isShared: true,
    why: "Far more visits from one network with one user agent than people make.",
    find: ({ frequency }) => ifAtLeast(frequency?.ofNetwork, hitsPerMinute.ofNetwork.flood, "visits in a minute"),
  },
  {
    category: "network",
    name: "many emails",
    points: 35,
    isShared: true,
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
    category: "form",
    name: "many emails without hands",
    points: 50,
    mode: "shadow",
    why: "A visitor in a data centre submits many emails of others, and no hand touches the forms.",
    // Elsewhere this may be a kiosk that reads badges with a camera.
    find: ({ frequency, network }) =>
      network?.kind === "hosting"
        ? ifAtLeast(frequency?.emailsWithoutHands, emailsPerHour.withoutHands, "emails in an hour")
        : null,
  },
  {
    category: "click id",
    name: "used by many",
    points: 45,
    why: "One click brought several visitors: a shared link, or a replayed click.",
    find: ({ frequency }) => ifAtLeast(frequency?.visitorsOfClick, visitorsOfOneClick, "visitors in a day"),
  },
  {
    category: "volume",
    name: "many click ids",
    points: 35,
    why: "One network with one user agent brought many different ad clicks in a day, and nearly all of its network's.",
    find: ({ frequency }) => findVolume(frequency, clickIdsPerDay.many),
  },
  {
    category: "volume",
    name: "click farm",
    points: 50,
    why: "One network with one user agent brought far more different ad clicks in a day than people make.",
    find: ({ frequency }) => findVolume(frequency, clickIdsPerDay.farm),
  },
  {
    category: "volume",
    name: "many neighbours",
    points: 35,
    mode: "shadow",
    why: "Neighbouring addresses or browsers of one network brought many ad clicks in a day, and hardly one did anything.",
    // Those of carriers and offices bring as many, and go on.
    find: ({ frequency }) =>
      neighboursOf(frequency) >= visitsOfNeighboursPerDay ? findMissing(frequency?.goneOnOfNeighbours) : null,
  },
  {
    category: "engagement",
    name: "no visitor goes on",
    points: 40,
    why: "Of many visits of this network with this user agent hardly one did anything; on this site most visitors do.",
    find: ({ frequency }) => findMissing(frequency?.goneOn),
  },
  {
    category: "engagement",
    name: "no second step",
    points: 40,
    mode: "shadow",
    why: "Of many visits of this network with this user agent hardly one opened a second page or sent a form; on this site many do.",
    find: ({ frequency }) => findMissing(frequency?.secondSteps),
  },
  {
    category: "engagement",
    name: "no neighbour goes on",
    points: 40,
    mode: "shadow",
    why: "Of many visits from neighbouring addresses, with whatever browsers, hardly one did anything; on this site most visitors do.",
    find: ({ frequency }) => findMissing(frequency?.goneOnOfNeighbours),
  },
  {
    category: "engagement",
    name: "nobody with this click goes on",
    points: 40,
    mode: "shadow",
    why: "Of many visits with the same click id hardly one did anything; on this site most visitors do.",
    find: ({ frequency }) => findMissing(frequency?.goneOnOfClick),
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
    why: "A script submitted the form, not a person, and the form's other visitors submit it themselves.",
    // A form library that submits by itself does so for everybody.
    find: ({ submit, frequency }) => ifTrue(submit?.untrusted && !frequency?.isScriptedForm),
  },
  {
    category: "behaviour",
    name: "no interaction",
    points: 35,
    why: "No key, touch or click before the form was submitted.",
    find: ({ submit }) => ifTrue(submit?.inputs === 0),
  },
  {
    category: "behaviour",
    name: "submitted at once",
    points: 45,
    mode: "shadow",
    why: "The form was submitted within a second of the page's load.",
    find: ({ submit }) => (submit && submit.inputs > 0 && submit.afterMs < submitAtOnceMs ? `${submit.afterMs} ms` : null),
  },
  ...useSignals,
  {
    category: "tag",
    name: "report without it",
    points: 40,
    why: "The tag always reports its browser; this report came without that.",
    // Without headers this is a manual check, not a report.
    find: ({ script, headers }) => ifTrue(script === null && headers !== null),
  },
  {
    category: "tag",
    name: "never fetched",
    points: 40,
    mode: "shadow",
    why: "This network with this user agent did not fetch the tag in the last day, as nearly all visitors of the site do.",
    find: ({ frequency }) => ifTrue(frequency?.hasFetchedTag === false),
  },
  {
    category: "tag",
    name: "copied report",
    points: 50,
    why: "The same report of a submitted form came before: it was recorded and sent again.",
    find: ({ frequency }) => ifTrue(frequency?.isCopy),
  },
  {
    category: "cookie",
    name: "not sent back",
    points: 20,
    mode: "shadow",
    why: "The page got a visitor cookie and reports without it.",
    find: ({ frequency }) => ifTrue(frequency?.isCookieLost),
  },
  {
    category: "trap",
    name: "hidden field filled in",
    points: 55,
    why: "A hidden field was filled in.",
    // Autofill and password managers fill hidden fields too.
    find: ({ use }) => ifTrue(use?.trapped && !use.hasAutofill),
  },
];

function findVolume(frequency: SignalInput["frequency"], limit: number): string | null {
  if (!frequency || frequency.shareOfSource < shareOfOneBrowser) return null;
  return ifAtLeast(frequency.clickIdsOfSource, limit, "click ids in a day");
}

const neighboursOf = (frequency: SignalInput["frequency"]) => frequency?.goneOnOfNeighbours?.visits ?? 0;

function findMissing(known: Frequency["goneOn"] | undefined): string | null {
  if (!known || known.expected < minExpected || known.goneOn > known.expected / 10) return null;
  return `${known.goneOn} of ${known.visits}, usually ${Math.round(known.expected)}`;
}

/** Chromium has sent it since 76, Firefox since 90, Safari since 16.4: rounded up. False for an unknown version. */
function hasFetchMetadata({ engine, version }: Claims): boolean {
  const since = { chromium: 80, gecko: 90, webkit: 17, other: Number.POSITIVE_INFINITY }[engine];
  return version !== null && version >= since;
}
