// The proof that a request to a host arrives here. A check sends a random challenge to the host, the public way; only a
// node of this installation knows the secret that answers it. The answer also says under which name, and how securely, the
// request came in, because that is what proxies get wrong. Nothing is kept: any node answers for any other.

import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

export const probePath = "/__cc/probe";

const challengeForm = /^[0-9a-f]{32}$/;

/** How a request arrived. */
export type Arrival = { host: string; https: boolean };

/** Made of the installation's one key, for this alone. */
export const probeSecret = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync("sha256", encryptionKey, "", "cleancast host probe", 32));

export const newChallenge = () => randomBytes(16).toString("hex");

const proofOf = (secret: Buffer, challenge: string, { host, https }: Arrival) =>
  createHmac("sha256", secret).update(`${challenge}\n${https}\n${host}`).digest("hex");

/** The answer to a challenge; null to what is none. */
export function answerTo([secret]: readonly Buffer[], challenge: unknown, arrival: Arrival) {
  if (!secret || typeof challenge !== "string" || !challengeForm.test(challenge)) return null;
  return { ...arrival, proof: proofOf(secret, challenge, arrival) };
}

/** How the challenge arrived here; "not ours" for the answer of another installation, null for what is no such answer. */
export function readAnswer(
  secrets: readonly Buffer[],
  challenge: string,
  body: string,
): Arrival | "not ours" | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return null;
  }
  const { host, https, proof } = (parsed ?? {}) as Record<string, unknown>;
  if (typeof host !== "string" || typeof https !== "boolean" || typeof proof !== "string") return null;
  const arrival = { host, https };
  const given = Buffer.from(proof);
  const isOurs = secrets
    .map((secret) => Buffer.from(proofOf(secret, challenge, arrival)))
    .some((expected) => given.length === expected.length && timingSafeEqual(given, expected));
  return isOurs ? arrival : "not ours";
}
