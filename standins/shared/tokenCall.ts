// Reading a call to a token endpoint: its fields, the client's sign-in, and the PKCE verifier.

import { createHash, timingSafeEqual } from "node:crypto";
import type { OAuth } from "./oauth.ts";
import { basicCredentials, type Call } from "./standin.ts";

export function readFields(call: Call, form: OAuth["tokenBody"]): Map<string, string> | string {
  if (form === "query") return new Map(call.query);
  const type = call.headers["content-type"] ?? "";
  if (form === "form") {
    if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return "the body must be a form";
    // RFC 6749, 3.2: no parameter may be given twice.
    const pairs = [...new URLSearchParams(call.text)];
    const fields = new Map(pairs);
    return fields.size === pairs.length ? fields : "a parameter was given twice";
  }
  if (!/^application\/json\b/i.test(type)) return "the body must be JSON";
  try {
    const parsed: unknown = JSON.parse(call.text);
    return new Map(
      Object.entries(parsed as Record<string, unknown>).map(([key, value]) => [key, String(value)]),
    );
  } catch {
    return "the body is not JSON";
  }
}

/** Null when id and secret are right and stand where the platform wants them. */
export function readClient(
  call: Call,
  fields: Map<string, string>,
  oauth: OAuth,
  name: (usual: "client_id" | "client_secret") => string,
): string | null {
  const basic = basicCredentials(call);
  const inBody = fields.get(name("client_secret"));
  if (basic && inBody !== undefined) return "the client signed in twice, by header and by body";
  if (basic && !oauth.clientAuth.includes("basic")) return "the client must sign in by its body";
  if (!basic && !oauth.clientAuth.includes("body")) return "the client must sign in by HTTP Basic";
  const id = basic ? decode(basic.user) : fields.get(name("client_id"));
  const secret = basic ? decode(basic.password) : inBody;
  return id === oauth.client.id && secret === oauth.client.secret
    ? null
    : "the client's id or secret is wrong";
}

/** RFC 6749, 2.3.1: both are form-encoded before they are put together. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

export function isVerifier(verifier: string | undefined, challenge: string): boolean {
  if (verifier === undefined || !/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const hashed = createHash("sha256").update(verifier).digest();
  const expected = Buffer.from(challenge, "base64url");
  return hashed.length === expected.length && timingSafeEqual(hashed, expected);
}
