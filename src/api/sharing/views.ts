// Answers the requests of shared links. A page is opened with the token in its address's fragment, which its script exchanges for a
// cookie that is valid for this one link. Whatever is wrong with a link, strangers get the same answer.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isJsonObject, readBytes } from "../../http/body.ts";
import { createRateLimit } from "../../http/rate.ts";
import { sendText } from "../../http/reply.ts";
import { cameOverTls, clientAddress, isSecure, networkOf } from "../../http/transport.ts";
import { packageFolder } from "../../kernel/packageFolder.ts";
import { say } from "../../kernel/messages/message.ts";
import { Denied, Refusal } from "../../kernel/refusal.ts";
import type { LinkScope } from "../../kernel/scopes.ts";
import { createLinks } from "../../sharing/links.ts";
import { fileNameOf, readSharedReport } from "../../sharing/report.ts";
import { writerFor } from "../../sharing/sentences.ts";
import { languageOf, textsOf } from "../../sharing/texts.ts";
import { isWorking, type Site } from "../../sites/directory.ts";
import type { SharedLink } from "../../store/sharing/sharedLinks.ts";
import { keyOf, type Admission, type Held } from "../admission.ts";
import type { ApiContext } from "../context.ts";
import { createFeed } from "../feed.ts";
import { stream } from "../stream.ts";
import { openerPage, reportPage, wallPage } from "./pages.ts";
import { createWallData, toWallMessage } from "./wall.ts";

export type SharedViews = ReturnType<typeof createSharedViews>;

const cookieName = "cleancast_shared";
const requestsPerMinute = 300;
/** A file is drawn anew each time. */
const filesPerMinute = 10;
const reportDays = 30;
const maxBodyBytes = 4096;

const builtFolder = new URL("dist/dashboard/shared/", packageFolder);
const files: Readonly<Record<string, string>> = {
  "open.js": "text/javascript; charset=utf-8",
  "wall.js": "text/javascript; charset=utf-8",
  "worker.js": "text/javascript; charset=utf-8",
  "report.css": "text/css; charset=utf-8",
  "wall.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "icon-192.png": "image/png",
  "icon-512.png": "image/png",
};

/** Nothing of a view is stored, indexed, framed, loaded from elsewhere, or told to other sites. */
const headers = {
  "cache-control": "no-store",
  "x-robots-tag": "noindex, nofollow, noarchive",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; " +
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const ended = "This link is not valid, or no longer.";

export function createSharedViews(context: ApiContext, admission: Admission) {
  const { store, directory, transport, now, version } = context;
  const links = createLinks({ store, secret: store.accessSecret, now });
  const rate = createRateLimit();
  const feed = createFeed(context);
  const readWall = createWallData(context);
  const closing = new AbortController();
  let build: Promise<string> | null = null;

  const addressOf = ({ raw }: FastifyRequest) => clientAddress(raw, transport.trusted);

  /** Returns the link and its site if the cookie of the request belongs to it. */
  async function find(scope: LinkScope, request: FastifyRequest, id: string): Promise<{ link: SharedLink; site: Site } | null> {
    const cookie = new RegExp(`(?:^|; )${cookieName}=([\\w.-]{1,200})(?:;|$)`).exec(request.headers.cookie ?? "")?.[1];
    const link = cookie === undefined ? null : await links.check(scope, id, cookie);
    const site = link && directory.site(link.siteId);
    return site && isWorking(site) ? { link, site } : null;
  }

  const sendPage = (reply: FastifyReply, page: string) => reply.type("text/html; charset=utf-8").send(page);
  const sendEnded = (reply: FastifyReply) => sendText(reply, 404, ended);
  const sendOpener = (request: FastifyRequest, reply: FastifyReply) => {
    const language = languageOf(request.headers["accept-language"]);
    // Tells the worker of a wall that this page is not the wall.
    return sendPage(reply.header("x-cleancast-view", "opener"), openerPage(textsOf(language), language));
  };

  const readReport = (site: Site) =>
    admission.answer(site.id, true, () => readSharedReport(store, site, { days: reportDays, now }));
  const writerOf = (request: FastifyRequest, site: Site) =>
    writerFor(languageOf(request.headers["accept-language"]), site.settings.timeZone);

  return {
    /** Sets the headers of every answer, and bounds what strangers cost. */
    async guard(
      request: FastifyRequest,
      reply: FastifyReply,
      onDefect: (error: unknown) => void,
      work: () => Promise<unknown>,
    ): Promise<unknown> {
      reply.headers(headers);
      if (!isSecure(request.raw, transport)) return sendText(reply, 426, "HTTPS required");
      const wait = rate(networkOf(addressOf(request)), requestsPerMinute, now());
      try {
        if (wait > 0) throw new Denied("too_many", say("too_many_requests"), Math.ceil(wait));
        return await work();
      } catch (error) {
        if (!(error instanceof Refusal)) onDefect(error);
        if (reply.sent) return void reply.raw.destroy();
        const { status, retryAfterSeconds, message } =
          error instanceof Refusal ? error : new Denied("unavailable", say("store_away"), 5);
        if (retryAfterSeconds !== undefined) reply.header("retry-after", String(retryAfterSeconds));
        return sendText(reply, status, message);
      }
    },

    async open(scope: LinkScope, request: FastifyRequest, reply: FastifyReply, id: string): Promise<unknown> {
      const held = admission.hold("strangers", keyOf(request.raw, transport, null, null), reply.raw);
      const given = await readOpening(request, held);
      const opened = given && (await links.open(scope, id, given, addressOf(request)));
      if (opened === null) return sendEnded(reply);
      if (typeof opened === "string") return reply.code(401).send({ password: opened === "password wrong" ? "wrong" : "needed" });
      const secure = cameOverTls(request.raw, transport) ? "; Secure" : "";
      const { cookie, maxAgeSeconds } = opened;
      reply.header(
        "set-cookie",
        `${cookieName}=${cookie}; Path=/${scope}/${id}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`,
      );
      return reply.code(204).send();
    },

    async showReport(request: FastifyRequest, reply: FastifyReply, id: string): Promise<unknown> {
      const found = await find("report", request, id);
      if (!found) return sendOpener(request, reply);
      const write = writerOf(request, found.site);
      return sendPage(reply, reportPage(await readReport(found.site), write, { link: found.link, madeAt: now() }));
    },

    async sendPdf(request: FastifyRequest, reply: FastifyReply, id: string): Promise<unknown> {
      const found = await find("report", request, id);
      if (!found) return sendEnded(reply);
      const wait = rate(`pdf ${id}`, filesPerMinute, now());
      if (wait > 0) throw new Denied("too_many", say("too_many_requests"), Math.ceil(wait));
      const report = await readReport(found.site);
      const { makePdf } = await import("../../sharing/pdf.ts");
      const { language } = writerOf(request, found.site);
      const file = await admission.answer(found.site.id, true, () => makePdf(report, { language, madeAt: now() }));
      return reply
        .headers({
          "content-type": "application/pdf",
          "content-disposition": `attachment; filename="${fileNameOf(report)}"`,
        })
        .send(file);
    },

    async showWall(request: FastifyRequest, reply: FastifyReply, id: string): Promise<unknown> {
      const found = await find("wall", request, id);
      if (!found) return sendOpener(request, reply);
      return sendPage(reply, wallPage(writerOf(request, found.site), found.site, id));
    },

    async sendWallData(request: FastifyRequest, reply: FastifyReply, id: string): Promise<unknown> {
      const found = await find("wall", request, id);
      if (!found) return sendEnded(reply);
      build ??= readBuild(version);
      const { texts } = writerOf(request, found.site);
      const wall = await admission.answer(found.site.id, true, () => readWall(found.site));
      const data = { ...wall, version: await build, texts: texts.wall, locale: texts.locale };
      return reply.type("application/json; charset=utf-8").send(JSON.stringify(data));
    },

    async sendWallFeed(request: FastifyRequest, reply: FastifyReply, id: string): Promise<unknown> {
      const found = await find("wall", request, id);
      if (!found) return sendEnded(reply);
      const isAllowed = async () => (await find("wall", request, id)) !== null;
      const pieces = feed.listen(found.site.id, `link ${id}`, isAllowed, toWallMessage);
      await stream(reply, "stream", pieces, closing.signal);
      return reply;
    },

    async sendManifest(request: FastifyRequest, reply: FastifyReply, id: string): Promise<unknown> {
      const found = await find("wall", request, id);
      if (!found) return sendEnded(reply);
      const { texts } = writerOf(request, found.site);
      const icon = (file: string, sizes: string, type: string) => ({ src: `/shared/${file}`, sizes, type, purpose: "any" });
      return reply.type("application/manifest+json; charset=utf-8").send(
        JSON.stringify({
          id: `/wall/${id}`,
          name: `${found.site.hosts[0] ?? found.site.id} · ${texts.wall.title}`,
          short_name: texts.wall.title,
          start_url: `/wall/${id}`,
          scope: `/wall/${id}`,
          display: "fullscreen",
          display_override: ["fullscreen", "standalone"],
          background_color: "#14171b",
          theme_color: "#14171b",
          icons: [
            icon("icon.svg", "any", "image/svg+xml"),
            icon("icon-192.png", "192x192", "image/png"),
            icon("icon-512.png", "512x512", "image/png"),
          ],
        }),
      );
    },

    async sendFile(reply: FastifyReply, file: string): Promise<unknown> {
      const type = Object.hasOwn(files, file) ? files[file] : undefined;
      if (type === undefined) return sendText(reply, 404, "Not found.");
      // The worker of an installed wall serves its pages alone.
      if (file === "worker.js") reply.header("service-worker-allowed", "/wall/");
      // Checked with each load: a new version takes effect at once.
      return reply
        .headers({ "content-type": type, "cache-control": "no-cache" })
        .send(await readFile(new URL(file, builtFolder)));
    },

    close: () => closing.abort(),
  };
}

/** Changes with every version of the wall: a screen that runs an older one loads itself again. */
async function readBuild(version: string): Promise<string> {
  const build = createHash("sha256").update(version);
  for (const file of ["wall.js", "wall.css"]) build.update(await readFile(new URL(file, builtFolder)));
  return build.digest("base64url").slice(0, 12);
}

/** Reads JSON, which an HTML form of another site cannot send. */
async function readOpening(request: FastifyRequest, held: Held): Promise<{ token: string; password: string | null } | null> {
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") return null;
  const bytes = await readBytes(request.raw, maxBodyBytes, held.add);
  if (typeof bytes === "string") return null;
  try {
    const given: unknown = JSON.parse(bytes.toString("utf8"));
    if (!isJsonObject(given) || typeof given["token"] !== "string") return null;
    return { token: given["token"], password: typeof given["password"] === "string" ? given["password"] : null };
  } catch {
    return null;
  }
}
