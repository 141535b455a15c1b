// Serves the Model Context Protocol at POST /mcp, on the dashboard's host and for API keys. Every request stands for itself, so
// any node can answer it. The code is loaded on the first request.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { actorKey, type ApiKeyHolder } from "../access/actor.ts";
import { keyOf, readHeld, type Admission } from "../api/admission.ts";
import type { ApiContext } from "../api/context.ts";
import { createRateLimit } from "../http/rate.ts";
import { sendNotFound } from "../http/reply.ts";
import { isSecure } from "../http/transport.ts";
import { inEnglish, say } from "../kernel/messages/message.ts";
import { Denied, describeRefusal, Refusal } from "../kernel/refusal.ts";

type MountOptions = {
  isDashboardHost: (request: FastifyRequest) => boolean;
  context: () => ApiContext;
  admission: Admission;
  onDefect: (error: unknown) => void;
};

const maxBodyBytes = 256 * 1024;
/** A list of the tools takes six milliseconds. A call of a tool has two other messages around it, and a limit of its own. */
const messagesPerMinute = 600;

type Handler = { answer(request: Request, actor: ApiKeyHolder): Promise<Response>; close(): Promise<void> };

export function mountMcp(
  app: FastifyInstance,
  { isDashboardHost, context, admission, onDefect }: MountOptions,
): { close(): void } {
  let handler: Promise<Handler> | null = null;
  const rate = createRateLimit();

  app.all("/mcp", async (request, reply) => {
    if (!isDashboardHost(request)) return sendNotFound(reply);
    void reply.header("cache-control", "no-store");
    try {
      const actor = await authenticate(request, context());
      const wait = rate(actorKey(actor), messagesPerMinute, context().now());
      if (wait > 0) throw new Denied("too_many", say("too_many_requests"), Math.ceil(wait));
      if (request.method !== "POST") return await reply.code(405).header("allow", "POST").send();
      const key = keyOf(request.raw, context().transport, actor, null);
      const held = admission.hold("members", key, reply.raw);
      const body = await readHeld(request.raw, maxBodyBytes, held, say("body_too_large", { kib: maxBodyBytes / 1024 }));
      // The protocol has none since June 2025, and a hundred messages are answered without a pause. A byte order mark counts as space.
      if (body.toString("utf8").trimStart().startsWith("[")) throw new Refusal("", "Send one message in each request.");
      handler ??= createHandler(context(), onDefect);
      const opened = await handler;
      return await send(reply, await admission.answer(key, true, () => opened.answer(toWebRequest(request, body), actor)));
    } catch (error) {
      return refuse(reply, error, onDefect);
    }
  });
  return { close: () => void handler?.then((opened) => opened.close()).catch(onDefect) };
}

/** Only an API key: a browser's cookie would let any page of the dashboard's host act through an assistant's endpoint. */
async function authenticate(request: FastifyRequest, { access, transport }: ApiContext): Promise<ApiKeyHolder> {
  if (!isSecure(request.raw, transport)) throw new Denied("insecure", say("https_required"));
  const { origin, host } = request.headers;
  // A page of another site has no business here, even with a key.
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host))
    throw new Denied("forbidden", say("cross_site"));
  const actor = request.headers.authorization === undefined ? null : await access.actorOf(request);
  if (actor?.kind !== "API key") throw new Denied("signed_out", "Send an API key as a bearer token.");
  return actor;
}

async function createHandler(context: ApiContext, onDefect: (error: unknown) => void): Promise<Handler> {
  const [{ createMcpHandler }, { createServer }, { createToolCaller }, { createHandlers }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./server.ts"),
    import("./callTool.ts"),
    import("../api/routes.ts"),
  ]);
  const { store, directory, now, version } = context;
  const caller = createToolCaller({ store, directory, handlers: createHandlers(context), now });
  const { fetch: serve, close } = createMcpHandler(
    ({ authInfo }) => createServer({ version, actor: authInfo?.extra?.["actor"] as ApiKeyHolder, caller, onDefect }),
    // No stream stays open: nothing that an assistant could subscribe to changes.
    { responseMode: "json", maxSubscriptions: 0, keepAliveMs: 0, maxRequestBodySize: maxBodyBytes },
  );
  return {
    // The handler passes on what it is given; the key itself goes no further than this file.
    answer: (request, actor) =>
      serve(request, { authInfo: { token: "", clientId: actor.id, scopes: [...actor.scopes], extra: { actor } } }),
    close,
  };
}

function toWebRequest(request: FastifyRequest, body: Buffer): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === "string" && (name === "content-type" || name === "accept" || name.startsWith("mcp-")))
      headers.set(name, value);
  return new Request("http://relay/mcp", { method: "POST", headers, body: new Uint8Array(body) });
}

/** Answers end at once: there is nothing to subscribe to. */
async function send(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  void reply.code(response.status);
  response.headers.forEach((value, name) => void reply.header(name, value));
  return reply.send(Buffer.from(await response.arrayBuffer()));
}

function refuse(reply: FastifyReply, error: unknown, onDefect: (error: unknown) => void): FastifyReply {
  if (!(error instanceof Refusal)) onDefect(error);
  const refusal = error instanceof Refusal ? error : new Denied("internal", say("internal_error"));
  if (refusal.status === 401) void reply.header("www-authenticate", 'Bearer realm="Cleancast"');
  if (refusal.retryAfterSeconds !== undefined) void reply.header("retry-after", String(refusal.retryAfterSeconds));
  return reply.code(refusal.status).send(inEnglish(describeRefusal(refusal)));
}
