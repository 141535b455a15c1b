// Serves the tag and its second part, and notes who fetched them.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { sendNotFound } from "../http/reply.ts";
import { clientAddress, customerNetworkOf, type TransportRules } from "../http/transport.ts";
import { secondParts, tagScripts, type TagScript } from "../identity/tagScript.ts";
import { dayMs, secondMs } from "../kernel/time.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf } from "../sites/hosts.ts";
import type { TrafficMemory } from "../traffic/frequency.ts";
import { userAgentOf } from "./observe.ts";

export type ScriptOptions = {
  directory: Directory;
  transport: TransportRules;
  /** The built tag and its second part. */
  tag: string;
  secondPart: string;
  memory: TrafficMemory;
  now: () => number;
};

const daySeconds = dayMs / secondMs;

export function scriptRoutes(app: FastifyInstance, options: ScriptOptions): void {
  const scriptOf = tagScripts(options.tag);
  const secondPartOf = secondParts(options.secondPart);
  app.get<{ Params: { file: string } }>("/__cc/:file", (request, reply) => {
    const site = options.directory.siteOfHost(hostOf(request.headers.host));
    const named = /^(tag|use)(?:\.([0-9a-f]{16}))?\.js$/.exec(request.params.file);
    if (!site || !named) return sendNotFound(reply);
    const address = clientAddress(request.raw, options.transport.trusted);
    const userAgent = userAgentOf(request.headers);
    options.memory.noteFetch({ siteId: site.id, network: customerNetworkOf(address), userAgent }, options.now());
    return sendScript(request.raw, reply, named[1] === "use" ? secondPartOf(site) : scriptOf(site), named[2]);
  });
}

function sendScript(request: IncomingMessage, reply: FastifyReply, script: TagScript, requestedHash: string | undefined) {
  const etag = `"${script.hash}"`;
  const isImmutable = requestedHash === script.hash;
  reply
    .type("text/javascript; charset=utf-8")
    // Subresource integrity needs CORS on the site's other hosts.
    .header("access-control-allow-origin", "*")
    .header("cross-origin-resource-policy", "cross-origin")
    .header("x-content-type-options", "nosniff")
    .header("vary", "Accept-Encoding")
    .header("etag", etag)
    .header(
      "cache-control",
      isImmutable ? `public, max-age=${365 * daySeconds}, immutable` : "public, max-age=600, stale-while-revalidate=86400",
    );
  if (request.headers["if-none-match"]?.includes(etag)) return reply.code(304).send();
  const accepts = request.headers["accept-encoding"] ?? "";
  if (/\bbr\b/.test(accepts)) return reply.header("content-encoding", "br").send(script.brotli);
  if (/\bgzip\b/.test(accepts)) return reply.header("content-encoding", "gzip").send(script.gzip);
  return reply.send(script.text);
}
