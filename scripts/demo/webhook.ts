// The demo's webhook: a receiver on this machine, and the pushes of its history.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readAllowList } from "../../src/delivery/addresses.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { addWebhook } from "../../src/outbound/manage.ts";
import { findSite, type SiteContext } from "../../src/sites/manage.ts";
import type { PushCall } from "../../src/store/outbound/pushes.ts";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "./random.ts";
import { owner } from "./sites.ts";

/** The value of CLEANCAST_ALLOW_PRIVATE. */
export const allowedPrivate = "127.0.0.1";

export type Receiver = { url: string; close(): Promise<void> };

/** Accepts every request, as a data warehouse would. */
export async function startReceiver(): Promise<Receiver> {
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => response.setHeader("Content-Type", "application/json").end('{"stored":true}'));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export async function addDemoWebhook(context: SiteContext, siteId: string, receiver: Receiver, at: number): Promise<string> {
  const allow = readAllowList(allowedPrivate);
  if ("fault" in allow) throw new Error(allow.fault);
  const wanted = { url: `${receiver.url}/totals`, sendEmpty: true };
  const { webhook } = await addWebhook(context, findSite(context, siteId), wanted, {
    actor: owner,
    now: at,
    allow,
  });
  return webhook.id;
}

/** Closes the period that ends at `mark` and pushes it; a few pushes need a second attempt. */
export async function closeAndPush(
  store: Store,
  random: Random,
  key: { siteId: string; webhookId: string },
  mark: number,
): Promise<void> {
  const { siteId } = key;
  const head = (await store.periods.listHeads(mark, mark + 1)).find((one) => one.siteId === siteId);
  if (!head) return;
  const at = mark + random.integer(500, 9000);
  await store.periods.close({
    siteId,
    number: head.number,
    startsAt: head.endsAt,
    endsAt: mark,
    now: at,
    dueAt: at,
  });
  const lease = { owner: "demo", now: at, until: at + 30_000 };
  const push = await store.pushes.claim(key, lease);
  if (!push) return;
  const call = (startedAt: number, status: number): PushCall => ({
    id: ulid(startedAt),
    startedAt,
    durationMs: random.integer(40, 260),
    ok: status === 200,
    httpStatus: status,
    error: status === 200 ? null : `HTTP ${status}`,
    response: status === 200 ? '{"stored":true}' : "<h1>Bad Gateway</h1>",
  });
  const calls = random.chance(0.04) ? [call(at, 502), call(at + 5200, 200)] : [call(at, 200)];
  await store.pushes.settle({
    ...key,
    owner: lease.owner,
    number: push.period.number,
    at: (calls.at(-1)?.startedAt ?? at) + 100,
    calls,
    ok: true,
  });
}
