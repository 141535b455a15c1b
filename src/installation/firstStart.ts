// Creates a site, a key and a sandbox connection at the first start, so that a first request works within a minute.

import { setTimeout as sleep } from "node:timers/promises";
import type { Access } from "../access/access.ts";
import type { Directory } from "../sites/directory.ts";
import { connect } from "../sites/connect.ts";
import { addKey, addSite } from "../sites/manage.ts";
import type { Store } from "../store/store.ts";

/** Lets one node at a time prepare the first start. The lock of a node that crashed expires soon. */
const lock = { key: "first start", max: 1, windowMs: 10_000 };
const pollMs = 100;

type Welcome = (address: string) => string;

/** Returns the text to print, or null when the installation already has a site. */
export async function prepareFirstStart(store: Store, directory: Directory, now: () => number): Promise<Welcome | null> {
  while (await isFirstStart(store, directory)) {
    if ((await store.rateCounters.count([lock], now())) === 0) {
      try {
        return await createFirstSite(store, directory, now());
      } finally {
        // The lock expires by itself too; the new key must be shown in any case.
        await store.rateCounters.reset([lock.key]).catch(() => {});
      }
    }
    // Another node on the same database prepares the first start.
    await sleep(pollMs);
    await directory.refresh();
  }
  return null;
}

/** An installation whose sites were all deleted had its first start. */
async function isFirstStart(store: Store, directory: Directory): Promise<boolean> {
  return isNeeded(directory) && (await store.deletedSites.listSince(-1)).length === 0;
}

/** True where there is no site yet, or where a first start was interrupted before it created its key. */
function isNeeded(directory: Directory): boolean {
  const [first, second] = [...directory.sites()];
  return !first || (!second && first.hosts.includes("localhost") && first.keys.length === 0);
}

async function createFirstSite(store: Store, directory: Directory, now: number): Promise<Welcome | null> {
  // Another node may have finished before this one got the lock.
  await directory.refresh();
  if (!isNeeded(directory)) return null;
  const context = { store, directory };
  const by = { actor: "first start", now, checkAddress: () => null };
  const [interrupted] = [...directory.sites()];
  const site = interrupted ?? (await addSite(context, "localhost", by));
  await connect(context, site, "sandbox", {}, by);
  // The key comes last: it marks the first start as complete.
  const { key } = await addKey(context, site, { name: "first key", mode: "live", expiresAt: null }, by);
  return (address) => welcomeText(address, key);
}

/** The line that is printed at every start until there is an owner; empty afterwards. */
export async function readOwnerLine(access: Pick<Access, "createSetupLink">, origin: string): Promise<string> {
  try {
    const link = await access.createSetupLink(origin);
    return link === null ? "" : `Open the dashboard and create the owner: ${link}\n`;
  } catch (error) {
    // A relay must start while a machine of a sharded database is down, and configuration cannot be written.
    const reason = error instanceof Error ? error.message : String(error);
    return `There is no owner yet, and no link to create one could be stored (${reason}). Later, run: cleancast member add EMAIL --role owner\n`;
  }
}

function welcomeText(address: string, key: string): string {
  const body = `'{"email":"ada@example.com","event":"purchase","value":49.90,"currency":"EUR","orderId":"A-'"$(date +%s)-$RANDOM"'"}'`;
  return `
First start: created the site localhost, its inbound key and a sandbox connection.
Send a first conversion. The key in this line is shown only once: keep it on your server. If this output is stored in a
log, revoke this key after testing.

curl -sS${address.startsWith("https") ? "k" : ""} ${address}/__cc/inbound -H 'X-CC-Api-Key: ${key}' -H 'Content-Type: application/json' -d ${body}

Then look at it in the dashboard, or run: npx cleancast event list
`;
}
