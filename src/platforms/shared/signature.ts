// Signs requests to a customer's endpoint as Standard Webhooks says, and reads the secrets of a connection.

import { Webhook as Signer } from "standardwebhooks";
import type { Setting } from "../platform.ts";

/** The previous secret stays valid for a while, so that receivers can switch. */
type SigningSecrets = { current: string; previous: { secret: string; until: number } | null };

/** The secrets that are valid now, the newest first. */
export function validSecrets({ current, previous }: SigningSecrets, now: number): [string, ...string[]] {
  return previous && previous.until > now ? [current, previous.secret] : [current];
}

export const signatureHeaderNames = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
type SignatureHeaders = Record<(typeof signatureHeaderNames)[number], string>;

/** Signs a body with all secrets that are valid. `id` is the same on every attempt, so that receivers can recognise repeats. */
export function signatureHeaders(secrets: SigningSecrets, id: string, body: string, now: number): SignatureHeaders {
  const time = new Date(now);
  const signatures = validSecrets(secrets, now).map((secret) => new Signer(secret).sign(id, time, body));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now / 1000)),
    "webhook-signature": signatures.join(" "),
  };
}

export const signingSetting = {
  name: "signing_secret",
  label: "Signing secret",
  help: "Signs each request as Standard Webhooks says. Leave it out, and the relay creates one and shows it once.",
  secret: true,
  signing: true,
  check: (value: string) => {
    const [, key = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value) ?? [];
    const bytes = Buffer.from(key, "base64").length;
    return bytes >= 24 && bytes <= 64 ? null : "must be whsec_ and the base64 of 24 to 64 bytes";
  },
} as const satisfies Setting;

// A connection keeps both secrets in one sealed setting: `current`, or `current previous until`.

export const writeSecrets = ({ current, previous }: SigningSecrets): string =>
  previous ? `${current} ${previous.secret} ${previous.until}` : current;

export function readSecrets(text: string): SigningSecrets {
  const [current = "", secret, until] = text.split(" ");
  return { current, previous: secret && until ? { secret, until: Number(until) } : null };
}
