// Proves a connection: asks the platform, with a call that counts nothing, if it would take conversions. So a wrong token or
// pixel is known before the first conversion. The check never keeps a connection from being saved.

import { within } from "../kernel/deadline.ts";
import type { Conversion, Reading } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import type { ConnectionSettings, Platform, PlatformResponse, Proof } from "../platforms/platform.ts";
import { isSuccess, readStatus, shorten } from "../platforms/shared/response.ts";
import { sampleConversion } from "../platforms/shared/sample.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { ProofRow } from "../store/sites/proofs.ts";
import type { Store } from "../store/store.ts";
import { exchange, exchangeWithoutToken, redactSecrets } from "./exchange.ts";
import type { Tokens } from "./oauth/tokens.ts";
import { isSelected } from "./plan.ts";
import type { Sender } from "./send.ts";
import { sampleNow } from "./testDelivery.ts";

type Clients = { sender: Sender; tokens: Tokens };
type Context = Clients & { store: Pick<Store, "proofs">; directory: Directory; now: () => number };

/** The state of a connection's proof, as people see it. */
export type ProofState = {
  state: "proven" | "unproven";
  /** Why it is not proven. */
  reason: string | null;
  /** When it was last proven; null if it never was, with its present settings. */
  provenAt: number | null;
  /** When the platform was last asked; null if it never was. */
  checkedAt: number | null;
  /** What the check does not cover. */
  unchecked: string | null;
  /** False where the platform has no call that would prove it. */
  isCheckable: boolean;
};

/** A call ends earlier; this also covers the renewal of a token before it. */
const timeoutMs = 20_000;

/** Asks the platform and stores the result. Never throws for a reason that lies with the platform or the settings. */
export async function proveConnection(context: Context, connection: Connection): Promise<ProofState> {
  if (isBuiltIn(connection)) return readProofState(context.store, connection, null);
  const asked = ask(context, connection, context.now());
  const reason = await within(timeoutMs, asked, "too slow").catch(
    () => "the check could not be finished; try again",
  );
  await saveProof(context, connection, reason);
  return readProofState(context.store, connection, null);
}

/** A test event that the platform accepted proves the connection too. */
export async function proveByTest(
  context: Omit<Context, keyof Clients>,
  connection: Connection,
): Promise<void> {
  if (!platformOf(connection.platform)?.acceptsEverything) await saveProof(context, connection, null);
}

/** The result is of the settings that were used: a connection that was changed meanwhile is asked again by that change. */
async function saveProof(
  { store, directory, now }: Omit<Context, keyof Clients>,
  connection: Connection,
  reason: string | null,
): Promise<void> {
  await directory.refresh();
  const current = directory.connection(connection.siteId, connection.id);
  if (current && lasting(current.settings) === lasting(connection.settings))
    await store.proofs.save(connection.siteId, connection.id, reason, now());
}

/** The store returns settings in another order, and a renewed token is no other setting. */
function lasting(settings: ConnectionSettings): string {
  const renewed = settings.refresh_token === undefined ? [] : ["access_token", "refresh_token", "expires_at"];
  const names = Object.keys(settings).filter((name) => !renewed.includes(name));
  return JSON.stringify(names.toSorted().map((name) => [name, settings[name]]));
}

/** `lastSentAt` is when the platform last accepted a conversion, which proves the connection as well. */
export async function readProofState(
  store: Pick<Store, "proofs">,
  connection: Connection,
  lastSentAt: number | null,
): Promise<ProofState> {
  const row = await store.proofs.find(connection.siteId, connection.id);
  return describeProof(connection, row, lastSentAt);
}

const isBuiltIn = ({ platform, settings, createdAt }: Connection) =>
  platformOf(platform)?.prove(settings, createdAt).by === "relay";

function describeProof(connection: Connection, row: ProofRow | null, lastSentAt: number | null): ProofState {
  const platform = platformOf(connection.platform);
  const { createdAt } = connection;
  const proof = platform?.prove(connection.settings, createdAt);
  const isCheckable = proof?.by === "call" || proof?.by === "test event";
  const checkedAt = row?.checkedAt ?? null;
  const proven = { state: "proven", reason: null, checkedAt, unchecked: null, isCheckable } as const;
  if (proof?.by === "relay") return { ...proven, provenAt: createdAt, checkedAt: createdAt };
  const isSent = lastSentAt !== null && !platform?.acceptsEverything && lastSentAt > (checkedAt ?? createdAt);
  if (isSent) return { ...proven, provenAt: lastSentAt };
  const provenAt = row?.provenAt ?? null;
  if (!row || row.reason !== null)
    return { ...proven, state: "unproven", reason: row?.reason ?? "not checked yet", provenAt };
  return { ...proven, provenAt, unchecked: proof?.by === "call" ? (proof.unchecked ?? null) : null };
}

/** Returns null when the platform proved the connection, otherwise the reason why not. */
async function ask(clients: Clients, connection: Connection, now: number): Promise<string | null> {
  const platform = platformOf(connection.platform);
  if (!platform) return "this version does not know the platform";
  const proof: Proof = platform.prove(connection.settings, now);
  if (proof.by === "relay") return null;
  if (proof.by === "nothing") return proof.reason;
  const sample = sampleFor(platform, connection, "test", now);
  if (proof.by === "test event" && "skipped" in sample) return sample.skipped;
  let current = await clients.tokens.fresh(connection);
  for (let renewals = 0; ; renewals++) {
    if ("fault" in current) return errorOf(exchangeWithoutToken(current, 1).readings[0]);
    const { settings } = current;
    const reading =
      "skipped" in sample || proof.by === "call"
        ? await call(clients.sender, platform, settings, now)
        : (await exchange(clients.sender, platform, settings, [sample], now)).readings[0];
    const canRenew = settings.refresh_token !== undefined && renewals === 0;
    if (reading?.outcome !== "unauthorized" || !canRenew) return describeReading(platform, settings, reading);
    const renewed = await clients.tokens.fresh(current, settings.access_token);
    // The platform's answer explains more than that of a failed renewal.
    if ("fault" in renewed && renewed.fault === "refused")
      return describeReading(platform, settings, reading);
    current = renewed;
  }
}

async function call(
  sender: Sender,
  platform: Platform,
  settings: ConnectionSettings,
  now: number,
): Promise<Reading> {
  const proof: Proof = platform.prove(settings, now);
  if (proof.by !== "call") return { outcome: "rejected", error: "the settings have changed; try again" };
  const sent = await sender.send(proof.request, {
    platform: platform.id,
    customerAddress: platform.customerAddress === true,
  });
  if (!sent.ok) return { outcome: "retry", error: `${platform.name} could not be asked: ${sent.error}` };
  const { response } = sent;
  if (proof.isProof(response)) return { outcome: "accepted" };
  const reading = readRefusal(platform, response, settings, now) ?? {
    outcome: "rejected",
    error: proof.otherwise,
  };
  return { ...reading, error: redactSecrets(reading.error, proof.request) };
}

type Refused = Extract<Reading, { error: string }>;

/** The platform's own reading of its error; null for a success, whose body is none that follows a conversion. */
function readRefusal(
  platform: Platform,
  response: PlatformResponse,
  settings: ConnectionSettings,
  now: number,
): Refused | null {
  const [reading] = platform.readResponse(response, [sampleConversion()], settings, now);
  const isOwn = reading && (!isSuccess(response.status) || reading.outcome !== "retry");
  const refusal = isOwn && "error" in reading ? reading : readStatus(response, now);
  return "error" in refusal ? refusal : null;
}

const errorOf = (reading: Reading | undefined) =>
  reading && "error" in reading ? reading.error : "the platform did not answer";

/** An answer may quote the request, and a secret may be in its path. */
function describeReading(
  platform: Platform,
  settings: ConnectionSettings,
  reading: Reading | undefined,
): string | null {
  if (reading?.outcome === "accepted") return null;
  const secrets = platform.settings.flatMap(({ name, secret }) => (secret && settings[name]) || []);
  return shorten(
    secrets
      .filter((one) => one.length >= 6)
      .reduce(
        (text, one) => text.replaceAll(one, "…").replaceAll(encodeURIComponent(one), "…"),
        errorOf(reading),
      ),
  );
}

/**
 * Returns why a connection sends nothing at all yet, however its events are called; null when it would send some. A sample
 * with every id and field stands for the events to come.
 */
export function whySendsNothing(connection: Connection, now: number): string | null {
  const platform = platformOf(connection.platform);
  if (!platform) return null;
  const sample = sampleFor(platform, connection, "live", now);
  if (!("skipped" in sample)) return null;
  const setting = platform.events?.defaultSetting;
  const hint = setting && !connection.settings[setting] ? `; set ${setting}, or one for each event` : "";
  return `${sample.skipped}${hint}`;
}

const usualNames = ["purchase", "lead", "signup"];

/** Finds a name under which a full sample would be sent. */
function sampleFor(
  platform: Platform,
  connection: Connection,
  mode: Conversion["mode"],
  now: number,
): Conversion | { skipped: string } {
  const { settings, events: selected } = connection;
  const chosen = Object.keys(settings).flatMap((name) =>
    name.startsWith("event.") ? [name.slice("event.".length)] : [],
  );
  const known = [...usualNames, ...chosen, ...Object.keys(platform.events?.standard ?? {})];
  const names = [...known.filter((name) => isSelected(connection, name)), ...(selected ?? [])];
  let skipped = "none of the selected events is sent";
  for (const name of names) {
    const sample: Conversion = { ...sampleNow(name, now), mode };
    const reason = platform.skipReason?.(sample, settings, now) ?? null;
    if (reason === null) return sample;
    if (name === names[0]) skipped = reason;
  }
  return { skipped };
}
