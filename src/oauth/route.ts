// Serves the two routes of a sign-in at a platform: the link that begins it, and the callback for the platform's redirect.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { startAuthorization, finishAuthorization, type Finished, type SignInOptions } from "../delivery/oauth/signIn.ts";
import { english } from "../kernel/messages/message.ts";
import { escapeHtml } from "../kernel/text.ts";

export const callbackPath = "/oauth/callback";
/** Each sign-in has its own cookie: a browser may have two open. */
const cookieName = (id: string) => `cc_sign_in_${id}`;

type OAuthRouteOptions = SignInOptions & {
  /** The id of the user who is signed in to the dashboard in this browser. */
  userOf: (request: FastifyRequest) => Promise<string | null>;
};

export function oauthRoutes(app: FastifyInstance, options: OAuthRouteOptions): void {
  // Read each time: the address may be known only when the server listens.
  const isSecure = () => options.redirectUri.startsWith("https:");
  const cookie = (id: string, value: string, seconds: number) =>
    `${cookieName(id)}=${value}; Path=/oauth; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecure() ? "; Secure" : ""}`;

  // No HEAD: link checkers must not use up a one-time link.
  const onlyGet = { exposeHeadRoute: false };
  app.get<{ Params: { link: string } }>("/oauth/start/:link", onlyGet, async (request, reply) => {
    const begun = await startAuthorization(options, request.params.link, await options.userOf(request));
    if ("error" in begun) return sendPage(reply, 400, "Not signed in", begun.error);
    return redirect(reply, cookie(begun.id, begun.cookie, 600), begun.location);
  });

  app.get(callbackPath, onlyGet, async (request, reply) => {
    const parameters = new URL(request.url, "http://callback").searchParams;
    const cookieOf = (id: string) => readCookie(request.headers.cookie ?? "", cookieName(id));
    const finished = await finishAuthorization(options, parameters, cookieOf);
    if (!("id" in finished)) return sendPage(reply, 400, "Not signed in", finished.error);
    // A user who began in the dashboard sees the result there.
    if (finished.requestedBy !== null)
      return redirect(reply, cookie(finished.id, "", 0), dashboardUrl(options.redirectUri, finished));
    if (finished.error !== null) return sendPage(reply, 400, "Not signed in", finished.error);
    reply.header("set-cookie", cookie(finished.id, "", 0));
    return sendPage(
      reply,
      200,
      `Signed in at ${finished.platform.name}`,
      `You can close this window. The id of the sign-in is ${finished.id}. Use it within an hour to create a connection.`,
    );
  });
}

/** Built from our own data only, so that a request cannot redirect elsewhere. */
function dashboardUrl(redirectUri: string, { siteId, platform, id }: Finished): string {
  const publicUrl = redirectUri.slice(0, -callbackPath.length);
  return `${publicUrl}/dashboard/sites/${siteId}/integrations/${platform.id}?signIn=${id}`;
}

export const redirect = (reply: FastifyReply, cookie: string | string[], location: string) =>
  reply.headers({ "set-cookie": cookie, "cache-control": "no-store", "referrer-policy": "no-referrer" }).redirect(location, 303);

export function readCookie(header: string, name: string): string | undefined {
  const pairs = header.split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([key]) => key === name)?.[1];
}

/** All texts are escaped: the page contains no markup but its own. */
export function sendPage(
  reply: FastifyReply,
  status: number,
  title: string,
  text: string,
  link?: { path: string; text: string },
): FastifyReply {
  const onward = link ? `<p><a href="${escapeHtml(link.path)}">${escapeHtml(link.text)}</a></p>` : "";
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .header("cache-control", "no-store")
    .header("content-security-policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
    .header("referrer-policy", "no-referrer")
    .header("x-content-type-options", "nosniff")
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
        `<title>${escapeHtml(title)}</title><h1>${escapeHtml(title)}</h1><p>${escapeHtml(english(text))}</p>${onward}</html>\n`,
    );
}
