// Defines the types that the files of this folder share: options, the caller, cookies.

import type { IncomingMessage } from "node:http";
import { clientAddress, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import type { BetterAuth } from "./betterAuth.ts";
import type { GuardedSend, SingleSignOnSettings } from "./singleSignOn/settings.ts";

type Mailer = (to: readonly string[], subject: string, text: string) => Promise<{ ok: true } | { ok: false; error: string }>;

export type AccessOptions = {
  store: Store;
  directory: Directory;
  /** Null without a mail server: links are shown instead, to be passed on. */
  mailer: Mailer | null;
  /** The URL under which browsers reach this relay, without a trailing slash. */
  publicUrl: string;
  /** See `readAccessSecret` in store/maintenance/encryptionKeyCheck.ts. */
  secret: string;
  /** Proxies that are trusted to name the caller's address. */
  trusted: TransportRules["trusted"];
  /** The OpenID provider; absent where people sign in with passwords alone. */
  singleSignOn?: { settings: SingleSignOnSettings; send: GuardedSend } | null;
  /** False where people sign in at the provider alone. */
  passwords?: boolean;
  now: () => number;
  onDefect: (error: unknown) => void;
};

export type AccessContext = AccessOptions & {
  /** Loads better-auth at the first call. */
  auth: () => Promise<BetterAuth>;
  /** Runs work that no request waits for; closing waits for it. */
  inBackground: (work: () => Promise<void>) => void;
};

/** A request, such as Fastify's. */
export type Caller = { raw: IncomingMessage };

/** Values of `Set-Cookie`. */
export type Cookies = string[];

export const addressOf = ({ trusted }: AccessContext, { raw }: Caller) => clientAddress(raw, trusted);
