// The tag's endpoints under the site's own host: the script, and what it reports. A report is answered 204 whatever
// becomes of it: browsers and bots learn nothing from the answer.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import ipaddr from "ipaddr.js";
import { Late, within } from "../kernel/deadline.ts";
import { readBytes } from "../http/bytes.ts";
import type { Rate } from "../http/rate.ts";
import { clientAddress, isSecure, networkOf, type TransportRules } from "../http/transport.ts";
import type { Verdict, VisitBucket } from "../kernel/event.ts";
import { tagScripts, type TagScript } from "../identity/tagScript.ts";
import { takeReport, type Report, type Taken } from "../identity/visits.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { hostOf } from "../sites/hosts.ts";
import type { Store } from "../store/store.ts";
import { watchFrequency } from "../traffic/frequency.ts";
import type { Observation } from "../traffic/observation.ts";
import { judge, type Judgement } from "../traffic/verdict.ts";
import type { Bot } from "./botSample.ts";
import { isAhead, observe } from "./observe.ts";
import { ownOrigin } from "./origin.ts";
import { readPayload, type Payload } from "./payload.ts";
import type { VisitCounts } from "./visitCounts.ts";
import { newVisitorId, visitorCookie, visitorIn } from "./visitorCookie.ts";

export type CollectOptions = {
  store: Store;
  directory: Directory;
  transport: TransportRules;
  rate: Rate;
  perMinute: number;
  /** The built tag. */
  tag: string;
  counts: VisitCounts;
  onVisitCounted?: (bucket: VisitBucket) => void;
  offerBot: (bot: Bot) => void;
  countryOf: (address: string) => string | null;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const largestBody = 8 * 1024;
/** How long a report waits for the store, and how many do at once. Pages do not wait for the answer: what is longer is lost. */
const reportMs = 2000;
const maxReports = 1000;
const dayS = 86_400;

export function collectRoutes(app: FastifyInstance, options: CollectOptions): void {
  const scriptOf = tagScripts(options.tag);
  const frequencyOf = watchFrequency();

  app.get<{ Params: { file: string } }>("/__cc/:file", (request, reply) => {
    const site = options.directory.siteOfHost(hostOf(request.headers.host));
    const named = /^tag(?:\.([0-9a-f]{16}))?\.js$/.exec(request.params.file);
    if (!site || !named) return reply.code(404).type("text/plain; charset=utf-8").send("Not found.\n");
    return sendScript(request.raw, reply, scriptOf(site), named[1]);
  });

  for (const endpoint of ["visit", "identify", "consent"]) {
    app.post(`/__cc/${endpoint}`, async (request, reply) => {
      const answer = await take(request.raw, reply, endpoint === "visit");
      return reply.code(answer).header("cache-control", "no-store").send();
    });
    // Beacons need no preflight; a page that asks anyway is told the same.
    app.options(`/__cc/${endpoint}`, (request, reply) => {
      const origin = admit(request.raw);
      if (typeof origin === "number") return reply.code(origin).send();
      allow(reply, origin.origin).header("access-control-allow-headers", "content-type");
      return reply
        .header("access-control-allow-methods", "POST")
        .header("access-control-max-age", dayS)
        .code(204)
        .send();
    });
  }

  /** The site and its page that speaks, or the status of the refusal. Looks at headers only: a refusal costs nothing. */
  function admit(request: IncomingMessage): { site: Site; origin: string; address: string } | number {
    if (!isSecure(request, options.transport)) return 426;
    const site = options.directory.siteOfHost(hostOf(request.headers.host));
    if (!site) return 404;
    const address = clientAddress(request, options.transport.trusted);
    const isLoopback = ipaddr.isValid(address) && ipaddr.parse(address).range() === "loopback";
    const origin = ownOrigin(site, request.headers, isLoopback);
    if (!origin || request.headers["sec-fetch-site"] === "cross-site") return 403;
    if (options.rate(networkOf(address), options.perMinute, options.now()) > 0) return 429;
    return { site, origin, address };
  }

  async function take(request: IncomingMessage, reply: FastifyReply, isVisit: boolean): Promise<number> {
    const admitted = admit(request);
    if (typeof admitted === "number") return admitted;
    const { site, origin, address } = admitted;
    allow(reply, origin);

    const bytes = await readBytes(request, largestBody);
    if (bytes === "too large") return 413;
    const now = options.now();
    const payload = bytes === "cut" ? null : readPayload(bytes.toString("utf8"), now);
    if (!payload) return 400;
    if (isVisit && (payload.isAhead || isAhead(request.headers))) {
      options.counts.countPrerendered(site.id, payload.visitorId, now);
      return 204;
    }

    const visitorId = visitorIn(request.headers.cookie);
    const seen = look({ site, request, payload, address, visitorId, isVisit, now });
    const judgement = judge(seen, site.settings);
    const report = reportOf(request, payload, visitorId, seen, judgement.verdict, now);
    const taken = await remember(site, report);
    if (taken?.visitorId) reply.header("set-cookie", visitorCookie(taken.visitorId));
    if (isVisit) {
      options.counts.wasShown(site.id, payload.visitorId);
      count(site, taken, judgement, now);
    }
    const refused = !taken || isRefusal(taken);
    if (judgement.verdict.bot && !refused)
      options.offerBot({ siteId: site.id, page: payload.page, at: now, seen, judgement });
    return 204;
  }

  type Arrival = {
    site: Site;
    request: IncomingMessage;
    payload: Payload;
    address: string;
    visitorId: string | null;
    isVisit: boolean;
    now: number;
  };

  function look({ site, request, payload, address, visitorId, isVisit, now }: Arrival): Observation {
    const { headers } = request;
    const network = networkOf(address);
    const userAgent = headers["user-agent"] ?? "";
    const frequency = frequencyOf({
      site: site.id,
      network,
      userAgent,
      visitor: visitorId,
      isVisit,
      email: payload.person?.emailSha256 ?? null,
      clickIds: Object.values(payload.clickIds).map((id) => id.value),
      at: now,
    });
    const secure = isSecure(request, options.transport);
    return observe({ headers, secure, address, country: options.countryOf(address) }, payload, frequency);
  }

  let reports = 0;

  async function remember(site: Site, report: Report): Promise<Taken | null> {
    // Counted as suppressed, and in that number shown.
    if (reports >= maxReports) return null;
    const rules = { consentMode: site.settings.consentMode, keepMs: site.settings.keepMs };
    const by = report.at + reportMs;
    reports += 1;
    const taking = takeReport(options.store, site.id, report, rules, newVisitorId, by).finally(() => {
      reports -= 1;
    });
    try {
      return await within(reportMs, taking, "the store did not take the report in time", Late);
    } catch (error) {
      // The page must not notice that our store is down.
      options.onDefect(error, { site: site.id });
      return null;
    }
  }

  function count(site: Site, taken: Taken | null, { verdict, primary }: Judgement, now: number): void {
    const bucket = bucketOf(taken, verdict);
    options.onVisitCounted?.(bucket);
    options.counts.count(site.id, bucket, bucket === "bots" ? primary : "", now);
  }
}

const isRefusal = ({ consent }: Taken) => consent === "denied" || consent === "unreadable";

/** A refusal is somebody's word and is never called a bot's; a bot that has not been asked yet is one all the same. */
function bucketOf(taken: Taken | null, { bot }: Verdict): VisitBucket {
  if (!taken || isRefusal(taken)) return "suppressed";
  if (bot) return "bots";
  return taken.suppressed ? "suppressed" : "people";
}

function reportOf(
  request: IncomingMessage,
  payload: Payload,
  visitorId: string | null,
  { userAgent, address }: Observation,
  verdict: Verdict,
  now: number,
): Report {
  const { clickIds, utm, browserIds, person, page, referrer } = payload;
  const says = [clickIds, utm, browserIds].some((ids) => Object.keys(ids).length > 0);
  // Bots come by the thousand and come back as somebody else: those whom nobody knows leave no record.
  const isPassing = verdict.bot && !visitorId && !person;
  // Scripts cannot forge this header, and the browser sends it whether or not the tag looked.
  const gpc = request.headers["sec-gpc"] === "1" ? ({ gpc: "denied" } as const) : {};
  return {
    visitorId,
    proposedId: payload.visitorId,
    remembered: payload.remembered,
    // A refusal is kept whoever gave it.
    signals: { ...(isPassing ? refusalsIn(payload.signals) : payload.signals), ...gpc },
    visit:
      (says || person) && !isPassing
        ? {
            seenAt: now,
            browser: { page, referrer, address, userAgent },
            clickIds,
            browserIds,
            utm,
            ...(verdict.score > 0 ? { verdict } : {}),
          }
        : null,
    person,
    at: now,
  };
}

const refusalsIn = (signals: Payload["signals"]) =>
  Object.fromEntries(Object.entries(signals).filter(([, state]) => state === "denied"));

/** CORS for the site's own other hosts; with cookies, or the visitor would be a new one every time. */
function allow(reply: FastifyReply, origin: string): FastifyReply {
  return reply
    .header("access-control-allow-origin", origin)
    .header("access-control-allow-credentials", "true")
    .header("vary", "Origin");
}

function sendScript(
  request: IncomingMessage,
  reply: FastifyReply,
  script: TagScript,
  asked: string | undefined,
) {
  const etag = `"${script.hash}"`;
  const forever = asked === script.hash;
  reply
    .type("text/javascript; charset=utf-8")
    // Subresource integrity on a page of another host of the site needs CORS.
    .header("access-control-allow-origin", "*")
    .header("cross-origin-resource-policy", "cross-origin")
    .header("x-content-type-options", "nosniff")
    .header("vary", "Accept-Encoding")
    .header("etag", etag)
    .header(
      "cache-control",
      forever
        ? `public, max-age=${365 * dayS}, immutable`
        : "public, max-age=600, stale-while-revalidate=86400",
    );
  if (request.headers["if-none-match"]?.includes(etag)) return reply.code(304).send();
  const accepts = request.headers["accept-encoding"] ?? "";
  if (/\bbr\b/.test(accepts)) return reply.header("content-encoding", "br").send(script.brotli);
  if (/\bgzip\b/.test(accepts)) return reply.header("content-encoding", "gzip").send(script.gzip);
  return reply.send(script.text);
}
