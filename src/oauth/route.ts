// The two addresses of a sign-in at a platform: the link that begins it, and where the platform sends people back to.

import type { FastifyInstance, FastifyReply } from "fastify";
import { beginAgreement, finishAgreement, type SignInOptions } from "../delivery/signIn.ts";

export const callbackPath = "/oauth/callback";
/** One for each sign-in: two may be under way in one browser. */
const cookieName = (id: string) => `cc_sign_in_${id}`;

export function oauthRoutes(app: FastifyInstance, options: SignInOptions): void {
  const isSecure = options.redirectUri.startsWith("https:");
  const cookie = (id: string, value: string, seconds: number) =>
    `${cookieName(id)}=${value}; Path=/oauth; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecure ? "; Secure" : ""}`;

  // No HEAD: programs that look at links ahead of people must not use them up.
  const onlyGet = { exposeHeadRoute: false };
  app.get<{ Params: { ticket: string } }>("/oauth/start/:ticket", onlyGet, async (request, reply) => {
    const begun = await beginAgreement(options, request.params.ticket);
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
    const finished = await finishAgreement(options, parameters, cookieOf);
    if ("error" in finished) return page(reply, 400, "Not signed in", finished.error);
    reply.header("set-cookie", cookie(finished.id, "", 0));
    return page(
      reply,
      200,
      `Signed in at ${finished.platform}`,
      `You can close this window. The sign-in is ${finished.id}; it waits an hour to become a connection.`,
    );
  });
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
