// Passwords: argon2id with 19 MiB and two passes, in the thread pool. A few at a time: the pool also looks up the names of
// platforms, and a flood of sign-ins must not make conversions wait.

import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Denied } from "../kernel/refusal.ts";

const derive = promisify(argon2);
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const maxAtOnce = 2;
const maxWaiting = 30;

let working = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (working >= maxAtOnce) {
    if (waiting.length >= maxWaiting)
      throw new Denied("unavailable", "Too many people sign in at this moment. Try again.", 5);
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else working += 1;
  try {
    return await work();
  } finally {
    // Who waits takes over the place, so that nobody gets between.
    const next = waiting.shift();
    if (next) next();
    else working -= 1;
  }
}

/** The same password may reach us composed or decomposed, as keyboards and systems differ. */
const bytesOf = (password: string) => Buffer.from(password.normalize("NFKC"), "utf8");

/** In the usual text form, with its costs: they can be raised later without locking anybody out. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await inTurn(() => derive("argon2id", { ...cost, message: bytesOf(password), nonce }));
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", tagText = ""] = form.exec(hash) ?? [];
  const tag = Buffer.from(tagText, "base64");
  if (!tag.length) return false;
  const costs = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const nonce = Buffer.from(salt, "base64");
  const found = await inTurn(() =>
    derive("argon2id", { ...costs, tagLength: tag.length, message: bytesOf(password), nonce }),
  );
  return timingSafeEqual(found, tag);
}

const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
