// Proves that a request to a host arrives here. A check sends a random challenge to the host, as a browser would; only a
// node of this installation knows the secret that answers it. The answer also contains the host and the scheme of the
// request, because proxies often get these wrong. Nothing is stored: any node can answer the challenge of any other.

import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

export const probePath = "/__cc/probe";

const challengeForm = /^[0-9a-f]{32}$/;

/** The host and scheme with which a request arrived. */
type Arrival = { host: string; https: boolean };

/** Derived from the installation's encryption key, for this purpose only. */
export const probeSecret = (encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync("sha256", encryptionKey, "", "cleancast host probe", 32));

export const newChallenge = () => randomBytes(16).toString("hex");

const proofOf = (secret: Buffer, challenge: string, { host, https }: Arrival) =>
  createHmac("sha256", secret).update(`${challenge}\n${https}\n${host}`).digest("hex");

/** Answers a challenge; null where it is not one. */
export function answerChallenge([secret]: readonly Buffer[], challenge: unknown, arrival: Arrival) {
  if (!secret || typeof challenge !== "string" || !challengeForm.test(challenge)) return null;
  return { ...arrival, proof: proofOf(secret, challenge, arrival) };
}

/** Reads an answer; "not ours" if another installation gave it, null if it is not one. */
export function readAnswer(secrets: readonly Buffer[], challenge: string, body: string): Arrival | "not ours" | null {
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
