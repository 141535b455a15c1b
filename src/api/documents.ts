// Serves the documentation under /docs from the files that `npm run build` made. They are read on request.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import { sendNotFound } from "../http/reply.ts";
import { packageFolder } from "../kernel/packageFolder.ts";

const built = new URL("dist/docs/", packageFolder);

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  txt: "text/plain; charset=utf-8",
};

/** Allows nothing from other origins, nothing inline, and no framing. */
const securityHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
};

export function mountDocs(app: FastifyInstance, onlyDashboardHost: RouteShorthandOptions): void {
  app.get("/docs", onlyDashboardHost, (_request, reply) => reply.redirect("/docs/", 308));
  app.get<{ Params: { "*": string } }>("/docs/*", onlyDashboardHost, (request, reply) =>
    answer(request.params["*"], request, reply),
  );
}

async function answer(path: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  // People add a trailing slash to a page that has pages below it.
  const page = path.replace(/\/$/, "");
  const named = toFile(page);
  // Assistants ask for a page by its address and say that they prefer Markdown.
  const wantsMarkdown = /^\s*text\/markdown\b/.test(request.headers.accept ?? "");
  const file = wantsMarkdown ? (named?.replace(/\.html$/, ".md") ?? null) : named;
  const found = file && (await read(file, request.headers["accept-encoding"] ?? ""));
  if (found && page !== path) return reply.redirect(`/docs/${page}`, 308);
  if (!found) return sendNotFound(reply);
  const etag = `"${createHash("sha256").update(found.bytes).digest("base64url").slice(0, 22)}"`;
  void reply.headers({
    ...securityHeaders,
    "content-type": types[file.split(".").at(-1) ?? ""] ?? "application/octet-stream",
    // Names of assets change with their content; pages are revalidated, and mostly answered with 304.
    "cache-control": file.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept, accept-encoding",
    etag,
  });
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  if (found.isZipped) void reply.header("content-encoding", "gzip");
  return reply.send(found.bytes);
}

/** `tag` is the page tag.html; other files are named with their extension. Null for a path that cannot be ours. */
function toFile(path: string): string | null {
  if (path === "") return "index.html";
  if (!/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/.test(path) || path.endsWith(".html") || path.endsWith(".gz")) return null;
  return Object.hasOwn(types, path.split(".").at(-1) ?? "") ? path : `${path}.html`;
}

async function read(file: string, encodings: string): Promise<{ bytes: Buffer; isZipped: boolean } | null> {
  const attempt = (name: string) => readFile(new URL(name, built)).catch(() => null);
  const zipped = /\bgzip\b/.test(encodings) ? await attempt(`${file}.gz`) : null;
  if (zipped) return { bytes: zipped, isZipped: true };
  const bytes = await attempt(file);
  return bytes && { bytes, isZipped: false };
}
