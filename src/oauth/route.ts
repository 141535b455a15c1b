// The two addresses of a sign-in at a platform: the link that begins it, and where the platform sends people back to.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  startAuthorization,
  finishAuthorization,
  type Finished,
  type SignInOptions,
} from "../delivery/oauth/signIn.ts";

export const callbackPath = "/oauth/callback";
/** One for each sign-in: two may be under way in one browser. */
const cookieName = (id: string) => `cc_sign_in_${id}`;

export type OAuthRouteOptions = SignInOptions & {
  /** The id of the user who is signed in to the dashboard in this browser. */
  userOf: (request: FastifyRequest) => Promise<string | null>;
};

export function oauthRoutes(app: FastifyInstance, options: OAuthRouteOptions): void {
  // Asked each time: the address may be known only when the server listens.
  const isSecure = () => options.redirectUri.startsWith("https:");
  const cookie = (id: string, value: string, seconds: number) =>
    `${cookieName(id)}=${value}; Path=/oauth; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecure() ? "; Secure" : ""}`;

  // No HEAD: programs that look at links ahead of people must not use them up.
  const onlyGet = { exposeHeadRoute: false };
  app.get<{ Params: { ticket: string } }>("/oauth/start/:ticket", onlyGet, async (request, reply) => {
    const begun = await startAuthorization(options, request.params.ticket, await options.userOf(request));
    if ("error" in begun) return page(reply, 400, "Not signed in", begun.error);
    return reply
      .header("set-cookie", cookie(begun.id, begun.cookie, 600))
      .header("cache-control", "no-store")
      .header("referrer-policy", "no-referrer")
      .redirect(begun.location, 303);
  });

  app.get(callbackPath, onlyGet, async (request, reply) => {
    const parameters = new URL(request.url, "http://callback").searchParams;
    const cookieOf = (id: string) => cookieIn(request.headers.cookie ?? "", cookieName(id));
    const finished = await finishAuthorization(options, parameters, cookieOf);
    if (!("id" in finished)) return page(reply, 400, "Not signed in", finished.error);
    // Who began in the dashboard reads there how it went.
    if (finished.requestedBy !== null)
      return reply
        .header("set-cookie", cookie(finished.id, "", 0))
        .header("cache-control", "no-store")
        .header("referrer-policy", "no-referrer")
        .redirect(dashboardAddress(options.redirectUri, finished), 303);
    if (finished.error !== null) return page(reply, 400, "Not signed in", finished.error);
    reply.header("set-cookie", cookie(finished.id, "", 0));
    return page(
      reply,
      200,
      `Signed in at ${finished.platform.name}`,
      `You can close this window. The sign-in is ${finished.id}; it waits an hour to become a connection.`,
    );
  });
}

/** Made of what the relay itself wrote: nothing of the request can lead elsewhere. */
function dashboardAddress(redirectUri: string, { siteId, platform, id }: Finished): string {
  const publicUrl = redirectUri.slice(0, -callbackPath.length);
  return `${publicUrl}/dashboard/sites/${siteId}/integrations/${platform.id}?signIn=${id}`;
}

function cookieIn(header: string, name: string): string | undefined {
  const pairs = header.split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([key]) => key === name)?.[1];
}

/** The only markup is ours: everything else is text. */
function page(reply: FastifyReply, status: number, title: string, text: string): FastifyReply {
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .header("cache-control", "no-store")
    .header("content-security-policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
    .header("referrer-policy", "no-referrer")
    .header("x-content-type-options", "nosniff")
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
        `<title>${escaped(title)}</title><h1>${escaped(title)}</h1><p>${escaped(text)}</p></html>\n`,
    );
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
