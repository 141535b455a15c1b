// Routes a request under /api/v1: match the route, authenticate, authorise, validate, call the handler, answer. The router
// reads the contract and knows nothing about single routes.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { actorKey, type Actor } from "../access/actor.ts";
import { basePath, contract, type RouteName } from "../contract/contract.ts";
import type { Route } from "../contract/route.ts";
import { createRateLimit } from "../http/rate.ts";
import { cameOverTls, isSecure, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { maxUploadMiB } from "../kernel/reconciliation.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, describeRefusal, Refusal } from "../kernel/refusal.ts";
import { isTransient } from "../store/engine/postgres/errors.ts";
import { keyOf, readHeld, tooMany, type Admission, type Held } from "./admission.ts";
import { hasLongLists, writeAnswer, writeInSlices, writePieces } from "./answer.ts";
import { authorise, nameCaller, type Match } from "./authorise.ts";
import { notFound, validate, type Call, type Handlers } from "./call.ts";
import { stream } from "./stream.ts";

type RouterOptions = {
  handlers: Handlers<RouteName>;
  directory: Directory;
  transport: TransportRules;
  admission: Admission;
  /** Finds the caller by API key or session cookie; throws `Denied` for an invalid API key. */
  actorOf: (request: FastifyRequest) => Promise<Actor | null>;
  now: () => number;
  onDefect: (error: unknown) => void;
};

export type Router = {
  answer(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Ends open streams, which would otherwise last until the client disconnects. */
  close(): void;
};

const callsPerMinute = 1200;
const safeMethods = new Set(["GET", "HEAD"]);

export function createRouter(options: RouterOptions): Router {
  const { handlers, directory, transport, admission, actorOf, now, onDefect } = options;
  const match = createMatcher();
  const rate = createRateLimit();
  const closing = new AbortController();

  async function run(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const found = match(request);
    if (!isSecure(request.raw, transport)) throw new Denied("insecure", say("https_required"));
    const actor = await actorOf(request);
    checkOrigin(request, actor, transport);
    checkRate(actor, rate, now());
    const site = authorise(found, actor, directory);
    const isPublic = found.route.allow === "public";
    const key = keyOf(request.raw, transport, isPublic ? null : actor, site);
    const held = admission.hold(isPublic ? "strangers" : "members", key, reply.raw);
    const bytes = await readBody(found.route, request.raw, held);
    const isRead = safeMethods.has(request.method);
    const answer = await admission.answer(key, isRead, async () => {
      const call: Call<RouteName> = {
        params: found.params,
        query: validate(found.route.query?.strict(), request.query) as never,
        body: (found.route.body ? validate(found.route.body, parseJson(bytes)) : undefined) as never,
        upload: found.route.upload ? bytes : noBytes,
        actor,
        by: nameCaller(actor, now()),
        // Another call may have changed it meanwhile.
        site: authorise(found, actor, directory),
        host: request.headers.host ?? "",
        reply,
        request,
      };
      const handle = handlers[found.name] as (call: Call<RouteName>) => Promise<object>;
      const handled = await handle(call);
      const isStreamed = typeof found.route.answer === "string" || hasLongLists(handled);
      return isStreamed ? handled : writeInSlices(key, handled);
    });
    if (typeof found.route.answer === "string")
      await stream(reply, found.route.answer, answer as AsyncIterable<string>, closing.signal);
    else if (typeof answer !== "string") await stream(reply, "json", writePieces(answer), closing.signal);
    else if (isRead && !held.add(Buffer.byteLength(answer))) throw tooMany();
    else await sendJson(request, reply, answer);
  }

  return {
    close: () => closing.abort(),
    async answer(request, reply) {
      reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
      try {
        await run(request, reply);
      } catch (error) {
        const refusal = toRefusal(error, onDefect);
        if (reply.sent) return void reply.raw.destroy();
        await refuse(reply, refusal);
      }
    },
  };
}

/** Finds a route by its number of parts; a literal part wins over a parameter. */
function createMatcher(): (request: FastifyRequest) => Match {
  const routes = (Object.entries(contract) as [RouteName, Route][]).map(([name, route]) => {
    const [method, path] = name.split(" ") as [string, string];
    return { name, route, method, parts: path.split("/") };
  });
  const byLength = Map.groupBy(routes, ({ parts }) => parts.length);

  return (request) => {
    if (/%0[012]/.test(request.url)) throw controlCharacter();
    const path = new URL(request.url, "http://api").pathname.slice(basePath.length);
    const parts = path.split("/").map(decodePart);
    const fitting = (byLength.get(parts.length) ?? [])
      .filter((one) => one.parts.every((part, i) => (part.startsWith(":") ? parts[i] !== "" : part === parts[i])))
      .toSorted((one, other) => countParams(one.parts) - countParams(other.parts));
    const method = request.method === "HEAD" ? "GET" : request.method;
    const found = fitting.find((one) => one.method === method);
    if (!found) throw fitting.length ? new Refusal("", say("method_not_supported", { method })) : notFound("address");
    const params = Object.fromEntries(
      found.parts.flatMap((part, i) => (part.startsWith(":") ? [[part.slice(1), parts[i] as string]] : [])),
    );
    return { name: found.name, route: found.route, params };
  };
}

const countParams = (parts: readonly string[]) => parts.filter((part) => part.startsWith(":")).length;

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw notFound("address");
  }
}

const maxBodyBytes = 512 * 1024;
/** Without sign-in nothing longer than names, passwords and tokens is sent. */
const maxPublicBytes = 16 * 1024;
const noBytes = Buffer.alloc(0);
const uploadTypes = new Set(["text/csv", "application/x-ndjson", "application/octet-stream"]);

/** Reads the body that a route has. Types that an HTML form of another site can send are refused. */
async function readBody({ allow, body, upload }: Route, request: IncomingMessage, held: Held): Promise<Buffer> {
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (upload) {
    if (!uploadTypes.has(type)) throw new Refusal("", say("file_type_needed"));
    return readHeld(request, maxUploadMiB * 1024 * 1024, held, say("file_too_large", { mib: maxUploadMiB }));
  }
  if (!body) return noBytes;
  if (type !== "application/json") throw new Refusal("", say("json_needed"));
  const max = allow === "public" ? maxPublicBytes : maxBodyBytes;
  return readHeld(request, max, held, say("body_too_large", { kib: max / 1024 }));
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Refusal("", say("body_not_utf_8"));
  const text = bytes.toString("utf8");
  if (/\\u000[012]/.test(text) || ["\0", "\u0001", "\u0002"].some((one) => text.includes(one))) throw controlCharacter();
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal("", say("body_not_json"));
  }
}

/** PostgreSQL cannot store a zero byte in a text, and the next two characters mark messages of the relay. */
const controlCharacter = () => new Refusal("", say("control_character"));

/** Refuses cross-site requests of browsers, which carry the user's cookie. Programs with an API key send no cookie. */
function checkOrigin(request: FastifyRequest, actor: Actor | null, transport: TransportRules): void {
  if (safeMethods.has(request.method) || actor?.kind === "API key") return;
  const { origin, host } = request.headers;
  /** A page that anybody on the way can have changed is another site, although it has the same host. */
  const isOwnOrigin = (text: string) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    return url?.host === host && (url?.protocol === "https:" || !cameOverTls(request.raw, transport));
  };
  const from = request.headers["sec-fetch-site"];
  const isOwn = from === undefined ? origin === undefined || isOwnOrigin(origin) : from === "same-origin" || from === "none";
  if (!isOwn) throw new Denied("forbidden", say("cross_site"));
}

function checkRate(actor: Actor | null, rate: ReturnType<typeof createRateLimit>, now: number): void {
  const wait = actor ? rate(actorKey(actor), callsPerMinute, now) : 0;
  if (wait > 0) throw new Denied("too_many", say("too_many_requests"), Math.ceil(wait));
}

const jsonType = "application/json; charset=utf-8";
const zip = promisify(gzip);
/** Smaller answers fit into one packet anyway. */
const minZippedBytes = 1400;

/**
 * Lists shrink to a fifth. Only answers to reads are compressed: those to changes can hold a secret, whose length compression
 * would tell.
 */
async function sendJson(request: FastifyRequest, reply: FastifyReply, text: string): Promise<void> {
  reply.headers({ "content-type": jsonType, vary: "accept-encoding" });
  const isZipped =
    request.method === "GET" && text.length >= minZippedBytes && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  if (isZipped) reply.header("content-encoding", "gzip");
  await reply.send(isZipped ? await zip(text) : text);
}

function toRefusal(error: unknown, onDefect: (error: unknown) => void): Refusal {
  if (error instanceof Refusal) return error;
  onDefect(error);
  if (isTransient(error)) return new Denied("unavailable", say("store_away"), 1);
  return new Denied("internal", say("internal_error"));
}

function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { said, status, retryAfterSeconds } = refusal;
  if (retryAfterSeconds !== undefined) reply.header("retry-after", String(retryAfterSeconds));
  return reply
    .code(status)
    .type(jsonType)
    .send(writeAnswer(describeRefusal(refusal, said)));
}
