// Hashes passwords with argon2id (19 MiB, two passes) in the thread pool, at most two at a time: the same pool resolves the
// host names of platforms, and a flood of sign-ins must not delay conversions.

import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { say } from "../kernel/messages/message.ts";
import { Denied, Refusal } from "../kernel/refusal.ts";

export const minPasswordLength = 12;
export const maxPasswordLength = 200;

export function checkNewPassword(password: string): void {
  if (password.length < minPasswordLength) throw new Refusal("password", say("password_too_short", { min: minPasswordLength }));
}

const derive = promisify(argon2);
/** The costs of new hashes. Only tests with many sign-ins change them. */
export const newHashCosts = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;
const maxAtOnce = 2;
const maxWaiting = 30;

let working = 0;
const waiting: (() => void)[] = [];

async function withLimit<T>(work: () => Promise<T>): Promise<T> {
  if (working >= maxAtOnce) {
    if (waiting.length >= maxWaiting) throw new Denied("unavailable", say("too_many_sign_ins"), 5);
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else working += 1;
  try {
    return await work();
  } finally {
    // The next in the queue takes over this slot, so that a new caller cannot overtake it.
    const next = waiting.shift();
    if (next) next();
    else working -= 1;
  }
}

/** Keyboards and systems differ in Unicode normalisation: the same password may arrive composed or decomposed. */
const bytesOf = (password: string) => Buffer.from(password.normalize("NFKC"), "utf8");

/** Returns the PHC string, which holds the costs: they can be raised later and old hashes still verify. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const { memory, passes, parallelism } = newHashCosts;
  const tag = await withLimit(() =>
    derive("argon2id", { memory, passes, parallelism, tagLength, message: bytesOf(password), nonce }),
  );
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", tagText = ""] = form.exec(hash) ?? [];
  const tag = Buffer.from(tagText, "base64");
  if (!tag.length) return false;
  const costs = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const nonce = Buffer.from(salt, "base64");
  const found = await withLimit(() => derive("argon2id", { ...costs, tagLength: tag.length, message: bytesOf(password), nonce }));
  return timingSafeEqual(found, tag);
}

const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
