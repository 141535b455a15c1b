// Mounts the dashboard, the documentation, the management API and its reference. The code of the API and its reference is
// loaded on the first request, so that a relay without dashboard users does not pay for it.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendNotFound } from "../http/reply.ts";
import { packageFolder } from "../kernel/packageFolder.ts";
import { mountDocs } from "./documents.ts";
import type { Admission } from "./admission.ts";
import type { ApiContext } from "./context.ts";
import type { Router } from "./router.ts";

type MountOptions = {
  /** See dashboardHost.ts. */
  isDashboardHost: (request: FastifyRequest) => boolean;
  context: () => ApiContext;
  admission: Admission;
  onDefect: (error: unknown) => void;
};

const builtFolder = new URL("dist/dashboard/", packageFolder);
const aDay = "max-age=86400";
const publicFiles = [
  ["icon.svg", "image/svg+xml", aDay],
  ["manifest.webmanifest", "application/manifest+json", aDay],
  // Shows notifications. A browser asks for a newer one by itself.
  ["worker.js", "text/javascript", "no-cache"],
] as const;
const nonceMark = "{NONCE}";
/** The lines that load the file of the frame, which pages before sign-in do without. */
const frameLines = /<!-- frame -->.*<!-- \/frame -->/s;
const pagesBeforeSignIn = /^\/dashboard\/(?:setup|sign-in|forgotten|reset|invitation)\/?(?:\?|$)/;

export function mountDashboard(
  app: FastifyInstance,
  { isDashboardHost, context, admission, onDefect }: MountOptions,
): { close(): void } {
  let router: Promise<Router> | null = null;
  const onlyDashboardHost = { preHandler: guard(isDashboardHost) };

  app.all("/api/v1/*", onlyDashboardHost, async (request, reply) => {
    router ??= createRouterFor(context(), admission, onDefect);
    return (await router).answer(request, reply);
  });
  // Anybody may ask for both, and to make one of them takes some forty milliseconds of the thread that accepts events.
  let openapi: Promise<Buffer> | null = null;
  let reference: Promise<{ nonce: string; page: Buffer }> | null = null;
  app.get("/api/openapi.json", onlyDashboardHost, async (_request, reply) => {
    openapi ??= makeOpenapi(context());
    return reply.headers({ "cache-control": "no-cache", "content-type": "application/json; charset=utf-8" }).send(await openapi);
  });
  app.get("/api/reference", onlyDashboardHost, async (_request, reply) => {
    reference ??= makeReference(context());
    const { nonce, page } = await reference;
    return withPageHeaders(reply, nonce, "").send(page);
  });

  let index: Promise<string> | null = null;
  const dashboard = async ({ url }: FastifyRequest, reply: FastifyReply) => {
    index ??= readFile(new URL("index.html", builtFolder), "utf8");
    const page = pagesBeforeSignIn.test(url) ? (await index).replace(frameLines, "") : await index;
    const nonce = newNonce();
    return withPageHeaders(reply, nonce, "script-src 'self'; connect-src 'self'; manifest-src 'self'; ").send(
      page.replaceAll(nonceMark, nonce),
    );
  };
  app.get("/dashboard", onlyDashboardHost, dashboard);
  app.get("/dashboard/*", onlyDashboardHost, dashboard);
  app.get("/", onlyDashboardHost, (_request, reply) => reply.redirect("/dashboard/", 303));
  void app.register(fastifyStatic, {
    root: fileURLToPath(new URL("assets/", builtFolder)),
    prefix: "/dashboard/assets/",
    // File names change with their content.
    immutable: true,
    maxAge: "365d",
    preCompressed: true,
    index: false,
    decorateReply: false,
  });
  for (const [name, type, cache] of publicFiles)
    app.get(`/dashboard/${name}`, async (_request, reply) =>
      reply.headers({ "content-type": type, "cache-control": cache }).send(await readFile(new URL(name, builtFolder))),
    );

  mountDocs(app, onlyDashboardHost);

  return { close: () => void router?.then((opened) => opened.close()) };
}

async function createRouterFor(context: ApiContext, admission: Admission, onDefect: (error: unknown) => void): Promise<Router> {
  const [{ createRouter }, { createHandlers }] = await Promise.all([import("./router.ts"), import("./routes.ts")]);
  const { directory, transport, access, now } = context;
  return createRouter({
    handlers: createHandlers(context),
    directory,
    transport,
    admission,
    actorOf: (request) => access.actorOf(request),
    now,
    onDefect,
  });
}

async function makeOpenapi({ version, publicUrl }: ApiContext): Promise<Buffer> {
  const { openapiDocument } = await import("./reference/openapi.ts");
  return Buffer.from(JSON.stringify(openapiDocument(version, publicUrl)));
}

async function makeReference({ version, publicUrl }: ApiContext): Promise<{ nonce: string; page: Buffer }> {
  const [{ openapiDocument }, { referencePage }] = await Promise.all([
    import("./reference/openapi.ts"),
    import("./reference/reference.ts"),
  ]);
  const nonce = newNonce();
  return { nonce, page: Buffer.from(referencePage(openapiDocument(version, publicUrl), nonce)) };
}

function guard(isDashboardHost: MountOptions["isDashboardHost"]) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
    isDashboardHost(request) ? undefined : sendNotFound(reply);
}

const newNonce = () => randomBytes(16).toString("base64");

/** Allows nothing from other origins, nothing inline without the nonce, and no framing. */
function withPageHeaders(reply: FastifyReply, nonce: string, more: string): FastifyReply {
  return reply.headers({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy":
      `default-src 'none'; ${more}style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
      "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
  });
}
