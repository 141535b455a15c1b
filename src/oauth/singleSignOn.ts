// Serves the two routes of a sign-in to the dashboard at an OpenID provider: the link that begins it, and the callback.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { SingleSignOn } from "../access/singleSignOn/signIn.ts";
import { sendNotFound } from "../http/reply.ts";
import { isSecure, type TransportRules } from "../http/transport.ts";
import { Denied, Refusal } from "../kernel/refusal.ts";
import { readCookie, redirect, sendPage } from "./route.ts";

type SingleSignOnRouteOptions = {
  /** Loads single sign-on at the first call. */
  signIn: () => Promise<SingleSignOn>;
  publicUrl: () => string;
  transport: TransportRules;
  isDashboardHost: (request: FastifyRequest) => boolean;
};

const startPath = "/oauth/sign-in";
const cookieName = "cc_single_sign_on";
const maxAgeSeconds = 600;
const backToSignIn = { path: "/dashboard/sign-in", text: "Back to sign-in" };

export function singleSignOnRoutes(app: FastifyInstance, options: SingleSignOnRouteOptions): void {
  const { signIn, publicUrl, transport, isDashboardHost } = options;
  const cookie = (value: string, seconds: number) =>
    `${cookieName}=${value}; Path=${startPath}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${publicUrl().startsWith("https:") ? "; Secure" : ""}`;
  // No HEAD: a link checker must not begin a sign-in.
  const routeOptions = {
    exposeHeadRoute: false,
    preHandler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (!isDashboardHost(request)) return sendNotFound(reply);
      return undefined;
    },
  };

  const answer =
    (work: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      try {
        if (!isSecure(request.raw, transport))
          throw new Denied("insecure", "HTTPS required: sessions must not be sent unencrypted.");
        return await work(request, reply);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        reply.header("set-cookie", cookie("", 0));
        return sendPage(reply, error.status, "Not signed in", error.message, backToSignIn);
      }
    };

  app.get(
    startPath,
    routeOptions,
    answer(async (_request, reply) => {
      const begun = await (await signIn()).begin();
      return redirect(reply, cookie(begun.cookie, maxAgeSeconds), begun.location);
    }),
  );

  app.get(
    `${startPath}/callback`,
    routeOptions,
    answer(async (request, reply) => {
      const parameters = new URL(request.url, "http://callback").searchParams;
      const given = readCookie(request.headers.cookie ?? "", cookieName);
      const session = await (await signIn()).finish(request, parameters, given);
      return redirect(reply, [...session, cookie("", 0)], `${publicUrl()}/dashboard`);
    }),
  );
}
