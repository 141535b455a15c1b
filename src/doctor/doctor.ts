// All checks, in the order in which one would look. One that fails says so and does not end the others.

import { probeSchema } from "../store/schema/schemaProbe.ts";
import type { Store } from "../store/store.ts";
import { directoryOf } from "../sites/directory.ts";
import { checkCertificate } from "./certificate.ts";
import { checkChannels, checkMail } from "./channels.ts";
import { checkConnections } from "./connections.ts";
import { checkDatabase, checkRoom } from "./database.ts";
import { checkFiles } from "./files.ts";
import { error, warning, type Finding, type Patient, type Surroundings } from "./finding.ts";
import { checkSettings, checkUrl } from "./installation.ts";
import { checkMachine, thisMachine } from "./machine.ts";
import { checkSites } from "./sites.ts";
import { checkWeb } from "./web.ts";

export type Examination = Surroundings & {
  open: () => Promise<Store>;
  /** Asks names, certificates and the mail server too. */
  network: boolean;
};

export async function examine({ config, now, open, network }: Examination): Promise<Finding[]> {
  const around = { config, now };
  const machine = thisMachine(config.dataFolder);
  const findings: Finding[] = [
    ...(await made("the machine", () => checkMachine(around, machine))),
    ...(await made("the files", () => checkFiles(around))),
    ...(await made("the settings", () => checkSettings(around))),
    ...(await made("the certificate", () => checkCertificate(around))),
    ...(network ? await made("the mail server", () => checkMail(around)) : []),
  ];
  const behind = await made("the schema", () => checkSchema(around));
  if (behind.some(({ level }) => level === "error")) return [...findings, ...behind];
  findings.push(...behind);

  let store: Store;
  try {
    store = await open();
  } catch (failure) {
    return [...findings, error(sentenceOf(failure), "What rests on the data was not looked at.")];
  }
  try {
    const directory = directoryOf(store);
    await directory.refresh();
    const patient: Patient = { ...around, store, directory };
    return [
      ...findings,
      ...(await made("the database", () => checkDatabase(patient))),
      ...(await made("the disk", () => checkRoom(patient, machine))),
      ...(await made("CLEANCAST_URL", () => checkUrl(patient))),
      ...(network ? await made("the way from outside", () => checkWeb(patient)) : []),
      ...(await made("the sites", () => checkSites(patient))),
      ...(await made("the connections", () => checkConnections(patient))),
      ...(await made("alerts and webhooks", () => checkChannels(patient))),
    ];
  } finally {
    await store.close();
  }
}

/** Looked at before the store is opened, which would bring it up to date under the feet of a relay that runs. */
async function checkSchema({ config }: Surroundings): Promise<Finding[]> {
  const { found, known, fits } = await probeSchema(config.store);
  if (found === 0 || found === known) return [];
  if (found < known)
    return [
      error(
        `the database has schema ${found}, this version wants ${known}`,
        "Stop the relay, take a backup, then run 'cleancast migrate' or start this version. Nothing else was looked at.",
      ),
    ];
  if (fits)
    return [
      warning(
        `the database has schema ${found} of a newer version; this one knows ${known}, and can work with it`,
        "Finish the upgrade, or stay here until it can be tried again. Backups, checks and a change of the encryption key need the newer version.",
      ),
    ];
  return [
    error(
      `the database has schema ${found}, and this version knows ${known} only`,
      "Run the version that made it. Nothing else was looked at.",
    ),
  ];
}

async function made(what: string, check: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (failure) {
    return [
      error(
        `${what} could not be looked at: ${sentenceOf(failure)}`,
        "Is it there, and may this user read it?",
      ),
    ];
  }
}

function sentenceOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : String(failure);
  return text.replace(/^Cleancast cannot start:\s*-\s*/, "").trim();
}
