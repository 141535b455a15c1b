// Reads the operator's configuration file, and applies it when the relay starts.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { FileText } from "../configFile/plan.ts";
import { lossText, summaryText } from "../configFile/diff.ts";
import { operatorRights, type Plan } from "../configFile/planning.ts";
import { openAccess } from "../access/access.ts";
import { Conflict, Refusal } from "../kernel/refusal.ts";
import type { Services } from "../server/services.ts";
import { readVariable, type Config } from "./config.ts";

/**
 * Reads and checks the file, so that a bad one is refused before an installation is created. References are read from the
 * environment, and from files whose paths are relative to the configuration file.
 */
export async function readConfigurationFile(path: string): Promise<FileText> {
  const { checkFile } = await import("../configFile/plan.ts");
  const text = readText(path);
  if (text === null) throw new Refusal("file", `The file ${path} cannot be read.`);
  const lookup = {
    variable: readVariable,
    file: (name: string) => readText(resolve(dirname(path), name)),
  };
  const file = { name: path, text, lookup };
  checkFile(file);
  return file;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

type Started = Pick<Services, "store" | "directory" | "mailer" | "owner" | "now" | "elapsed" | "onDefect">;

/** Returns the text to print. The start fails where the file would delete data: there is no one to ask. */
export async function applyAtStart(
  { publicUrl, transport, allowPrivate }: Config,
  { owner, elapsed, ...services }: Started,
  file: FileText,
): Promise<string> {
  const { applyFile } = await import("../configFile/apply.ts");
  const { store, now } = services;
  const by = { actor: "configuration file", now: now() };
  // The one of the dashboard opens later, when the address of the server is known.
  const access = openAccess({
    ...services,
    publicUrl,
    secret: store.accessSecret,
    trusted: transport.trusted,
  });
  try {
    const { plan, notes } = await applyFile(
      { ...services, access, allowPrivate, by, rights: operatorRights },
      file,
      {
        prune: false,
        owner,
        now,
        elapsed,
        confirm: async (planned) => refuseLosses(planned, file),
      },
    );
    const summary = plan.changes.length === 0 ? "no differences." : summaryText(plan);
    return [`Configuration: ${file.name}, ${summary}`, ...notes].map((line) => `${line}\n`).join("");
  } finally {
    await access.close();
  }
}

function refuseLosses(plan: Plan, { name }: FileText): void {
  const losses = lossText(plan);
  if (losses === "") return;
  throw new Conflict(
    "config",
    `${losses} A start deletes nothing: run 'cleancast apply ${name}' first, or change the file.`,
  );
}
