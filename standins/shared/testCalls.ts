// For the stand-ins' own tests: runs a stand-in, calls it, signs in, and checks quotas and scripted faults.

import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeEach } from "vitest";
import type { StandinId } from "../index.ts";
import { sha256 } from "./contactChecks.ts";
import type { Answer, Call, Standin } from "./standin.ts";
import { startStandins, type StandinHandle } from "./start.ts";
import { createTokens } from "./tokens.ts";

export const startTime = Date.parse("2026-11-14T10:00:00Z");

/** Runs a stand-in for the tests of a file. Each test begins after a reset, at the start time. */
export async function runStandin(id: StandinId, time = startTime) {
  let now = time;
  const running = await startStandins({ only: [id], now: () => now });
  const handle = running.of(id);
  afterAll(() => running.close());
  beforeEach(() => {
    now = time;
    handle.reset();
  });
  return { running, handle, advance: (ms: number) => void (now += ms) };
}

type Posted = { status: number; headers: Headers; text: string; body: unknown };

export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Posted> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return toPosted(answer);
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<Posted> {
  return toPosted(await fetch(url, { headers }));
}

async function toPosted(answer: Response): Promise<Posted> {
  const text = await answer.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: answer.status, headers: answer.headers, text, body };
}

export type Fields = Record<string, unknown>;

export const callback = "http://127.0.0.1:8787/connect";
export const browser = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0";

export const person = {
  email: sha256("john_smith@gmail.com"),
  digitsPhone: sha256("16505551212"),
  plusPhone: sha256("+16505551212"),
} as const;

/** An authorization URL; its host is never called. */
export function authorizeUrl(path: string, query: Record<string, string>): string {
  return `https://platform.example${path}?${new URLSearchParams(query).toString()}`;
}

/** The query of a redirect. */
export const queryOf = (location: string): Record<string, string> => Object.fromEntries(new URL(location).searchParams);

/** Signs in, and returns the authorization code; empty when the sign-in was rejected. */
export async function authorizationCode(standin: StandinHandle, path: string, query: Record<string, string>): Promise<string> {
  const usual = { redirect_uri: callback, response_type: "code", state: "s" };
  const redirect = await standin.decide(authorizeUrl(path, { ...usual, ...query }), "allow");
  return queryOf(redirect).code ?? "";
}

export function makeChallenge(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export async function postForm(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Posted> {
  const answer = await fetch(url, { method: "POST", headers, body: new URLSearchParams(fields) });
  return toPosted(answer);
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export const basicAuth = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

/** The fields of a token response. */
export const tokenFields = ({ body }: Posted): Record<string, string> => body as Record<string, string>;

/** Runs one call without a server; `spent` says which quotas are used up. */
export function throttledCall(
  standin: Standin,
  path: string,
  headers: Record<string, string>,
  body: unknown,
  spent: (quota: string, limit: number, seconds: number, amount: number) => boolean,
): Answer {
  const call: Call = {
    method: "POST",
    path,
    query: new URLSearchParams(),
    headers: { "content-type": "application/json", ...headers },
    text: JSON.stringify(body),
    bytes: 0,
    params: {},
  };
  for (const route of standin.routes) {
    const found = typeof route.path === "string" ? null : route.path.exec(path);
    if (route.method !== "POST" || (!found && route.path !== path)) continue;
    return route.handle(
      { ...call, params: { ...found?.groups } },
      {
        now: () => startTime,
        tokens: createTokens(standin.tokens, () => startTime),
        nextId: () => "1",
        useQuota: (quota, limit, seconds, amount = 1) => (spent(quota, limit, seconds, amount) ? 7 : 0),
        remember: (_, make) => make(),
      },
    );
  }
  throw new Error(`There is no route ${path}.`);
}
