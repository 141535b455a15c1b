// Runs all checks, from the machine to the sites. A check that fails is a finding, and does not stop the others.

import { ConfigFaults } from "../installation/config.ts";
import { inEnglish } from "../kernel/messages/message.ts";
import { explainDatabaseError } from "../installation/databaseErrors.ts";
import { noInstallation } from "../installation/installation.ts";
import { sqlState } from "../store/engine/postgres/errors.ts";
import { UnreleasedSchema } from "../store/schema/generation.ts";
import { probeSchema } from "../store/schema/schemaProbe.ts";
import type { Store } from "../store/store.ts";
import { createDirectory } from "../sites/directory.ts";
import { checkBackups } from "./backups.ts";
import { checkChannels, checkMail } from "./channels.ts";
import { checkConnections } from "./connections.ts";
import { checkDatabase, checkGrowth } from "./database.ts";
import { checkCertificate, checkFiles } from "./files.ts";
import { error, warning, type AsyncFindings, type Finding, type StoreContext, type DoctorContext } from "./finding.ts";
import { checkSettings, checkUrl } from "./installation.ts";
import { checkMachine, readMachine } from "./machine.ts";
import { checkMembers, checkSingleSignOn } from "./members.ts";
import { checkSites } from "./sites.ts";
import { checkWeb } from "./web.ts";

type DoctorOptions = DoctorContext & {
  open: () => Promise<Store>;
  /** Checks names, certificates and the mail server too. */
  network: boolean;
};

type Checked = Iterable<Finding> | AsyncIterable<Finding> | Promise<Finding[]>;

export async function runDoctor({ config, now, open, network }: DoctorOptions): Promise<Finding[]> {
  const context = { config, now };
  const machine = readMachine(config.dataFolder);
  const findings: Finding[] = [];
  const run = async (subject: string, check: () => Checked): Promise<void> => {
    try {
      findings.push(...inEnglish(await Array.fromAsync(await check())));
    } catch (failure) {
      findings.push(
        failure instanceof UnreleasedSchema
          ? error(failure.message, "Checks that need the database were skipped.")
          : error(
              `${subject} could not be checked: ${messageOf(failure)}`,
              "Check that it exists and that this user may read it.",
            ),
      );
    }
  };
  await run("the machine", () => checkMachine(context, machine));
  await run("the files", () => checkFiles(context));
  await run("the settings", () => checkSettings(context));
  await run("the certificate", () => checkCertificate(context));
  if (network) {
    await run("the mail server", () => checkMail(context));
    await run("the OpenID provider", () => checkSingleSignOn(context));
  }
  const before = findings.length;
  await run("the schema", () => checkSchema(context));
  if (findings.slice(before).some(({ level }) => level === "error")) return findings;

  let store: Store;
  try {
    store = await open();
  } catch (failure) {
    return [...findings, error(messageOf(failure), "Checks that need the database were skipped.")];
  }
  try {
    const directory = createDirectory(store);
    try {
      await directory.refresh();
    } catch (failure) {
      return [...findings, error(messageOf(failure), "Checks that need the configuration were skipped.")];
    }
    const withStore: StoreContext = { ...context, store, directory };
    await run("the database", () => checkDatabase(withStore));
    await run("the disk", () => checkGrowth(withStore, machine));
    await run("the backups", () => checkBackups(withStore));
    await run("CLEANCAST_URL", () => checkUrl(withStore));
    if (network) await run("the address from outside", () => checkWeb(withStore));
    await run("the sites", () => checkSites(withStore));
    await run("the connections", () => checkConnections(withStore));
    await run("alerts and webhooks", () => checkChannels(withStore));
    await run("the members", () => checkMembers(withStore));
    return findings;
  } finally {
    await store.close();
  }
}

/** Runs before the store is opened: opening it would migrate the schema while a relay may be running. */
async function* checkSchema({ config }: DoctorContext): AsyncFindings {
  const probed = await probeSchema(config.store).catch((failure: unknown) => {
    const { store } = config;
    if (store.engine === "sqlite" || sqlState(failure) === "") throw failure;
    return explainDatabaseError(store.url, failure, "DATABASE_URL");
  });
  if ("what" in probed) {
    yield error(probed.what, probed.remedy);
    return;
  }
  const { found, known, fits } = probed;
  if (found === known) return;
  if (found === 0) yield { level: "error", what: noInstallation(config).message };
  else if (found < known)
    yield error(
      `the database has schema ${found}, this version needs ${known}`,
      "Stop the relay, take a backup, then run 'cleancast migrate' or start this version. Other checks were skipped.",
    );
  else if (fits)
    yield warning(
      `the database has schema ${found} of a newer version; this one knows ${known}, and is compatible with it`,
      "Finish the upgrade, or keep this version until you can repeat it. Backups, checks and a change of the encryption key need the newer version.",
    );
  else
    yield error(
      `the database has schema ${found}, this version only knows ${known}`,
      "Run the version that created it. Other checks were skipped.",
    );
}

function messageOf(failure: unknown): string {
  if (failure instanceof ConfigFaults) return failure.faults.join(" ");
  return failure instanceof Error ? failure.message : String(failure);
}
