// Verifies a connection: asks the platform, with a call that counts nothing, if it would take conversions. So a wrong token or
// pixel is known before the first conversion. A connection is saved in any case, unless refused credentials would replace
// those of one that works.

import { changeTexts, say } from "../kernel/messages/message.ts";
import { within } from "../kernel/deadline.ts";
import type { Conversion, Reading } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import type { ConnectionSettings, Platform, PlatformResponse, Verification, Setting } from "../platforms/platform.ts";
import { isSuccess, readStatus, shorten } from "../platforms/shared/response.ts";
import { sampleConversion } from "../platforms/shared/sample.ts";
import { skipOf } from "../platforms/shared/skips.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { ConnectionCheck } from "../store/sites/connectionChecks.ts";
import type { Store } from "../store/store.ts";
import { callPlatform, callWithoutToken, redactSecrets } from "./platformCall.ts";
import type { Tokens } from "./oauth/tokens.ts";
import { isSelected } from "./plan.ts";
import type { Sender } from "./send.ts";
import { sampleNow } from "./testDelivery.ts";

type Clients = { sender: Sender; tokens: Tokens };
type Context = Clients & { store: Pick<Store, "connectionChecks">; directory: Directory; now: () => number };

/** The state of a connection's verification, as people see it. */
export type VerificationState = {
  state: "verified" | "unverified";
  /** Why it is not verified. */
  reason: string | null;
  /** When it was last verified; null if it never was, with its present settings. */
  verifiedAt: number | null;
  /** When the platform was last asked; null if it never was. */
  checkedAt: number | null;
  /** What the check does not cover. */
  unchecked: string | null;
  /** False where the platform has no call that would verify it. */
  isCheckable: boolean;
};

/** A call ends earlier; this also covers the renewal of a token before it. */
const timeoutMs = 20_000;

/** Asks the platform and stores the result. Never throws for a reason that lies with the platform or the settings. */
export async function verifyConnection(context: Context, connection: Connection): Promise<VerificationState> {
  if (isBuiltIn(connection)) return readVerificationState(context.store, connection, null);
  const reason = await askInTime(context, connection, context.now());
  await saveVerification(context, connection, reason?.text ?? null);
  return readVerificationState(context.store, connection, null);
}

/**
 * Says that the platform refuses the changed credentials of a connection which works with the present ones. Null where they
 * may be saved: also if the platform cannot be asked, because then nothing is known against them.
 */
export async function whyRefused(
  { store, sender, now }: Pick<Context, "sender" | "now"> & { store: Pick<Store, "connectionChecks" | "health"> },
  existing: Connection,
  changed: Connection,
): Promise<string | null> {
  const platform = platformOf(existing.platform);
  const isNew = ({ name, secret }: Setting) => secret && existing.settings[name] !== changed.settings[name];
  if (!platform?.settings.some(isNew) || existing.unreadable || existing.state === "needs reconnection") return null;
  const { refresh_token: refresh, expires_at: expiresAt } = changed.settings;
  // The first delivery renews an expired token; and a token that stays may be renewed while the platform is asked.
  const isRenewable = refresh === existing.settings.refresh_token || !(Number(expiresAt) > now());
  if (refresh !== undefined && isRenewable) return null;
  const lastSentAt = await store.health.lastSentAt(existing.siteId, existing.id);
  if ((await readVerificationState(store, existing, lastSentAt)).state !== "verified") return null;
  const reason = await askInTime({ sender, tokens: unrenewed }, changed, now());
  return reason?.isRefusal
    ? say("new_credentials_refused", { platform: platform.name, reason: reason.text.replace(/\.$/, "") })
    : null;
}

/** Renewing a token would save it in the connection. */
const unrenewed: Tokens = {
  fresh: (connection, rejected) =>
    Promise.resolve(rejected === undefined ? connection : { fault: "refused", error: "the platform refused the token" }),
};

const askInTime = (clients: Clients, connection: Connection, now: number): Promise<Unverified | null> =>
  within(timeoutMs, ask(clients, connection, now), "too slow").catch(() =>
    unverified("the check could not be finished; try again"),
  );

/** A test event that the platform accepted verifies the connection too. */
export async function verifyByTest(context: Omit<Context, keyof Clients>, connection: Connection): Promise<void> {
  if (!platformOf(connection.platform)?.acceptsEverything) await saveVerification(context, connection, null);
}

/** The result is of the settings that were used: a connection that was changed meanwhile is asked again by that change. */
async function saveVerification(
  { store, directory, now }: Omit<Context, keyof Clients>,
  connection: Connection,
  reason: string | null,
): Promise<void> {
  await directory.refresh();
  const current = directory.connection(connection.siteId, connection.id);
  if (current && lasting(current.settings) === lasting(connection.settings))
    await store.connectionChecks.save(connection.siteId, connection.id, reason, now());
}

/** The store returns settings in another order, and a renewed token is no other setting. */
function lasting(settings: ConnectionSettings): string {
  const renewed = settings.refresh_token === undefined ? [] : ["access_token", "refresh_token", "expires_at"];
  const names = Object.keys(settings).filter((name) => !renewed.includes(name));
  return JSON.stringify(names.toSorted().map((name) => [name, settings[name]]));
}

/** `lastSentAt` is when the platform last accepted a conversion, which verifies the connection as well. */
export async function readVerificationState(
  store: Pick<Store, "connectionChecks">,
  connection: Connection,
  lastSentAt: number | null,
): Promise<VerificationState> {
  const row = await store.connectionChecks.find(connection.siteId, connection.id);
  return describeVerification(connection, row, lastSentAt);
}

const isBuiltIn = ({ platform, settings, createdAt }: Connection) =>
  platformOf(platform)?.verify(settings, createdAt).by === "relay";

function describeVerification(connection: Connection, row: ConnectionCheck | null, lastSentAt: number | null): VerificationState {
  const platform = platformOf(connection.platform);
  const { createdAt } = connection;
  const verification = platform?.verify(connection.settings, createdAt);
  const isCheckable = verification?.by === "call" || verification?.by === "test event";
  const checkedAt = row?.checkedAt ?? null;
  const verified = { state: "verified", reason: null, checkedAt, unchecked: null, isCheckable } as const;
  if (verification?.by === "relay") return { ...verified, verifiedAt: createdAt, checkedAt: createdAt };
  const isSent = lastSentAt !== null && !platform?.acceptsEverything && lastSentAt > (checkedAt ?? createdAt);
  if (isSent) return { ...verified, verifiedAt: lastSentAt };
  const verifiedAt = row?.verifiedAt ?? null;
  if (!row || row.reason !== null)
    return { ...verified, state: "unverified", reason: row?.reason ?? "not checked yet", verifiedAt };
  return { ...verified, verifiedAt, unchecked: verification?.by === "call" ? (verification.unchecked ?? null) : null };
}

/** Why a connection is not verified. A refusal is the platform's own answer, and not that it could not be asked. */
type Unverified = { text: string; isRefusal: boolean };
const unverified = (text: string): Unverified => ({ text, isRefusal: false });

/** Returns null when the platform verified the connection, otherwise the reason why not. */
async function ask(clients: Clients, connection: Connection, now: number): Promise<Unverified | null> {
  const platform = platformOf(connection.platform);
  if (!platform) return unverified("this version does not know the platform");
  const verification: Verification = platform.verify(connection.settings, now);
  if (verification.by === "relay") return null;
  if (verification.by === "nothing") return unverified(verification.reason);
  const sample = sampleFor(platform, connection, "test", now);
  if (verification.by === "test event" && "skipped" in sample) return unverified(sample.skipped);
  let current = await clients.tokens.fresh(connection);
  for (let renewals = 0; ; renewals++) {
    if ("fault" in current) return unverified(errorOf(callWithoutToken(current, 1).readings[0]));
    const { settings } = current;
    const reading =
      "skipped" in sample || verification.by === "call"
        ? await call(clients.sender, platform, settings, now)
        : (await callPlatform(clients.sender, { platform, settings }, [sample], now)).readings[0];
    const canRenew = settings.refresh_token !== undefined && renewals === 0;
    if (reading?.kind !== "unauthorized" || !canRenew) return describeReading(platform, settings, reading);
    const renewed = await clients.tokens.fresh(current, settings.access_token);
    // The platform's answer explains more than that of a failed renewal.
    if ("fault" in renewed && renewed.fault === "refused") return describeReading(platform, settings, reading);
    current = renewed;
  }
}

async function call(sender: Sender, platform: Platform, settings: ConnectionSettings, now: number): Promise<Reading> {
  const verification: Verification = platform.verify(settings, now);
  if (verification.by !== "call") return { kind: "rejected", error: "the settings have changed; try again" };
  const sent = await sender.send(verification.request, {
    platform: platform.id,
    customerAddress: platform.customerAddress === true,
  });
  if (!sent.ok) return { kind: "retry", error: say("could_not_be_asked", { platform: platform.name, reason: sent.error }) };
  const { response } = sent;
  if (verification.isVerification(response)) return { kind: "accepted" };
  const reading = readRefusal(platform, response, settings, now) ?? {
    kind: "rejected",
    error: verification.otherwise,
  };
  return { ...reading, error: redactSecrets(reading.error, verification.request) };
}

type Refused = Extract<Reading, { error: string }>;

/** The platform's own reading of its error; null for a success, whose body is none that follows a conversion. */
function readRefusal(platform: Platform, response: PlatformResponse, settings: ConnectionSettings, now: number): Refused | null {
  const [reading] = platform.readResponse(response, [sampleConversion()], settings, now);
  const isOwn = reading && (!isSuccess(response.status) || reading.kind !== "retry");
  const refusal = isOwn && "error" in reading ? reading : readStatus(response, now);
  return "error" in refusal ? refusal : null;
}

const errorOf = (reading: Reading | undefined) => (reading && "error" in reading ? reading.error : "the platform did not answer");

/** An answer may quote the request, and a secret may be in its path. */
function describeReading(platform: Platform, settings: ConnectionSettings, reading: Reading | undefined): Unverified | null {
  if (reading?.kind === "accepted") return null;
  const secrets = platform.settings.flatMap(({ name, secret }) => (secret && settings[name]) || []);
  const redact = (part: string) =>
    secrets
      .filter((one) => one.length >= 6)
      .reduce((shown, one) => shown.replaceAll(one, "…").replaceAll(encodeURIComponent(one), "…"), part);
  const text = changeTexts(errorOf(reading), (part) => shorten(redact(part)));
  return { text, isRefusal: reading?.kind === "rejected" || reading?.kind === "unauthorized" };
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
  const isMissing = setting && !connection.settings[setting];
  return isMissing ? say("event_needs_setting", { reason: sample.skipped, setting }) : sample.skipped;
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
  const chosen = Object.keys(settings).flatMap((name) => (name.startsWith("event.") ? [name.slice("event.".length)] : []));
  const known = [...usualNames, ...chosen, ...Object.keys(platform.events?.standard ?? {})];
  const names = [...known.filter((name) => isSelected(connection, name)), ...(selected ?? [])];
  let skipped = "none of the selected events is sent";
  for (const name of names) {
    const sample: Conversion = { ...sampleNow(name, now), mode };
    const reason = skipOf(platform, sample, settings)?.reason ?? null;
    if (reason === null) return sample;
    if (name === names[0]) skipped = reason;
  }
  return { skipped };
}
