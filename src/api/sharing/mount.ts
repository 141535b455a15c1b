// Mounts the views that shared links open, on the dashboard's host. Their code is loaded on the first request: most installations
// share nothing.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendNotFound } from "../../http/reply.ts";
import type { Admission } from "../admission.ts";
import type { ApiContext } from "../context.ts";
import type { SharedViews } from "./views.ts";

type MountOptions = {
  isDashboardHost: (request: FastifyRequest) => boolean;
  context: () => ApiContext;
  admission: Admission;
  onDefect: (error: unknown) => void;
};

type Params = { link?: string; file?: string };
type Answer = (views: SharedViews, request: FastifyRequest, reply: FastifyReply, params: Params) => Promise<unknown>;

export function mountSharing(
  app: FastifyInstance,
  { isDashboardHost, context, admission, onDefect }: MountOptions,
): { close(): void } {
  let views: Promise<SharedViews> | null = null;
  const load = async () => (await import("./views.ts")).createSharedViews(context(), admission);
  /** What could not be loaded is tried again with the next request. */
  const forget = () => void (views = null);
  const answer = (work: Answer) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (!isDashboardHost(request)) return sendNotFound(reply);
    if (!views) (views = load()).catch(forget);
    const loaded = await views;
    return loaded.guard(request, reply, onDefect, () => work(loaded, request, reply, request.params as Params));
  };

  app.get(
    "/report/:link",
    answer((all, request, reply, { link = "" }) => all.showReport(request, reply, link)),
  );
  app.get(
    "/report/:link/report.pdf",
    answer((all, request, reply, { link = "" }) => all.sendPdf(request, reply, link)),
  );
  app.post(
    "/report/:link/open",
    answer((all, request, reply, { link = "" }) => all.open("report", request, reply, link)),
  );
  app.get(
    "/wall/:link",
    answer((all, request, reply, { link = "" }) => all.showWall(request, reply, link)),
  );
  app.post(
    "/wall/:link/open",
    answer((all, request, reply, { link = "" }) => all.open("wall", request, reply, link)),
  );
  app.get(
    "/wall/:link/data",
    answer((all, request, reply, { link = "" }) => all.sendWallData(request, reply, link)),
  );
  app.get(
    "/wall/:link/feed",
    answer((all, request, reply, { link = "" }) => all.sendWallFeed(request, reply, link)),
  );
  app.get(
    "/wall/:link/manifest.webmanifest",
    answer((all, request, reply, { link = "" }) => all.sendManifest(request, reply, link)),
  );
  app.get(
    "/shared/:file",
    answer((all, _request, reply, { file = "" }) => all.sendFile(reply, file)),
  );
  return { close: () => void views?.then((opened) => opened.close(), forget) };
}
