// Runs all checks, from the machine to the sites. A check that fails is a finding, and does not end the others.

import { probeSchema } from "../store/schema/schemaProbe.ts";
import type { Store } from "../store/store.ts";
import { directoryOf } from "../sites/directory.ts";
import { checkChannels, checkMail } from "./channels.ts";
import { checkConnections } from "./connections.ts";
import { checkDatabase, checkGrowth } from "./database.ts";
import { checkCertificate, checkFiles } from "./files.ts";
import { error, warning, type Finding, type StoreContext, type DoctorContext } from "./finding.ts";
import { checkSettings, checkUrl } from "./installation.ts";
import { checkMachine, readMachine } from "./machine.ts";
import { checkSites } from "./sites.ts";
import { checkWeb } from "./web.ts";

export type DoctorOptions = DoctorContext & {
  open: () => Promise<Store>;
  /** Checks names, certificates and the mail server too. */
  network: boolean;
};

export async function runDoctor({ config, now, open, network }: DoctorOptions): Promise<Finding[]> {
  const context = { config, now };
  const machine = readMachine(config.dataFolder);
  const findings: Finding[] = [
    ...(await runCheck("the machine", () => checkMachine(context, machine))),
    ...(await runCheck("the files", () => checkFiles(context))),
    ...(await runCheck("the settings", () => checkSettings(context))),
    ...(await runCheck("the certificate", () => checkCertificate(context))),
    ...(network ? await runCheck("the mail server", () => checkMail(context)) : []),
  ];
  const schema = await runCheck("the schema", () => checkSchema(context));
  if (schema.some(({ level }) => level === "error")) return [...findings, ...schema];
  findings.push(...schema);

  let store: Store;
  try {
    store = await open();
  } catch (failure) {
    return [...findings, error(messageOf(failure), "Checks that need the database were skipped.")];
  }
  try {
    const directory = directoryOf(store);
    await directory.refresh();
    const withStore: StoreContext = { ...context, store, directory };
    return [
      ...findings,
      ...(await runCheck("the database", () => checkDatabase(withStore))),
      ...(await runCheck("the disk", () => checkGrowth(withStore, machine))),
      ...(await runCheck("CLEANCAST_URL", () => checkUrl(withStore))),
      ...(network ? await runCheck("the address from outside", () => checkWeb(withStore)) : []),
      ...(await runCheck("the sites", () => checkSites(withStore))),
      ...(await runCheck("the connections", () => checkConnections(withStore))),
      ...(await runCheck("alerts and webhooks", () => checkChannels(withStore))),
    ];
  } finally {
    await store.close();
  }
}

/** Runs before the store is opened: opening it would migrate the schema while a relay may be running. */
async function checkSchema({ config }: DoctorContext): Promise<Finding[]> {
  const { found, known, fits } = await probeSchema(config.store);
  if (found === 0 || found === known) return [];
  if (found < known)
    return [
      error(
        `the database has schema ${found}, this version needs ${known}`,
        "Stop the relay, take a backup, then run 'cleancast migrate' or start this version. Other checks were skipped.",
      ),
    ];
  if (fits)
    return [
      warning(
        `the database has schema ${found} of a newer version; this one knows ${known}, and is compatible with it`,
        "Finish the upgrade, or keep this version until you can repeat it. Backups, checks and a change of the encryption key need the newer version.",
      ),
    ];
  return [
    error(
      `the database has schema ${found}, this version only knows ${known}`,
      "Run the version that created it. Other checks were skipped.",
    ),
  ];
}

async function runCheck(subject: string, check: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (failure) {
    return [
      error(
        `${subject} could not be checked: ${messageOf(failure)}`,
        "Check that it exists and that this user may read it.",
      ),
    ];
  }
}

function messageOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : String(failure);
  return text.replace(/^Cleancast cannot start:\s*-\s*/, "").trim();
}
