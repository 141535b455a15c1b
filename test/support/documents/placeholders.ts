// Replaces the placeholders in the commands of a page with values, as a reader would.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { standinClient, standinConnections } from "../../../scripts/standinConnections.ts";
import { exampleSettings } from "../../../src/platforms/examples.ts";
import type { StandinId } from "../../../standins/index.ts";
import { call, eventually, type Relay } from "../relay.ts";
import { sha256Of } from "../sha256.ts";
import { botHeaders, personsAgent, report } from "../visits.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the shape differs with the command
export type Cleancast = (...args: string[]) => Promise<any>;

export type Reader = { cleancast: Cleancast; folder: string; relay: () => Promise<Relay> };

export const site = "shop.example.com";

/** Replaces SITE, ID, EVENT, VISIT, RUN, the time of a period and `name=…`. */
export async function fillIn(args: string[], reader: Reader): Promise<string[]> {
  const [, family = "", action = ""] = args;
  const filled: string[] = [];
  for (const [i, arg] of args.entries()) {
    const before = args[i - 1] ?? "";
    if (arg === "SITE") filled.push(site);
    else if (arg === "VISIT") filled.push(await botVisit(reader));
    else if (arg === "RUN") filled.push(await newestRun(reader));
    else if (arg === "EVENT" || (arg === "ID" && family === "event"))
      filled.push(action === "release" ? await filteredEvent(reader) : await newestEvent(reader));
    else if (arg === "ID") filled.push(await newestId(listOf(family, before), reader.cleancast));
    else if (before === "--user-agent" && arg.endsWith("…")) filled.push(personsAgent);
    else if (family === "connection" && args[2] === "add" && /^\w+=(?:…|@[\w.]+)$/.test(arg))
      filled.push(settingOf(args[4] ?? "", arg, reader.folder));
    else if (family === "source" && /^\w+=(?:…|@[\w.-]+)$/.test(arg))
      filled.push(given(arg, "whsec_ZXhhbXBsZQ==", reader.folder));
    else if (family === "oauth" && /^client_\w+=/.test(arg)) filled.push(clientSetting(args[4] as StandinId, arg, reader.folder));
    else if (before === "--period") filled.push(await pushedPeriod(reader));
    else filled.push(arg.replace(/(?<=\/)…$/, "example"));
  }
  const open = filled.find((arg) => arg.includes("…"));
  if (open !== undefined) throw new Error(`the page has no value for "${open}"`);
  return filled;
}

/** Returns the list that shows the id which a command takes. */
function listOf(family: string, before: string): string {
  const isConnection = before === "--connection" || family === "backfill";
  return isConnection ? "connection" : family;
}

async function newestId(family: string, cleancast: Cleancast): Promise<string> {
  type Listed = { id: string; createdAt?: number };
  const list = Object.values((await cleancast(family, "list")) as object).find(Array.isArray) as Listed[];
  const newest = list.toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0)).at(-1);
  if (!newest) throw new Error(`there is no ${family} whose ID could be used`);
  return newest.id;
}

async function newestRun({ cleancast }: Reader): Promise<string> {
  return String((await cleancast("reconcile", "list", site)).items[0]?.id);
}

/** Returns the newest event; sends one if there is none. */
async function newestEvent({ cleancast, relay }: Reader): Promise<string> {
  const newest = async () => (await cleancast("event", "list")).items[0]?.id as string | undefined;
  return (await newest()) ?? (await sendOne("ada@example.com", cleancast, relay).then(newest)) ?? "";
}

/** Sends an event of a person who was seen only as a bot, and returns it. A starved relay may look the person up too late. */
async function filteredEvent({ cleancast, relay }: Reader): Promise<string> {
  const newest = async () => (await cleancast("event", "list", site, "--filtered")).items[0]?.id as string | undefined;
  let people = 0;
  await eventually("an event is filtered", async () => {
    const email = `bo${people++}@example.com`;
    await report(await relay(), site, "identify", { emails: [sha256Of(email)] }, botHeaders);
    await sendOne(email, cleancast, relay);
    return (await newest()) !== undefined;
  });
  return String(await newest());
}

async function sendOne(email: string, cleancast: Cleancast, relay: Reader["relay"]): Promise<void> {
  const { key } = await cleancast("key", "add", site, "the one before");
  const event = { email, event: "purchase", value: 49.9, orderId: "A-1000" };
  const started = await relay();
  await eventually("the key is known", async () => (await started.post(key, event)).status === 200);
}

/** Returns a visit of a bot, which is reported first. */
async function botVisit({ cleancast, relay }: Reader): Promise<string> {
  await report(await relay(), site, "visit", {}, botHeaders);
  const newest = async () => (await cleancast("traffic", "bots", site)).items[0]?.id as string | undefined;
  await eventually("the visit is stored", async () => (await newest()) !== undefined);
  return String(await newest());
}

/** Returns the beginning of a period whose totals were pushed to the newest webhook. */
async function pushedPeriod({ cleancast, relay }: Reader): Promise<string> {
  await relay();
  const id = await newestId("webhook", cleancast);
  type Line = { ok: boolean; period: { startsAt: number } | null };
  const pushed = async () =>
    ((await cleancast("webhook", "show", id)).pushes.items as Line[]).find(({ ok, period }) => ok && period)?.period;
  await eventually("a period is pushed", async () => Boolean(await pushed()));
  return new Date((await pushed())?.startsAt ?? 0).toISOString();
}

/** Sends two events, and returns the cursor of the second page of one event each. */
export async function nextCursor(reader: Reader, apiKey: string, siteId: string): Promise<string> {
  for (const email of ["cy@example.com", "di@example.com"]) await sendOne(email, reader.cleancast, reader.relay);
  const path = `/api/v1/sites/${siteId}/events?limit=1`;
  const headers = { Authorization: `Bearer ${apiKey}` };
  const { text } = await call((await reader.relay()).url, { method: "GET", path, headers });
  return encodeURIComponent(String(JSON.parse(text).next));
}

/** Returns the setting of an OAuth app that the platform's stand-in accepts. */
function clientSetting(platformId: StandinId, arg: string, folder: string): string {
  const { clientId, clientSecret } = standinClient(platformId);
  return given(arg, arg.startsWith("client_id=") ? clientId : clientSecret, folder);
}

/** Returns a setting that the platform's stand-in accepts, else that of the platform's first example. */
function settingOf(platformId: string, arg: string, folder: string): string {
  const [name = ""] = arg.split("=");
  const known = (standinConnections as Record<string, Readonly<Record<string, string>>>)[platformId];
  const example = exampleSettings(platformId);
  const value = known?.[name] ?? example[name];
  if (value === undefined) throw new Error(`no example of ${platformId} has a ${name}`);
  return given(arg, value, folder);
}

/** Puts the value in place of `…`, or into the file that `name=@file` names. */
function given(arg: string, value: string, folder: string): string {
  const [name = "", placeholder = ""] = arg.split("=");
  if (!placeholder.startsWith("@")) return `${name}=${value}`;
  writeFileSync(join(folder, placeholder.slice(1)), value);
  return arg;
}
