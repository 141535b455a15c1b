// The first start: a site, a key and the sandbox, so that the first request works within a minute of the clone.

import type { Access } from "./access/access.ts";
import type { Directory } from "./sites/directory.ts";
import { connect } from "./sites/connect.ts";
import { addKey, addSite } from "./sites/manage.ts";
import type { Store } from "./store/store.ts";

/** Returns what to show, or null when the installation has a site already. */
export async function firstStart(
  store: Store,
  directory: Directory,
  now: number,
): Promise<((address: string) => string) | null> {
  const [known, second] = [...directory.sites()];
  // A first start that was cut off before its key was made is taken up again.
  const cutOff = known && !second && known.hosts.includes("localhost") && known.keys.length === 0;
  if (known && !cutOff) return null;
  const desk = { store, directory };
  const by = { actor: "first start", now, checkAddress: () => null };
  let site = known;
  try {
    site ??= await addSite(desk, "localhost", by);
  } catch (error) {
    // Another node of the same database was faster.
    await directory.refresh();
    if ([...directory.sites()].length > 0) return null;
    throw error;
  }
  const { key } = await addKey(desk, site, { name: "first key", mode: "live", expiresAt: null }, by);
  await connect(desk, site, "sandbox", {}, by);
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
