// Runs the operator's program after a backup, for example to copy the file to another place. No shell reads its name or its
// arguments, and it gets none of the relay's secrets.

import { spawn } from "node:child_process";
import type { StoredBackup } from "./folder.ts";

export type Hook = {
  program: string;
  timeoutMs: number;
  /** The variables of this process without its own settings. */
  environment: Readonly<Record<string, string | undefined>>;
};

export type HookResult = { ok: true; output: string } | { ok: false; reason: string; output: string };

const maxOutput = 4000;
/** After the timeout, the program has this long to end by itself. */
const graceMs = 5000;

export function runHook(
  { program, timeoutMs, environment }: Hook,
  { file, madeAt, bytes }: StoredBackup,
  isEncrypted: boolean,
): Promise<HookResult> {
  const env = {
    ...environment,
    BACKUP_FILE: file,
    BACKUP_BYTES: String(bytes),
    BACKUP_MADE_AT: new Date(madeAt).toISOString(),
    BACKUP_ENCRYPTED: String(isEncrypted),
  };
  // A group of its own, so that the programs that it starts end with it.
  const child = spawn(program, [file], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-maxOutput)));
  let isLate = false;
  const end = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended already.
    }
  };
  return new Promise((resolve) => {
    let killer: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => {
      isLate = true;
      end("SIGTERM");
      killer = setTimeout(() => end("SIGKILL"), graceMs);
    }, timeoutMs);
    const finish = (reason: string | null) => {
      clearTimeout(timer);
      clearTimeout(killer);
      const text = output.trim();
      resolve(reason === null ? { ok: true, output: text } : { ok: false, reason, output: text });
    };
    child.on("error", (error) => finish(`${program} could not be started (${error.message})`));
    child.on("close", (code, signal) => {
      if (isLate) finish(`${program} did not end within ${timeoutMs / 1000} seconds`);
      else if (code === 0) finish(null);
      else finish(`${program} ended with ${code === null ? String(signal) : `exit code ${code}`}`);
    });
  });
}
