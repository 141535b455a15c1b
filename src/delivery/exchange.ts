// One call to a platform: conversions in, a reading for each out, and what the sync log keeps of it.

import type { Conversion, Reading } from "../kernel/event.ts";
import type { ConnectionSettings, Platform, PlatformRequest } from "../platforms/platform.ts";
import type { TokenFault } from "./oauth/oauth2.ts";
import type { Sender, Sent } from "./send.ts";

export type Exchange = {
  /** With which settings it was made; null when it was not. */
  settings: ConnectionSettings | null;
  /** One for each conversion, in order. */
  readings: Reading[];
  /** What was thrown by a platform's functions, which are pure and should not throw. */
  defect: unknown;
  /** The call was made, and its answer could not be read: the platform may have accepted everything. */
  misread: boolean;
  log: { httpStatus: number | null; response: string | null };
  /** What the log keeps of one conversion's share in the request: another person's data has no place there. */
  requestOf: (conversion: Conversion) => string;
};

export async function exchange(
  sender: Sender,
  platform: Platform,
  settings: ConnectionSettings,
  conversions: readonly Conversion[],
  now: number,
): Promise<Exchange> {
  let request: PlatformRequest | null = null;
  let sent: Sent | null = null;
  const requestOf = (conversion: Conversion) =>
    describeRequest(
      platform,
      conversions.length > 1 ? requestFor(platform, settings, conversion, now) : request,
      conversion,
    );
  try {
    request = platform.toRequest(conversions, settings, now);
    sent = await sender.send(request, {
      platform: platform.id,
      customerAddress: platform.customerAddress === true,
    });
    const readings = read(platform, settings, conversions, sent, now).map((one) =>
      withoutSecretsIn(one, request),
    );
    return {
      settings,
      readings,
      defect: null,
      misread: false,
      log: describeResponse(request, sent),
      requestOf,
    };
  } catch (defect) {
    // Sending the same again would not mend it.
    const refused: Reading = { outcome: "rejected", error: "internal error of the relay" };
    const readings = conversions.map(() => refused);
    const misread = sent !== null;
    return { settings, readings, defect, misread, log: describeResponse(request, sent), requestOf };
  }
}

/** Nothing was sent, because there is no token that holds. */
export function unsent({ fault, error }: TokenFault, conversions: number): Exchange {
  const reading: Reading =
    fault === "later"
      ? { outcome: "retry", error: `no access token yet: ${error}` }
      : { outcome: "unauthorized", error };
  return {
    settings: null,
    readings: Array.from({ length: conversions }, () => reading),
    defect: null,
    misread: false,
    log: { httpStatus: null, response: null },
    requestOf: () => "(not sent: no access token)",
  };
}

function requestFor(
  platform: Platform,
  settings: ConnectionSettings,
  conversion: Conversion,
  now: number,
): PlatformRequest | null {
  try {
    return platform.toRequest([conversion], settings, now);
  } catch {
    return null;
  }
}

function read(
  platform: Platform,
  settings: ConnectionSettings,
  conversions: readonly Conversion[],
  sent: Sent,
  now: number,
): Reading[] {
  if (sent.ok) return platform.readResponse(sent.response, conversions, settings, now);
  return conversions.map(() => ({ outcome: sent.blocked ? "rejected" : "retry", error: sent.error }));
}

const shownRequest = 4096;
const shownResponse = 2048;

/** No header values, no secret part of the address, bounded text. */
function describeRequest(platform: Platform, request: PlatformRequest | null, { extra }: Conversion): string {
  const line = request ? `${request.method} ${shownAddress(platform, request.url)}` : platform.id;
  // Mapped fields are sealed with the event, so they have no place in the log.
  const body = Object.values(extra).reduce<string>((text, value) => {
    const written = typeof value === "string" ? JSON.stringify(value).slice(1, -1) : String(value);
    return written.length < 3 ? text : text.replaceAll(written, "(mapped)");
  }, request?.body ?? "");
  return `${line}\n\n${body}`.slice(0, shownRequest);
}

function describeResponse(request: PlatformRequest | null, sent: Sent | null): Exchange["log"] {
  if (!sent?.ok) return { httpStatus: null, response: null };
  // PostgreSQL cannot store NUL, and a stranger's answer may hold anything.
  const text = withoutSecrets(sent.response.body, request).slice(0, shownResponse);
  return { httpStatus: sent.response.status, response: text.replaceAll("\0", "").toWellFormed() };
}

/** A platform's words reach the sender's answer, the log and the state of the connection. */
function withoutSecretsIn(reading: Reading, request: PlatformRequest | null): Reading {
  return "error" in reading ? { ...reading, error: withoutSecrets(reading.error, request) } : reading;
}

/** Some endpoints answer with the request's own headers. */
function withoutSecrets(text: string, request: PlatformRequest | null): string {
  const { "content-type": _open, ...headers } = request?.headers ?? {};
  const secrets = [
    ...Object.values(headers).flatMap((value) => [value, ...value.split(" "), ...decoded(value)]),
    ...Object.values(request?.secretQuery ?? {}).flatMap((value) => [value, encodeURIComponent(value)]),
  ];
  return secrets.filter((one) => one.length >= 6).reduce((rest, one) => rest.replaceAll(one, "…"), text);
}

/** `Basic …` holds its secret in another form. */
function decoded(header: string): string[] {
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/.exec(header)?.[1];
  return basic ? Buffer.from(basic, "base64").toString("utf8").split(":") : [];
}

/** A query may hold a token, and so may the path of an address that a customer chose. */
function shownAddress(platform: Platform, address: string): string {
  if (address.startsWith("sandbox:")) return address;
  if (!URL.canParse(address)) return "(no address)";
  const url = new URL(address);
  if (platform.customerAddress) return `${url.origin}/…`;
  return `${url.origin}${url.pathname}${url.search ? "?…" : ""}`;
}
