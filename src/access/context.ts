// What the files of this room share.

import type { IncomingMessage } from "node:http";
import { clientAddress, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Store } from "../store/store.ts";
import { addressHeader, type Library } from "./betterAuth.ts";

export type Mail = (
  to: readonly string[],
  subject: string,
  text: string,
) => Promise<{ ok: true } | { ok: false; error: string }>;

export type AccessOptions = {
  store: Store;
  directory: Directory;
  /** Null where no mail can be sent: links are shown instead, to be passed on. */
  mailer: Mail | null;
  /** How browsers reach this relay, without a slash at the end. */
  publicUrl: string;
  /** See `readAccessSecret` in store/maintenance/encryptionKeyCheck.ts. */
  secret: string;
  /** Whose word about a caller's address is believed. */
  trusted: TransportRules["trusted"];
  now: () => number;
  onDefect: (error: unknown) => void;
};

export type AccessParts = AccessOptions & {
  library: () => Promise<Library>;
  /** Work that nobody waits for; it is waited for when the relay stops. */
  inBackground: (work: () => Promise<void>) => void;
};

/** A request; Fastify's is one. */
export type Caller = { raw: IncomingMessage };

/** Values of Set-Cookie. */
export type Cookies = string[];

export const addressOf = ({ trusted }: AccessParts, { raw }: Caller) => clientAddress(raw, trusted);

const cookieNames = { session: "cleancast.session_token", code: "cleancast.two_factor" } as const;

/** The cookies of one kind alone: a code finishes a sign-in, whoever else is signed in with this browser. */
export function cookiesOf({ raw }: Caller, kind: keyof typeof cookieNames): string {
  return (raw.headers.cookie ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one.split("=", 1)[0]?.endsWith(cookieNames[kind]))
    .join("; ");
}

/** What a cookie holds: the token of a session, or the name of a sign-in that waits for its code. */
export function valueIn(cookies: string, kind: keyof typeof cookieNames): string {
  const form = new RegExp(`${cookieNames[kind].replace(".", "\\.")}=([^;]+)`, "g");
  // Of several that are set, a browser keeps the last. A signature follows, in which no point stands.
  return decoded([...cookies.matchAll(form)].at(-1)?.[1] ?? "").replace(/\.[^.]*$/, "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** What the library is told of a request: nothing that it could mistake for something else. */
export function headersFor(parts: AccessParts, caller: Caller, kind: keyof typeof cookieNames): Headers {
  const headers = new Headers({ [addressHeader]: addressOf(parts, caller) });
  const cookie = cookiesOf(caller, kind);
  if (cookie) headers.set("cookie", cookie);
  const agent = caller.raw.headers["user-agent"]?.slice(0, 300);
  if (agent) headers.set("user-agent", agent);
  return headers;
}

/** The library's word for what went wrong; null for anything else than its own refusals. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("body" in error)) return null;
  const { body } = error;
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "string" ? code : null;
}

export const statusOf = (error: unknown) =>
  error instanceof Error && "statusCode" in error ? error.statusCode : null;

/** As the library has it: an address that it does not take could never sign in. */
const emailForm = /^(?:[a-z0-9_'+-]+\.)*[a-z0-9_'+-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

export const plainEmail = (text: string) => text.trim().toLowerCase();
export const isEmail = (text: string) => text.length <= 254 && emailForm.test(text);

export function readEmail(text: string): string {
  const plain = plainEmail(text);
  if (!isEmail(plain)) throw new Refusal("email", "This is not an email address.");
  return plain;
}

export const minPasswordLength = 12;

export function checkNewPassword(password: string): void {
  if (password.length < minPasswordLength)
    throw new Refusal("password", `A password has at least ${minPasswordLength} characters.`);
}
