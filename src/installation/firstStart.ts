// The first start: a site, a key and the sandbox, so that the first request works within a minute of the clone.

import { setTimeout as sleep } from "node:timers/promises";
import type { Access } from "../access/access.ts";
import type { Directory } from "../sites/directory.ts";
import { connect } from "../sites/connect.ts";
import { addKey, addSite } from "../sites/manage.ts";
import type { Store } from "../store/store.ts";

/** One node at a time. Who was killed over it is taken the turn from soon. */
const turn = { key: "first start", max: 1, windowMs: 10_000 };
const turnPauseMs = 100;

/** Returns what to show, or null when the installation has a site already. */
export async function firstStart(
  store: Store,
  directory: Directory,
  now: () => number,
): Promise<((address: string) => string) | null> {
  while (isToDo(directory)) {
    if ((await store.rateCounters.count([turn], now())) === 0) {
      try {
        return await makeFirst(store, directory, now());
      } finally {
        // It ends by itself as well; the key that was made must be shown.
        await store.rateCounters.reset([turn.key]).catch(() => {});
      }
    }
    // Another node of the same database is at it.
    await sleep(turnPauseMs);
    await directory.refresh();
  }
  return null;
}

/** Nothing was made yet, or a first start was cut off before its key was made. */
function isToDo(directory: Directory): boolean {
  const [first, second] = [...directory.sites()];
  return !first || (!second && first.hosts.includes("localhost") && first.keys.length === 0);
}

async function makeFirst(
  store: Store,
  directory: Directory,
  now: number,
): Promise<((address: string) => string) | null> {
  // What is known may be of before the turn was ours.
  await directory.refresh();
  if (!isToDo(directory)) return null;
  const desk = { store, directory };
  const by = { actor: "first start", now, checkAddress: () => null };
  const [cutOff] = [...directory.sites()];
  const site = cutOff ?? (await addSite(desk, "localhost", by));
  await connect(desk, site, "sandbox", {}, by);
  // Last: with it, all is there.
  const { key } = await addKey(desk, site, { name: "first key", mode: "live", expiresAt: null }, by);
  return (address) => welcome(address, key);
}

/** What to show at every start until somebody is the owner; empty afterwards. */
export async function ownerLine(access: Pick<Access, "setupLink">, origin: string): Promise<string> {
  const link = await access.setupLink(origin);
  return link === null ? "" : `Open the dashboard and create the owner: ${link}\n`;
}

function welcome(address: string, key: string): string {
  const body =
    `'{"email":"ada@example.com","event":"purchase","value":49.90,"currency":"EUR",` +
    `"orderId":"A-'"$(date +%s)-$RANDOM"'"}'`;
  return `
First start: made the site localhost, its inbound key and the sandbox connection.
Send a first conversion. The key in this line is shown only once: keep it on your server. Where these lines went into a
service's log, revoke it when you have tried it.

curl -sS${address.startsWith("https") ? "k" : ""} ${address}/__cc/inbound -H 'X-CC-Api-Key: ${key}' -H 'Content-Type: application/json' -d ${body}

Then look at it in the dashboard, or: npx --no-install cleancast event list
`;
}
