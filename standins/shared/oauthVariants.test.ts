// The differences between the platforms' sign-ins: small declarations, run without a server.

import { describe, expect, test } from "vitest";
import { oauthRoutes } from "./oauth.ts";
import type { OAuth, Call, Context } from "./standin.ts";
import { createTokens } from "./tokens.ts";

const clock = Date.parse("2026-11-14T10:00:00Z");
const callback = "http://127.0.0.1:8787/connect";
const codeOf = (location: string) => new URL(location).searchParams.get("code") ?? "";

describe("differences of platforms", () => {
  /** Serves a declared sign-in without a server. */
  function serve(changes: Partial<OAuth>) {
    const oauth: OAuth = {
      client: { id: "app-1", secret: "hush" },
      authorizePath: "/auth",
      tokenPath: "/token",
      scopes: ["read"],
      pkce: "none",
      clientAuth: ["body"],
      tokenBody: "form",
      accessSeconds: 60,
      refresh: "rotating",
      ...changes,
    };
    const memory = new Map<string, unknown>();
    const context: Context = {
      now: () => clock,
      tokens: createTokens([], () => clock),
      nextId: () => "id-1",
      useQuota: () => 0,
      remember<Memory>(name: string, make: () => Memory) {
        if (!memory.has(name)) memory.set(name, make());
        return memory.get(name) as Memory;
      },
    };
    const routes = oauthRoutes(oauth);
    return (method: string, path: string, text = "", headers: Record<string, string> = {}) => {
      const url = new URL(path, "http://standin");
      const route = routes.find((one) => one.method === method && one.path === url.pathname);
      const call: Call = {
        method,
        path: url.pathname,
        query: url.searchParams,
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        text,
        bytes: text.length,
        params: {},
      };
      return route?.handle(call, context) ?? { status: 404 };
    };
  }
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

  test("parameter names, a JSON body and the token response can differ, as at TikTok", () => {
    const call = serve({
      names: { client_id: "app_id", client_secret: "secret", code: "auth_code" },
      omits: ["response_type", "grant_type", "redirect_uri", "scope"],
      tokenBody: "json",
      refresh: "none",
      tokenAnswer: (issued) => ({
        status: 200,
        body: { code: 0, data: { access_token: issued.accessToken } },
      }),
      tokenError: (fault) => ({ status: 200, body: { code: 40110, message: fault } }),
    });
    const sent = call("POST", "/auth", form({ app_id: "app-1", redirect_uri: callback, state: "s", decision: "allow" }));
    const code = new URL(sent.headers?.location ?? "").searchParams.get("auth_code") ?? "";
    const json = { "content-type": "application/json" };
    const body = JSON.stringify({ app_id: "app-1", secret: "hush", auth_code: code });
    expect(call("POST", "/token", body, json).body).toMatchObject({
      code: 0,
      data: { access_token: expect.stringMatching(/^access_/) },
    });
    expect(call("POST", "/token", body, json)).toMatchObject({ status: 200, body: { code: 40110 } });
  });

  test("a rotating refresh token is replaced, and the old one rejected", () => {
    const call = serve({});
    const sent = call(
      "POST",
      "/auth",
      form({
        client_id: "app-1",
        redirect_uri: callback,
        state: "s",
        response_type: "code",
        scope: "read",
        decision: "allow",
      }),
    );
    const own = { client_id: "app-1", client_secret: "hush" };
    const first = call(
      "POST",
      "/token",
      form({
        ...own,
        grant_type: "authorization_code",
        code: codeOf(sent.headers?.location ?? ""),
        redirect_uri: callback,
      }),
    ).body as Record<string, string>;
    const refresh = (refreshToken: string) =>
      call("POST", "/token", form({ ...own, grant_type: "refresh_token", refresh_token: refreshToken }));
    const second = refresh(first.refresh_token ?? "").body as Record<string, string>;
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(refresh(first.refresh_token ?? "")).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect(refresh(second.refresh_token ?? "").status).toBe(200);
  });

  test("PKCE, HTTP Basic or a header can be required", () => {
    const call = serve({
      pkce: "required",
      clientAuth: ["basic"],
      tokenCallError: ({ headers }) => (headers["user-agent"] ? null : { status: 429, body: "no user agent" }),
    });
    const asked = {
      client_id: "app-1",
      redirect_uri: callback,
      state: "s",
      response_type: "code",
      scope: "read",
    };
    const sent = call("POST", "/auth", form({ ...asked, decision: "allow" }));
    expect(sent.headers?.location).toContain("code_challenge+is+missing");
    expect(call("POST", "/token", form({})).status).toBe(429);
    const inBody = form({ client_id: "app-1", client_secret: "hush", grant_type: "authorization_code" });
    expect(call("POST", "/token", inBody, { "user-agent": "relay" }).rejected).toEqual([
      "invalid_client: the client must authenticate with HTTP Basic",
    ]);
  });

  test("a platform may have its own grant type", () => {
    const call = serve({
      otherGrants: { exchange: (fields) => ({ status: 200, body: { long: fields.get("short") } }) },
    });
    const own = { client_id: "app-1", client_secret: "hush", grant_type: "exchange", short: "s-1" };
    expect(call("POST", "/token", form(own)).body).toEqual({ long: "s-1" });
    expect(call("POST", "/token", form({ ...own, client_secret: "guess" })).status).toBe(401);
  });

  test("a token call can be a GET with a query, as at Meta", () => {
    const call = serve({ tokenBody: "query", tokenMethods: ["GET"], omits: ["grant_type"] });
    expect(call("GET", "/token?client_id=app-1&client_secret=hush&code=none").rejected).toEqual([
      "invalid_grant: the code is not valid",
    ]);
  });
});
