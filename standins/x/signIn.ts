// The three-legged sign-in of OAuth 1.0a: a request token, the page, and the access token. Answers are forms.

import { randomBytes } from "node:crypto";
import { consentPage, faultPage } from "../shared/pages.ts";
import type { Answer, Call, Context, Route } from "../shared/standin.ts";
import { readSigned, tokenSecrets, xUnauthorized } from "./access.ts";
import { readSignature } from "./signature.ts";

type Request = { secret: string; callback: string; verifier: string | null; expiresAt: number };

const requests = (context: Context) => context.remember("x request tokens", () => new Map<string, Request>());
const requestSeconds = 600;
const make = () => randomBytes(20).toString("base64url");

const form = (fields: Record<string, string>): Answer => ({
  status: 200,
  headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
  body: new URLSearchParams(fields).toString(),
});

function isCallback(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol === "https:" || (protocol === "http:" && local);
}

function requestToken(call: Call, context: Context): Answer {
  const read = readSigned(call, context, "");
  if ("answer" in read) return read.answer;
  const callback = read.signed.oauth_callback ?? "";
  if (!isCallback(callback))
    return {
      status: 403,
      body: { errors: [{ code: 415, message: "Callback URL not approved for this client application." }] },
      rejected: ["the callback is not approved"],
    };
  const token = make();
  const secret = make();
  const expiresAt = context.now() + requestSeconds * 1000;
  requests(context).set(token, { secret, callback, verifier: null, expiresAt });
  return form({ oauth_token: token, oauth_token_secret: secret, oauth_callback_confirmed: "true" });
}

function findRequest(token: string | null | undefined, context: Context): Request | null {
  const found = requests(context).get(token ?? "");
  return found && found.expiresAt > context.now() ? found : null;
}

function showPage(call: Call, context: Context): Answer {
  const asked = findRequest(call.query.get("oauth_token"), context);
  return asked ? consentPage(call, asked.callback, ["Ads account"]) : faultPage("oauth_token is not valid");
}

function decide(call: Call, context: Context): Answer {
  const fields = new URLSearchParams(call.text);
  const token = fields.get("oauth_token");
  const asked = findRequest(token, context);
  if (!asked || token === null) return faultPage("oauth_token is not valid");
  const target = new URL(asked.callback);
  if (fields.get("decision") === "allow") {
    asked.verifier = make();
    target.searchParams.set("oauth_token", token);
    target.searchParams.set("oauth_verifier", asked.verifier);
  } else target.searchParams.set("denied", token);
  return { status: 302, headers: { location: target.href, "cache-control": "no-store" } };
}

function accessToken(call: Call, context: Context): Answer {
  const token = readSignature(call)?.oauth_token;
  const asked = findRequest(token, context);
  if (!asked || token === undefined) return xUnauthorized("the request token is not valid");
  const read = readSigned(call, context, asked.secret);
  if ("answer" in read) return read.answer;
  const given = read.signed.oauth_verifier ?? new URLSearchParams(call.text).get("oauth_verifier");
  if (asked.verifier === null || given !== asked.verifier) return xUnauthorized("the verifier does not match");
  // Usable once.
  requests(context).delete(token);
  // They do not expire until they are revoked.
  const access = context.tokens.issueAccess(["account"], 100 * 365 * 86_400, token);
  const secret = make();
  tokenSecrets(context).set(access, secret);
  return form({
    oauth_token: access,
    oauth_token_secret: secret,
    user_id: "1000001",
    screen_name: "exampleshop",
  });
}

export const xSignInRoutes: readonly Route[] = [
  { kind: "token", method: "POST", path: "/oauth/request_token", handle: requestToken },
  { kind: "authorize", method: "GET", path: "/oauth/authorize", handle: showPage },
  { kind: "authorize", method: "POST", path: "/oauth/authorize", handle: decide },
  { kind: "token", method: "POST", path: "/oauth/access_token", handle: accessToken },
];
