// Tests a connection: a preview of the exact request, a test event with the platform's answer, and the choices that the
// platform offers for settings that are ids there.

import { randomUUID } from "node:crypto";
import { minuteMs } from "../kernel/time.ts";
import type { Conversion, Reading } from "../kernel/event.ts";
import { withCurrentConsent } from "../identity/attribution.ts";
import { platformOf } from "../platforms/index.ts";
import type { ConnectionSettings, Picker, Platform, PlatformRequest } from "../platforms/platform.ts";
import { describeName, resolveName } from "../platforms/shared/eventNames.ts";
import { readStatus } from "../platforms/shared/response.ts";
import { fullSample, sampleConversion, sampleItems } from "../platforms/shared/sample.ts";
import { skipOf } from "../platforms/shared/skips.ts";
import { unreadableConnection } from "../sites/connect.ts";
import { hidden } from "../sites/connectionSettings.ts";
import type { Connection, Site } from "../sites/directory.ts";
import { say } from "../kernel/messages/message.ts";
import { Missing, Refusal } from "../kernel/refusal.ts";
import type { Store } from "../store/store.ts";
import { callPlatform, callWithoutToken, toRequest, type PlatformCall } from "./platformCall.ts";
import type { Tokens } from "./oauth/tokens.ts";
import { toConversion } from "./conversion.ts";
import { isSelected } from "./plan.ts";
import type { Sender } from "./send.ts";
import { damagedEvent } from "./trace/trace.ts";

type Preview = {
  /** Why it would not be sent; then there is no request. */
  skipped: string | null;
  /** The name under which it is sent, and why. Null for platforms that take the sender's name, and for another reason to skip. */
  naming: string | null;
  request: { method: string; url: string; headers: Record<string, string>; body: unknown } | null;
};

const publicHeaders = /^(?:content-type|accept|user-agent|linkedin-version|x-restli-[a-z-]+)$/;

/** A past event of the site as it would be sent now, or a sample of this name. */
export async function readConversion(
  store: Pick<Store, "events" | "people">,
  site: Site,
  { event: id, name }: { event?: string | undefined; name: string },
  now: number,
): Promise<Conversion> {
  if (id === undefined) return sampleNow(name, now);
  const event = await store.events.get(site.id, id);
  if (!event) throw new Missing("event", say("event_of_other_site", { id }));
  if (event === "damaged") throw damagedEvent(id);
  const attribution = await withCurrentConsent(store.people, event, site.settings.consentMode);
  return toConversion(event, event.platformEventId, attribution);
}

/** A sample with every field set, dated a minute ago. */
export function sampleNow(name: string, now: number): Conversion {
  const time = now - minuteMs;
  const items = sampleItems;
  return fullSample({
    platformEventId: randomUUID(),
    orderId: `test-${now}`,
    name,
    time,
    receivedAt: time,
    items,
  });
}

export function previewRequest(connection: Connection, conversion: Conversion, now: number): Preview {
  const { name } = conversion;
  const { settings } = connection;
  const platform = findPlatform(connection.platform);
  if (connection.unreadable) throw unreadableConnection(connection.id);
  const { events } = platform;
  const resolved = events ? resolveName(name, settings, events) : null;
  const naming = resolved && describeName(name, resolved, platform.name);
  const skipped = isSelected(connection, name) ? (skipOf(platform, conversion, settings)?.reason ?? null) : "event not selected";
  // A name under which the event is not sent would contradict the reason.
  if (skipped) return { skipped, naming: resolved?.by === "none" ? naming : null, request: null };
  return { skipped: null, naming, request: redacted(toRequest({ platform, settings }, [conversion], now)) };
}

function redacted({ method, url, headers, body, secretQuery }: PlatformRequest): NonNullable<Preview["request"]> {
  const secrets = Object.keys(secretQuery ?? {}).map((name) => `${name}=${hidden}`);
  return {
    method,
    url: secrets.length ? `${url}${url.includes("?") ? "&" : "?"}${secrets.join("&")}` : url,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, publicHeaders.test(name.toLowerCase()) ? value : hidden]),
    ),
    body: body === "" ? null : JSON.parse(body),
  };
}

type TestResult = {
  skipped: string | null;
  reading: Reading | null;
  log: PlatformCall["log"];
  /** As the sync log would store it. */
  request: string | null;
};

/** Sends one conversion in the platform's own test mode. */
export async function sendTest(
  { sender, tokens }: { sender: Sender; tokens: Tokens },
  connection: Connection,
  conversion: Conversion,
  now: number,
): Promise<TestResult> {
  const platform = findPlatform(connection.platform);
  if (connection.unreadable) throw unreadableConnection(connection.id);
  const test: Conversion = { ...conversion, mode: "test" };
  const skipped = skipOf(platform, test, connection.settings)?.reason ?? null;
  const log = { httpStatus: null, response: null };
  if (skipped) return { skipped, reading: null, log, request: null };
  const current = await tokens.fresh(connection);
  const sent =
    "fault" in current
      ? callWithoutToken(current, 1)
      : await callPlatform(sender, { platform, settings: current.settings }, [test], now);
  return { skipped: null, reading: sent.readings[0] ?? null, log: sent.log, request: sent.requestOf(test) };
}

type Choice = { value: string; label: string };

/** Asks the platform for the values that it offers for a setting. */
export async function listChoices(
  sender: Sender,
  platformId: string,
  setting: string,
  settings: ConnectionSettings,
  now: number,
): Promise<Choice[]> {
  const platform = findPlatform(platformId);
  const picker = findPicker(platform, setting);
  const missing = picker.needs.find((name) => !settings[name]);
  if (missing) throw new Refusal(missing, say("choices_need_setting", { missing, platform: platform.name, setting }));
  const sent = await sender.send(picker.toRequest(settings), {
    platform: platform.id,
    customerAddress: false,
  });
  if (!sent.ok) throw new Refusal(setting, say("platform_not_asked", { platform: platform.name, reason: sent.error }));
  const choices = picker.read(sent.response.body);
  if (choices.length) return choices;
  // An empty list means that there is nothing to choose, or that the platform rejected the request.
  const [status, reading] = [
    readStatus(sent.response, now),
    platform.readResponse(sent.response, [sampleConversion()], settings, now)[0],
  ];
  const refusal = status.kind !== "accepted" || reading?.kind === "unauthorized" ? (reading ?? status) : null;
  if (refusal && "error" in refusal)
    throw new Refusal(setting, say("platform_did_not_answer", { platform: platform.name, reason: refusal.error }));
  return choices;
}

function findPicker(platform: Platform, setting: string): Picker {
  const picker = platform.pickers?.find((one) => one.setting === setting);
  if (picker) return picker;
  const known = platform.pickers?.map((one) => one.setting) ?? [];
  throw new Refusal(
    "setting",
    known.length
      ? say("no_choices_for", { platform: platform.name, setting, known: known.join(", ") })
      : say("no_choices", { platform: platform.name }),
  );
}

function findPlatform(id: string): Platform {
  const platform = platformOf(id);
  if (!platform) throw new Missing("platform", say("unknown_platform", { id }));
  return platform;
}
