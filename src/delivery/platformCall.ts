// Makes one call to a platform: sends conversions, reads the answer for each of them, and makes the texts for the sync log.

import { changeTexts, say } from "../kernel/messages/message.ts";
import type { Conversion, Reading } from "../kernel/event.ts";
import type { ConnectionSettings, Platform, PlatformRequest } from "../platforms/platform.ts";
import { isSuccess } from "../platforms/shared/response.ts";
import { withRuledValue } from "../platforms/valueRules.ts";
import type { TokenFault } from "./oauth/oauth2.ts";
import type { Answer, Sender } from "./send.ts";

/** Where a call goes. */
type Target = {
  platform: Platform;
  settings: ConnectionSettings;
  /** Added to the request: they continue a trace. Neither a secret nor part of what is logged. */
  headers?: Record<string, string> | undefined;
};

export type PlatformCall = {
  /** The settings that the call was made with; null when no call was made. */
  settings: ConnectionSettings | null;
  /** One for each conversion, in order. */
  readings: Reading[];
  /** An error thrown by a platform's functions, which are pure and should not throw. */
  defect: unknown;
  /** The call was made, and its answer could not be read: the platform may have accepted everything. */
  misread: boolean;
  log: { httpStatus: number | null; response: string | null };
  /** The request as the log stores it for one conversion: without the data of the other persons in the batch. */
  requestOf: (conversion: Conversion) => string;
};

export async function callPlatform(
  sender: Sender,
  target: Target,
  conversions: readonly Conversion[],
  now: number,
): Promise<PlatformCall> {
  const { platform, settings } = target;
  let request: PlatformRequest | null = null;
  let answer: Answer | null = null;
  const requestOf = (conversion: Conversion) =>
    describeRequest(platform, conversions.length > 1 ? requestOfOne(target, conversion, now) : request, conversion);
  try {
    request = toRequest(target, conversions, now);
    const { headers } = target;
    answer = await sender.send(headers ? { ...request, headers: { ...headers, ...request.headers } } : request, {
      platform: platform.id,
      customerAddress: platform.customerAddress === true,
    });
    const readings = readAnswer(target, conversions, answer, now).map((one) => redactReading(one, request, conversions));
    return {
      settings,
      readings,
      defect: null,
      misread: false,
      log: describeAnswer(request, conversions, answer),
      requestOf,
    };
  } catch (defect) {
    // Sending the same request again would fail again.
    const rejected: Reading = { kind: "rejected", error: "internal error of the relay" };
    const readings = conversions.map(() => rejected);
    const misread = answer !== null;
    return {
      settings,
      readings,
      defect,
      misread,
      log: describeAnswer(request, conversions, answer),
      requestOf,
    };
  }
}

/** Makes a request, with the values that the rules of the connection make of those of the events. */
export const toRequest = ({ platform, settings }: Target, conversions: readonly Conversion[], now: number): PlatformRequest =>
  platform.toRequest(
    conversions.map((one) => withRuledValue(one, settings)),
    settings,
    now,
  );

/** A call that was not made because there is no valid token. */
export function callWithoutToken({ fault, error }: TokenFault, conversions: number): PlatformCall {
  const reading: Reading =
    fault === "later" ? { kind: "retry", error: say("no_token_yet", { reason: error }) } : { kind: "unauthorized", error };
  return {
    settings: null,
    readings: Array.from({ length: conversions }, () => reading),
    defect: null,
    misread: false,
    log: { httpStatus: null, response: null },
    requestOf: () => "(not sent: no access token)",
  };
}

/** The request for one conversion as the log stores it, made again from the same input. */
export const rebuildRequest = (target: Target, conversion: Conversion, now: number) =>
  describeRequest(target.platform, requestOfOne(target, conversion, now), conversion);

function requestOfOne({ platform, settings }: Target, conversion: Conversion, now: number): PlatformRequest | null {
  try {
    return toRequest({ platform, settings }, [conversion], now);
  } catch {
    return null;
  }
}

function readAnswer({ platform, settings }: Target, conversions: readonly Conversion[], answer: Answer, now: number): Reading[] {
  if (answer.ok) return platform.readResponse(answer.response, conversions, settings, now);
  return conversions.map(() => ({
    kind: answer.code === "blocked" ? "rejected" : "retry",
    error: answer.error,
  }));
}

const maxLoggedRequest = 4096;
const maxLoggedResponse = 2048;

/** Omits header values and the secret part of the address, and bounds the text. */
function describeRequest(platform: Platform, request: PlatformRequest | null, { extra }: Conversion): string {
  const line = request ? `${request.method} ${redactAddress(platform, request)}` : platform.id;
  // Mapped fields are encrypted with the event, so the log must not contain them.
  const body = Object.values(extra).reduce<string>((text, value) => {
    const written = typeof value === "string" ? JSON.stringify(value).slice(1, -1) : String(value);
    return written.length < 3 ? text : text.replaceAll(written, "(mapped)");
  }, request?.body ?? "");
  return `${line}\n\n${body}`.slice(0, maxLoggedRequest);
}

function describeAnswer(
  request: PlatformRequest | null,
  conversions: readonly Conversion[],
  answer: Answer | null,
): PlatformCall["log"] {
  if (!answer?.ok) return { httpStatus: null, response: null };
  const { status, body } = answer.response;
  const safe = redactSecrets(body, request);
  // An id that begins before the end of the logged part is found whole.
  const shown = isSuccess(status) ? safe : redactEchoes(safe.slice(0, 2 * maxLoggedResponse), conversions);
  // PostgreSQL cannot store NUL, and an answer may contain any character.
  const text = shown.slice(0, maxLoggedResponse).replaceAll("\0", "").toWellFormed();
  return { httpStatus: status, response: text };
}

/** Error texts reach the sender's answer, the log and the state of the connection. */
function redactReading(reading: Reading, request: PlatformRequest | null, conversions: readonly Conversion[]): Reading {
  if (!("error" in reading)) return reading;
  return { ...reading, error: changeTexts(reading.error, (text) => redactEchoes(redactSecrets(text, request), conversions)) };
}

/** An error may quote the request. It is logged with every conversion of the batch, and they belong to different persons. */
function redactEchoes(text: string, conversions: readonly Conversion[]): string {
  const ids = conversions.flatMap(({ clickIds, browserIds, browser }) => [
    ...Object.values(clickIds).map(({ value }) => value),
    ...Object.values(browserIds),
    browser?.address ?? "",
    browser?.userAgent ?? "",
  ]);
  return ids
    .filter((id) => id.length >= 6 && text.includes(id))
    .reduce((rest, id) => rest.replaceAll(id, "…"), text)
    .replace(/\b[0-9a-f]{64}\b/gi, "…");
}

/** Some endpoints echo the request's headers in their answer. */
export function redactSecrets(text: string, request: PlatformRequest | null): string {
  const { "content-type": _public, ...headers } = request?.headers ?? {};
  const secrets = [
    ...Object.values(headers).flatMap((value) => [value, ...value.split(" "), ...decodeBasic(value)]),
    ...Object.values(request?.secretQuery ?? {}).flatMap((value) => [value, encodeURIComponent(value)]),
  ];
  return secrets.filter((one) => one.length >= 6).reduce((rest, one) => rest.replaceAll(one, "…"), text);
}

/** `Basic …` contains its secret in base64. */
function decodeBasic(header: string): string[] {
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/.exec(header)?.[1];
  return basic ? Buffer.from(basic, "base64").toString("utf8").split(":") : [];
}

/**
 * A query may contain a token, and so may the path of a customer's URL. But the query of a GET is all that it says, and
 * platforms keep secrets out of it (`secretQuery`).
 */
function redactAddress(platform: Platform, { method, url: address }: PlatformRequest): string {
  if (address.startsWith("sandbox:")) return address;
  if (!URL.canParse(address)) return "(no address)";
  const url = new URL(address);
  if (platform.customerAddress) return `${url.origin}/…`;
  const query = method === "GET" ? url.search : url.search && "?…";
  return `${url.origin}${url.pathname}${query}`;
}
