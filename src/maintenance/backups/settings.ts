// Reads the settings of backups from their texts, and names the variable of a value that is wrong.

import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { dayMs } from "../../kernel/time.ts";
import { decodeKey } from "../encryptionKeys.ts";
import type { BackupSecret } from "./encryption.ts";
import type { Retention } from "./folder.ts";
import type { Hook } from "./hook.ts";
import { readSchedule, type Schedule } from "./schedule.ts";

type BackupSettings = {
  /** Null where no folder is set: `cleancast backup FILE` works without. */
  folder: string | null;
  /** Null where the relay makes no backups by itself. */
  schedule: Schedule | null;
  retention: Retention;
  /** Encrypts every backup; null where backups are not encrypted. */
  secret: BackupSecret | null;
  hook: Hook | null;
};

type BackupTexts = {
  folder: string | undefined;
  times: string;
  keep: number;
  keepDays: number;
  key: string | undefined;
  passphrase: string | undefined;
  hook: string | undefined;
  hookMs: number;
  environment: Hook["environment"];
};

export function readBackupSettings(texts: BackupTexts, faults: string[]): BackupSettings {
  const { folder, keep, keepDays, hook, hookMs, environment } = texts;
  return {
    folder: folder === undefined ? null : resolve(folder),
    schedule: readTimes(texts.times, faults),
    retention: { count: keep, maxAgeMs: keepDays === 0 ? null : keepDays * dayMs },
    secret: readSecret(texts.key, texts.passphrase, faults),
    hook: hook === undefined ? null : { program: readHook(hook, faults), timeoutMs: hookMs, environment },
  };
}

function readTimes(text: string, faults: string[]): Schedule | null {
  if (text.toLowerCase() === "off") return null;
  const schedule = readSchedule(text);
  if (!schedule) faults.push(`CLEANCAST_BACKUP_TIMES is "${text}"; set it to UTC times like 03:00,15:00, or off.`);
  return schedule;
}

const minPassphrase = 12;

/** The messages do not repeat a secret. */
function readSecret(key: string | undefined, passphrase: string | undefined, faults: string[]): BackupSecret | null {
  if (key !== undefined && passphrase !== undefined)
    faults.push("CLEANCAST_BACKUP_KEY and CLEANCAST_BACKUP_PASSPHRASE are both set; keep one of them.");
  if (key !== undefined) {
    const bytes = decodeKey(key);
    if (bytes) return { kind: "key", key: bytes };
    faults.push("CLEANCAST_BACKUP_KEY must be 32 bytes as 64 hex characters or as base64; make one with: openssl rand -hex 32");
  }
  if (passphrase === undefined) return null;
  if (passphrase.length < minPassphrase)
    faults.push(`CLEANCAST_BACKUP_PASSPHRASE must have ${minPassphrase} characters or more.`);
  return { kind: "passphrase", passphrase };
}

/** A hook that cannot run must be found at the start and not in the night. */
function readHook(text: string, faults: string[]): string {
  const program = resolve(text);
  try {
    accessSync(program, constants.X_OK);
    if (statSync(program).isFile()) return program;
  } catch {
    // The fault below says what is wrong.
  }
  faults.push(`CLEANCAST_BACKUP_HOOK is "${text}"; set it to an executable file. Arguments belong into a script.`);
  return program;
}
