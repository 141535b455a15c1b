// Accepts the tag's reports, under the site's own host. Every accepted report is answered with 204, so that bots learn nothing
// from the answer.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { threadShare } from "../kernel/concurrency.ts";
import { Late, within } from "../kernel/deadline.ts";
import { dayMs, secondMs } from "../kernel/time.ts";
import { readBytes } from "../http/body.ts";
import type { RateLimit } from "../http/rate.ts";
import { writeAnswer, type DirectRoute } from "../http/reply.ts";
import {
  clientAddress,
  customerNetworkOf,
  hasSeveralHosts,
  isLoopback,
  isSecure,
  networkOf,
  offeredInHandshake,
} from "../http/transport.ts";
import type { Verdict, Visit, VisitBucket } from "../kernel/event.ts";
import { readCarried, type Links } from "../identity/links.ts";
import { isRefusal, storeReport, type Report, type StoredReport } from "../identity/visits.ts";
import type { Site } from "../sites/directory.ts";
import { hostOf } from "../sites/hosts.ts";
import { suspicious } from "../store/statistics/traffic.ts";
import type { Store } from "../store/store.ts";
import { compileLists } from "../traffic/lists.ts";
import type { Observation } from "../traffic/observation.ts";
import { nameOf } from "../traffic/modes.ts";
import { judge } from "../traffic/verdict.ts";
import { watchLateVerdicts } from "./lateVerdicts.ts";
import { adClickOf, type AdClick } from "./adClick.ts";
import { isNotable, isSuspicious, type JudgedVisit } from "./visitSample.ts";
import { digestOfSubmit, isPrefetch, observe, userAgentOf } from "./observe.ts";
import { scriptRoutes, type ScriptOptions } from "./scripts.ts";
import { listCookies, newVisitorId, readCookies, type BrowserCookies } from "./cookies.ts";
import { readPayload, type Payload } from "./payload.ts";
import type { TagSightings } from "./tagSightings.ts";
import type { VisitCounts } from "./visitCounts.ts";

type CollectOptions = ScriptOptions & {
  store: Store;
  rateLimit: RateLimit;
  perMinute: number;
  counts: VisitCounts;
  sightings: TagSightings;
  links: Links;
  onVisitCounted?: (bucket: VisitBucket) => void;
  /** Gets every visit with evidence against it. */
  offerVisit: (visit: JudgedVisit) => void;
  countryOf: (address: string) => string | null;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const endpoints = ["visit", "identify", "consent", "use", "link"] as const;
type Endpoint = (typeof endpoints)[number];
const endpointOf = new Map<string, Endpoint>(endpoints.map((endpoint) => [`/__cc/${endpoint}`, endpoint]));

const maxBodyBytes = 8 * 1024;
/** A report waits this long for the store, and at most `maxReports` wait. Others are dropped: pages await no answer. */
const reportTimeoutMs = 2000;
const maxReports = 1000;
const daySeconds = dayMs / secondMs;

/** Returns what takes reports before the framework, which costs more than all that is done with most of them. */
export function collectRoutes(app: FastifyInstance, options: CollectOptions): DirectRoute {
  const { memory } = options;
  scriptRoutes(app, options);
  const late = watchLateVerdicts(memory, ({ siteId, page, at, brought }, seen, judgement) =>
    offer({ siteId, page, at, seen, judgement }, brought?.click ?? null),
  );

  function offer(visit: Omit<JudgedVisit, "click">, click: AdClick | null): void {
    const { siteId, judgement, at } = visit;
    const isNewClick = click !== null && options.counts.countClick(siteId, click, judgement.verdict.bot, at);
    if (isNotable(judgement)) options.offerVisit({ ...visit, click: isNewClick ? click : null });
  }

  for (const [path, endpoint] of endpointOf) {
    // Other forms of the path, such as an encoded one.
    const onRequest = ({ raw: request }: FastifyRequest, reply: FastifyReply, _done: () => void) =>
      answer(endpoint, request, reply.hijack().raw);
    app.post(path, { onRequest }, () => {});
    // Beacons need no preflight, but a page may send one.
    app.options(path, ({ raw: request }, reply) => {
      const admitted = admit(request);
      if (typeof admitted === "number") return reply.code(admitted).send();
      allowOrigin(reply.raw, admitted.origin);
      reply.header("access-control-allow-headers", "content-type").header("access-control-allow-methods", "POST");
      return reply.header("access-control-max-age", daySeconds).code(204).send();
    });
  }

  function answer(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): void {
    response.setHeader("cache-control", "no-store");
    const answered = endpoint === "link" ? answerLink(request, response) : handleReport(request, response, endpoint);
    answered
      .then((result) => {
        if (typeof result === "string") return writeAnswer(response, 200, result, { format: "text" });
        response.writeHead(result, result === 204 ? {} : { "content-length": 0 }).end();
      })
      .catch((error: unknown) => {
        options.onDefect(error, {});
        if (!response.headersSent) writeAnswer(response, 500, "Internal error.\n", { format: "text" });
      });
  }

  /** Returns the site and the page's origin, or the status of a refusal. Reads headers only, so refusals are cheap. */
  function admit(request: IncomingMessage): { site: Site; origin: string; address: string } | number {
    if (!isSecure(request, options.transport)) return 426;
    const site = options.directory.siteOfHost(hostOf(request.headers.host));
    if (!site) return 404;
    // What cannot be stored for good must not be taken.
    if (site.leaving) return 503;
    const address = clientAddress(request, options.transport.trusted);
    const origin = findOwnOrigin(site, request.headers, address);
    if (!origin || request.headers["sec-fetch-site"] === "cross-site") return 403;
    if (options.rateLimit(networkOf(address), options.perMinute, options.now(), site.id) > 0) return 429;
    return { site, origin, address };
  }

  /** Returns the tokens for links to the site's other domains, or 204 where there is nothing to carry, or consent forbids it. */
  async function answerLink(request: IncomingMessage, response: ServerResponse): Promise<string | number> {
    const admitted = admit(request);
    if (typeof admitted === "number") return admitted;
    const { site, origin } = admitted;
    allowOrigin(response, origin);
    const { visitorId, refusals } = readCookies(request.headers.cookie);
    const hasRefused = refusals.length > 0 || request.headers["sec-gpc"] === "1";
    const hasLinks = site.settings.linkDomains.length > 0 && visitorId !== null && !hasRefused;
    const carried = hasLinks ? await carriedFrom(site, visitorId) : [];
    if (carried.length === 0) return 204;
    const tokens = (["page", "payment"] as const).map((purpose) =>
      options.links.sign(purpose, site.id, visitorId ?? "", options.now()),
    );
    return tokens.join(" ");
  }

  /** None where the store fails: the page must not notice. */
  async function carriedFrom(site: Site, visitorId: string): Promise<Visit[]> {
    const reading = readCarried(options.store.people, site.id, visitorId, site.settings.consentMode);
    try {
      return await within(reportTimeoutMs, reading, "the store did not answer in time", Late);
    } catch (error) {
      options.onDefect(error, { site: site.id });
      return [];
    }
  }

  /** The visits that the link to a page carries. Bots get none, and a visitor who comes back to the same cookie has them. */
  async function readLink(site: Site, { link }: Payload, visitorId: string | null, { bot }: Verdict): Promise<Visit[]> {
    const from = link === null || bot ? null : options.links.open("page", site.id, link, options.now());
    return from === null || from === visitorId ? [] : carriedFrom(site, from);
  }

  async function handleReport(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): Promise<number> {
    const isVisit = endpoint === "visit";
    const admitted = admit(request);
    if (typeof admitted === "number") return admitted;
    const { site, origin, address } = admitted;
    allowOrigin(response, origin);

    const bytes = await readBytes(request, maxBodyBytes);
    if (bytes === "too large") return 413;
    const compiling = compileLists(site.id, site.settings);
    if (compiling) await compiling;
    const waiting = threadShare.piece(site.id);
    // Pages await no answer. Nothing is known of this report yet, not even that it is a visit.
    if (waiting === "full") return 503;
    if (waiting) await waiting;
    const now = options.now();
    const payload = bytes === "cut" ? null : readPayload(bytes.toString("utf8"), now);
    if (!payload || bytes === "cut") return 400;
    if (isVisit && (payload.isPrerendered || isPrefetch(request.headers))) {
      options.counts.countPrerendered(site.id, payload.visitorId, now);
      return 204;
    }

    const cookies = readCookies(request.headers.cookie);
    const { visitorId } = cookies;
    const submitDigest = digestOfSubmit(payload, bytes);
    const seen = observeReport({ site, request, payload, address, cookies, endpoint, submitDigest, now });
    const judgement = judge(seen, site.settings);
    // The use of a page is stored only with the verdict on a bot: a person's visit is stored already.
    if (endpoint === "use" && !judgement.wouldBeBot) return 204;
    const carried = await readLink(site, payload, visitorId, judgement.verdict);
    const report = { ...buildReport(request, payload, cookies, seen, judgement.verdict, now), carried };
    const stored = await storeInTime(site, report);
    // A refusal that was not stored keeps the visitor cookie: the next report must still name the visits to delete.
    const changes = stored ? listCookies(stored, cookies) : [];
    if (changes.length) response.setHeader("set-cookie", changes);
    if (stored?.visitorId && !visitorId && payload.visitorId) memory.noteCookie(site.id, payload.visitorId, now);
    let click: AdClick | null = null;
    if (isVisit) {
      options.counts.uncountPrerendered(site.id, payload.visitorId);
      options.sightings.add(site.id, payload.page, now);
      const bucket = chooseBucket(stored, judgement.verdict);
      if (bucket === "people" || bucket === "bots") click = adClickOf(payload);
      options.onVisitCounted?.(bucket);
      const reason = bucket === "people" && isSuspicious(judgement) ? suspicious : "";
      const recount = options.counts.count(site.id, bucket, bucket === "bots" ? judgement.primary : reason, now);
      if (bucket === "people" && stored) {
        const source = { siteId: site.id, network: customerNetworkOf(address), userAgent: seen.userAgent };
        const brought = click && { click, source, seen, rules: site.settings };
        late.add({ siteId: site.id, visitorId: stored.visitorId, page: payload.page, at: now, recount, brought });
      }
    }
    const refused = !stored || isRefusal(stored.consent);
    if (!refused) {
      if (isVisit || payload.submit) {
        const at = payload.submit ? "evidence at emails" : "evidence";
        for (const { signal } of judgement.findings) options.counts.countEvidence(site.id, at, nameOf(signal), now);
        for (const { signal } of judgement.shadows) options.counts.countEvidence(site.id, at, nameOf(signal), now);
      }
      if (payload.submit) options.counts.countEvidence(site.id, "evidence at emails", "", now);
    }
    if (judgement.verdict.bot) late.noteBot(site.id, visitorId ?? payload.visitorId, seen, judgement);
    late.sweep(now).catch((error: unknown) => options.onDefect(error, {}));
    if (!refused) offer({ siteId: site.id, page: payload.page, at: now, seen, judgement }, click);
    return 204;
  }

  type ReceivedReport = {
    site: Site;
    request: IncomingMessage;
    payload: Payload;
    address: string;
    cookies: BrowserCookies;
    endpoint: Endpoint;
    submitDigest: string | null;
    now: number;
  };

  function observeReport(received: ReceivedReport): Observation {
    const { site, request, payload, address, cookies, endpoint, submitDigest, now } = received;
    const { headers } = request;
    const network = customerNetworkOf(address);
    const userAgent = userAgentOf(headers);
    const hasRefused = cookies.refusals.length > 0 || Object.values(payload.signals).includes("denied");
    const click = adClickOf(payload);
    const frequency = memory.observe({
      siteId: site.id,
      network,
      userAgent,
      visitor: cookies.visitorId,
      // A visitor who refuses has no cookie to send back.
      pageId: hasRefused ? null : payload.visitorId,
      hasRefused,
      isVisit: endpoint === "visit",
      isInput: endpoint === "use",
      submitDigest,
      form: payload.submit && {
        page: payload.page,
        isScripted: payload.submit.untrusted,
        isUntouched: payload.submit.inputs === 0,
      },
      emailSha256: payload.person?.emailSha256 ?? null,
      clickIds: click ? [click.value] : [],
      at: now,
    });
    const offered = offeredInHandshake(request, options.transport);
    // Others were not admitted.
    const secure = true;
    return observe({ headers, secure, offered, address, country: options.countryOf(address) }, payload, frequency);
  }

  let reports = 0;

  async function storeInTime(site: Site, report: Report): Promise<StoredReport | null> {
    // A visit that is not stored is counted as suppressed.
    if (reports >= maxReports) return null;
    const rules = { consentMode: site.settings.consentMode, keepMs: site.settings.keepMs };
    const by = report.at + reportTimeoutMs;
    reports += 1;
    const storing = storeReport(options.store, site.id, report, rules, newVisitorId, by).finally(() => {
      reports -= 1;
    });
    try {
      return await within(reportTimeoutMs, storing, "the store did not take the report in time", Late);
    } catch (error) {
      // The page must not notice that the store is down.
      options.onDefect(error, { site: site.id });
      return null;
    }
  }

  return (url, request, response) => {
    const endpoint = endpointOf.get(url);
    // The framework refuses the others.
    if (endpoint === undefined || request.method !== "POST" || hasSeveralHosts(request)) return false;
    answer(endpoint, request, response);
    return true;
  };
}

/** A visit with refused consent is never counted as a bot's; one without a decision on consent can be. */
function chooseBucket(stored: StoredReport | null, { bot }: Verdict): VisitBucket {
  if (!stored || isRefusal(stored.consent)) return "suppressed";
  if (bot) return "bots";
  return stored.suppressed ? "suppressed" : "people";
}

function buildReport(
  request: IncomingMessage,
  payload: Payload,
  { visitorId, refusals, proof }: BrowserCookies,
  { userAgent, address }: Observation,
  verdict: Verdict,
  now: number,
): Report {
  const { clickIds, utm, browserIds, person, page, referrer } = payload;
  const hasIds = [clickIds, utm, browserIds].some((ids) => Object.keys(ids).length > 0);
  // Bots return under new ids by the thousand: unknown ones leave no record.
  const isUnknownBot = verdict.bot && !visitorId && !person;
  // Scripts cannot forge this header, and the browser sends it even when the tag did not read it.
  const gpc = request.headers["sec-gpc"] === "1" ? ({ gpc: "denied" } as const) : {};
  return {
    visitorId,
    proposedId: payload.visitorId,
    remembered: payload.remembered,
    refusals,
    proof,
    isDefaultRefusal: payload.isDefaultRefusal,
    // A refusal is stored even from an unknown bot.
    signals: { ...(isUnknownBot ? keepRefusals(payload.signals) : payload.signals), ...gpc },
    visit:
      (hasIds || person) && !isUnknownBot
        ? {
            seenAt: now,
            browser: { page, referrer, address, userAgent },
            clickIds,
            browserIds,
            utm,
            ...(verdict.score > 0 || verdict.shadows ? { verdict } : {}),
          }
        : null,
    person,
    hasForm: isByHand(payload),
    at: now,
  };
}

const isByHand = ({ submit, use }: Payload) =>
  submit !== null && submit.inputs > 0 && !submit.untrusted && !(use?.trapped && !use.hasAutofill);

const keepRefusals = (signals: Payload["signals"]) =>
  Object.fromEntries(Object.entries(signals).filter(([, state]) => state === "denied"));

/** Finds the origin of the page that sent a request; null unless it is one of the site's hosts or a subdomain of one. */
function findOwnOrigin(site: Site, headers: IncomingHttpHeaders, address: string): string | null {
  const { origin = "null" } = headers;
  // Under `Referrer-Policy: no-referrer` beacons hide the page's origin. Sec-Fetch-Site, which no script can set, still
  // shows that the page is of this host.
  if (origin === "null") return headers["sec-fetch-site"] === "same-origin" ? `https://${headers.host}` : null;
  if (origin.length > 300) return null;
  // Most pages.
  if (site.servedHosts.some((own) => origin === `https://${own}`)) return origin;
  const url = URL.parse(origin);
  if (!url) return null;
  // Plain HTTP is for development on one machine.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(address))) return null;
  const host = hostOf(url.host);
  return site.servedHosts.some((own) => host === own || host.endsWith(`.${own}`)) ? url.origin : null;
}

/** Allows the site's other hosts by CORS, with cookies: without them every report would be a new visitor. */
function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-credentials", "true");
  response.setHeader("vary", "Origin");
}
