// What the relay serves to people and their programs: the dashboard, the documentation, the management API, its document and
// reference page.
// All of it is loaded when somebody first asks: a relay that nobody looks at has only this file of it.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { packageFolder } from "../kernel/packageFolder.ts";
import { documentRoutes } from "./documents.ts";
import type { ApiParts } from "./context.ts";
import type { Router } from "./router.ts";

export type DoorOptions = {
  /** The dashboard is at home on the relay's own name, not on the domains of customers. */
  serves: (request: FastifyRequest) => boolean;
  parts: () => ApiParts;
  onDefect: (error: unknown) => void;
};

const built = new URL("dist/dashboard/", packageFolder);
const nonceMark = "{NONCE}";

export function openDoor(app: FastifyInstance, { serves, parts, onDefect }: DoorOptions): { close(): void } {
  let router: Promise<Router> | null = null;
  const onlyAtHome = { preHandler: guard(serves) };

  app.all("/api/v1/*", onlyAtHome, async (request, reply) => {
    router ??= openApi(parts(), onDefect);
    return (await router).answer(request, reply);
  });
  app.get("/api/openapi.json", onlyAtHome, async (_request, reply) => {
    const { openapiDocument } = await import("./reference/openapi.ts");
    return reply
      .header("cache-control", "no-cache")
      .send(openapiDocument(parts().version, parts().publicUrl));
  });
  app.get("/api/reference", onlyAtHome, async (_request, reply) => {
    const [{ openapiDocument }, { referencePage }] = await Promise.all([
      import("./reference/openapi.ts"),
      import("./reference/reference.ts"),
    ]);
    const nonce = newNonce();
    const document = openapiDocument(parts().version, parts().publicUrl);
    return page(reply, nonce, "").send(referencePage(document, nonce));
  });

  let index: Promise<string> | null = null;
  const dashboard = async (_request: FastifyRequest, reply: FastifyReply) => {
    index ??= readFile(new URL("index.html", built), "utf8");
    const nonce = newNonce();
    return page(reply, nonce, "script-src 'self'; connect-src 'self'; ").send(
      (await index).replaceAll(nonceMark, nonce),
    );
  };
  app.get("/dashboard", onlyAtHome, dashboard);
  app.get("/dashboard/*", onlyAtHome, dashboard);
  app.get("/", onlyAtHome, (_request, reply) => reply.redirect("/dashboard/", 303));
  void app.register(fastifyStatic, {
    root: fileURLToPath(new URL("assets/", built)),
    prefix: "/dashboard/assets/",
    // Their names change with their content.
    immutable: true,
    maxAge: "365d",
    preCompressed: true,
    index: false,
    decorateReply: false,
  });
  app.get("/dashboard/icon.svg", async (_request, reply) =>
    reply
      .headers({ "content-type": "image/svg+xml", "cache-control": "max-age=86400" })
      .send(await readFile(new URL("icon.svg", built))),
  );

  documentRoutes(app, onlyAtHome);

  return { close: () => void router?.then((opened) => opened.close()) };
}

async function openApi(parts: ApiParts, onDefect: (error: unknown) => void): Promise<Router> {
  const [{ openRouter }, { handlersOf }] = await Promise.all([import("./router.ts"), import("./routes.ts")]);
  const { directory, transport, access, now } = parts;
  return openRouter({
    handlers: handlersOf(parts),
    directory,
    transport,
    actorOf: (request) => access.actorOf(request),
    now,
    onDefect,
  });
}

function guard(serves: DoorOptions["serves"]) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
    serves(request) ? undefined : reply.code(404).type("text/plain; charset=utf-8").send("Not found.\n");
}

const newNonce = () => randomBytes(16).toString("base64");

/** Nothing from elsewhere, nothing inline, in nobody's frame. */
function page(reply: FastifyReply, nonce: string, more: string): FastifyReply {
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
