// POST /__cc/in/TOKEN: a sender's own webhook. The answer comes when everything that the request carries is durable; deliveries
// go out in the background. The token is a secret: neither logs nor metrics contain it, they name the source's id.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readBytes } from "../../http/body.ts";
import { writeAnswer } from "../../http/reply.ts";
import { hasSeveralHosts, isSecure, wasForwarded, type TransportRules } from "../../http/transport.ts";
import { clickIdName } from "../../identity/clickIds.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { Late, within } from "../../kernel/deadline.ts";
import { hasSettings, type Directory, type Site, type Source } from "../../sites/directory.ts";
import { hostOf, namesNoSite } from "../../sites/hosts.ts";
import { compiledKindOf, missingSecrets, settingsOfSource, validValues } from "../../sites/sources.ts";
import { maxSourceBytes, readSourceBody } from "../../sources/body.ts";
import type { Kind } from "../../sources/kind.ts";
import { kindOf } from "../../sources/kinds/index.ts";
import { runKind, type Outcome } from "../../sources/run.ts";
import { verify, type VerificationFault } from "../../sources/verify.ts";
import { maxBodyBytes } from "../body.ts";
import type { Load } from "../load.ts";
import { refusals, sendRefusal, type InboundRefusal } from "../refusals.ts";
import { relayOutcomes, type RelayOptions } from "./relayOutcomes.ts";
import type { SourceObserver } from "./observer.ts";

type SourceOptions = RelayOptions & {
  directory: Directory;
  /** The relay's own host name; null when it is not known. */
  ownHost: string | null;
  transport: TransportRules;
  /** Within how long inbound answers. */
  answerMs: number;
  load: Load;
  observer: SourceObserver;
  countUse: (siteId: string, sourceId: string, now: number) => void;
  log: (line: SourceLine) => void;
};

/** One wide line per request, for the log. */
export type SourceLine = {
  site: string | undefined;
  source: string | undefined;
  kind: string | undefined;
  status: number;
  /** Why it was refused. */
  reason: string | undefined;
  /** What became of the entries of the request. */
  outcomes: readonly string[];
  ms: number;
};

const sourcePath = "/__cc/in/";
const tokenForm = /^[0-9A-Za-z]{26}$/;

/** Returns the token in a URL of this endpoint; null for other paths. */
export function sourceTokenOf(url: string): string | null {
  if (!url.startsWith(sourcePath)) return null;
  const end = url.indexOf("?");
  return url.slice(sourcePath.length, end < 0 ? undefined : end);
}

/** `answer` takes requests for exactly this path, before the framework sees them. */
export function sourceRoute(app: FastifyInstance, options: SourceOptions) {
  function answer(token: string, request: IncomingMessage, response: ServerResponse): void {
    answerRequest(token, request, response, options).catch((error: unknown) => {
      options.onDefect(error, {});
      if (!response.headersSent) sendRefusal(response, refusals.internalError);
    });
  }
  // Other forms of the path, such as an encoded one.
  const onRequest = ({ raw: request, params }: FastifyRequest, reply: FastifyReply, _done: () => void) =>
    answer((params as { token: string }).token, request, reply.hijack().raw);
  app.all(`${sourcePath}:token`, { onRequest }, () => {});
  return { answer };
}

const notFound: InboundRefusal = { code: "unknown address", status: 404, message: "Not found.", format: "text", headers: {} };
const tooLarge: InboundRefusal = { ...refusals.tooLarge, message: "The body is larger than 1 MiB." };
const wrongSignature: InboundRefusal = {
  code: "signature",
  status: 401,
  message: "Wrong signature.",
  format: "text",
  headers: {},
};
const tooManyWrong: InboundRefusal = {
  ...wrongSignature,
  code: "signatures",
  status: 429,
  message: "Too many wrong signatures.",
  headers: { "retry-after": "60" },
};

/** The status with which this sender tries again later. */
const busy = (kind: Kind | undefined, code: string): InboundRefusal => ({
  code,
  status: kind?.busyStatus ?? 503,
  message: "Temporarily unavailable, retry.",
  format: "text",
  headers: { "retry-after": "5" },
});

/** Of the time in which inbound answers. Some senders wait five seconds, and inbound takes ten at most. */
const answerShare = 0.45;

async function answerRequest(
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
  options: SourceOptions,
): Promise<void> {
  const receivedAt = options.now();
  const line: SourceLine = {
    site: undefined,
    source: undefined,
    kind: undefined,
    status: 200,
    reason: undefined,
    outcomes: [],
    ms: 0,
  };
  try {
    const refused = await takeRequest(token, request, { receivedAt, line, options });
    if (refused) {
      line.status = refused.status;
      line.reason = refused.code;
      return sendRefusal(response, refused);
    }
    const kind = kindOf(line.kind ?? "");
    const { type, body } = kind?.answer ?? { type: "application/json; charset=utf-8", body: '{"ok":true}' };
    writeAnswer(response, 200, body, { type });
  } finally {
    line.ms = options.now() - receivedAt;
    options.log(line);
  }
}

type SourceCall = { receivedAt: number; line: SourceLine; options: SourceOptions };

/** Runs the checks in their order, and stores what the request carries. Returns why it is refused; null for success. */
async function takeRequest(token: string, request: IncomingMessage, call: SourceCall): Promise<InboundRefusal | null> {
  const { receivedAt, line, options } = call;
  if (request.method !== "POST") return refusals.methodNotAllowed;
  if (hasSeveralHosts(request)) return refusals.severalHosts;
  if (!isSecure(request, options.transport))
    return wasForwarded(request) ? refusals.httpsRequired : refusals.httpsRequiredDirectly;
  let known = tokenForm.test(token) ? options.directory.source(token) : null;
  if (known === undefined) {
    try {
      known = await within(3000, options.directory.sourceNow(token), "the store did not answer in time", Late);
    } catch {
      // The address may be valid: only a look-up that ended can say that it is not. Some senders switch off at 404.
      return busy(undefined, "unavailable");
    }
  }
  const found = known && siteOf(known, request, receivedAt, options);
  if (!found) return notFound;
  const { source, site } = found;
  const kind = kindOf(source.kind);
  line.site = site.id;
  line.source = source.id;
  line.kind = source.kind;
  const postpone = (reason: string): InboundRefusal => {
    options.observer.addPostponed(source, reason, receivedAt);
    return busy(kind, reason);
  };
  if (!kind || source.unreadable || !hasSettings(site) || site.leaving) return postpone("unavailable");
  if (source.state === "paused") return postpone("paused");
  // Nothing would be verified without the secret.
  if (missingSecrets(source).length > 0) return postpone("no secret yet");

  const { load } = options;
  if (!load.hasRoom(site.id)) return postpone("overloaded");
  const held = load.ofBody(site.id);
  const bytes = await readBytes(request, maxSourceBytes, held.add).finally(held.give);
  if (bytes === "no room") return postpone("overloaded");
  if (bytes === "too large") return tooLarge;
  if (bytes === "cut") return refusals.incompleteBody;
  let units = 0;
  const takeRoom = (events: number) => {
    load.give(site.id, units);
    units = load.take(site.id, Math.max(events, bytes.length / maxBodyBytes));
    return units > 0;
  };
  if (!takeRoom(1)) return postpone("overloaded");
  try {
    return await threadShare.answer(site.id, () => takeBody({ request, bytes, kind, source, site, takeRoom }, call));
  } finally {
    load.give(site.id, units);
  }
}

type Found = { source: Source; site: Site };

/** Null where the address is no longer valid, or belongs to another site than the host. */
function siteOf(
  { source, until }: Exclude<ReturnType<Directory["source"]>, undefined>,
  request: IncomingMessage,
  now: number,
  { directory, ownHost }: SourceOptions,
): Found | null {
  const site = directory.site(source.siteId);
  if (!site || (until !== null && until <= now)) return null;
  const host = hostOf(request.headers.host);
  const owner = host === ownHost || namesNoSite(host) ? undefined : directory.siteOfHost(host);
  return owner && owner.id !== site.id ? null : { source, site };
}

type Taken = Found & {
  request: IncomingMessage;
  bytes: Buffer;
  kind: Kind;
  /** Takes room for so many events in place of what the request has; false where there is none. */
  takeRoom: (events: number) => boolean;
};

async function takeBody(taken: Taken, call: SourceCall): Promise<InboundRefusal | null> {
  const { request, bytes, kind, source, site, takeRoom } = taken;
  const { receivedAt, line, options } = call;
  const { observer } = options;
  const contentType = request.headers["content-type"] ?? "";
  if (kind.unsignedPing && (await isPing(bytes, contentType, kind.unsignedPing))) {
    return report([{ is: "ignored", reason: "test request", detail: null, type: "ping", deliveryId: null }]);
  }
  // To verify, to parse and to map a megabyte takes some ten milliseconds each.
  const isLarge = bytes.length > maxBodyBytes;
  if (isLarge) await threadShare.nextSlice(site.id);
  const fault = faultOf(taken, receivedAt, options.ownHost);
  if (fault) {
    line.outcomes = [fault];
    return observer.addWrongSignature(source, fault, receivedAt) ? tooManyWrong : wrongSignature;
  }
  options.countUse(site.id, source.id, receivedAt);
  if (isLarge) await threadShare.nextSlice(site.id);
  const reading = readSourceBody(bytes, contentType, kind.bodies, kind.jsonFields);
  const body = reading instanceof Promise ? await reading : reading;
  if (body === null) return report([{ is: "ignored", reason: "unreadable body", detail: null, type: "", deliveryId: null }]);
  const settings = settingsOfSource(source);
  if (isLarge) await threadShare.nextSlice(site.id);
  const outcomes = runKind(compiledKindOf(source), { headers: request.headers, body }, settings, clickIdName);
  observer.addShape(source, { type: outcomes[0]?.type ?? "", body, bytes, headers: request.headers, settings }, receivedAt);
  if (outcomes.length > 1 && !takeRoom(outcomes.length)) {
    observer.addPostponed(source, "overloaded", receivedAt);
    return busy(kind, "overloaded");
  }
  try {
    const deadline = receivedAt + answerShare * options.answerMs;
    const relayed = relayOutcomes(outcomes, { site, source, receivedAt, deadline }, options);
    const results = await within(deadline - options.now(), relayed, "the store did not answer in time", Late);
    observer.addResults(source, results, receivedAt);
    line.outcomes = results.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome}: ${reason}`));
    return null;
  } catch (error) {
    options.onDefect(error, { site: site.id, source: source.id });
    observer.addPostponed(source, "unavailable", receivedAt);
    return busy(kind, "unavailable");
  }

  function report(ignored: Outcome[]): null {
    observer.addResults(
      source,
      ignored.map((one) => ({
        outcome: "ignored",
        reason: one.is === "ignored" ? one.reason : null,
        ...one,
        detail: null,
        eventId: null,
      })),
      receivedAt,
    );
    line.outcomes = ignored.map((one) => (one.is === "ignored" ? `ignored: ${one.reason}` : one.is));
    return null;
  }
}

/** A form with exactly these fields. It carries nothing, so that it needs no signature. */
async function isPing(bytes: Buffer, contentType: string, fields: readonly string[]): Promise<boolean> {
  if (bytes.length > 200) return false;
  const form = await readSourceBody(bytes, contentType, ["form"]);
  const names = form === null || !contentType.includes("form") ? [] : Object.keys(form as object);
  return names.length === fields.length && fields.every((name) => names.includes(name));
}

function faultOf({ request, bytes, kind, source, site }: Taken, now: number, ownHost: string | null): VerificationFault | null {
  const signed = {
    method: request.method ?? "",
    uris: () => addressesOf(request, site, ownHost),
    headers: request.headers,
    body: bytes,
  };
  return verify(kind.verification, signed, (name) => validValues(source, name, now), now);
}

/**
 * A proxy may have changed the host: some senders sign the address, as one of the site's names has it. The likeliest come first, because
 * a long body is tried with a few: senders call by HTTPS, whatever the proxy speaks behind it.
 */
function addressesOf(request: IncomingMessage, site: Site, ownHost: string | null): string[] {
  const path = request.url ?? "";
  const hosts = new Set([request.headers.host ?? "", ...(ownHost === null ? [] : [ownHost]), ...site.servedHosts.slice(0, 50)]);
  const paths = new Set([path, decoded(path)]);
  return ["https", "http"].flatMap((scheme) =>
    [...hosts].flatMap((host) => [...paths].map((one) => `${scheme}://${host}${one}`)),
  );
}

/** HubSpot decodes the path before it signs. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
