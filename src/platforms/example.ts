// The examples of a platform are its exact requests and how its answers are read: test and documentation in one. They are no part
// of the relay: only tests, scripts and other examples import this file and the examples (test/architecture.test.ts).

import type { Browser, Conversion, Reading } from "../kernel/event.ts";
import type {
  AcceptedConversion,
  ConfirmationStep,
  ConnectionSettings,
  Correction,
  PlatformRequest,
  QualityNotes,
  QualityReading,
} from "./platform.ts";
import { retryLater } from "./shared/response.ts";
import { fullPerson, sampleConversion, withheld } from "./shared/sample.ts";

/** What the `examples.ts` of a platform's folder exports. */
export type PlatformExamples = {
  examples: readonly Example[];
  /** The first is the response to a request that was accepted. */
  responses?: readonly ResponseExample[];
  confirmations?: ConfirmationExamples;
  corrections?: readonly CorrectionExample[];
  quality?: QualityExamples;
};

/** Conversions and the exact request for them. */
export type Example = {
  title: string;
  settings: Record<string, string>;
  conversions: Conversion[];
  request: Omit<PlatformRequest, "body"> & { body: unknown };
};

/** A response of the platform, and what it means for each of `conversions` conversions. */
export type ResponseExample = {
  title: string;
  conversions: number;
  status: number;
  headers?: Record<string, string>;
  body: string;
  readings: Reading[];
};

export type ConfirmationExamples = {
  /** A conversion, its subject, and the exact request for it. */
  request: {
    conversion: AcceptedConversion;
    subject: string;
    settings: Record<string, string>;
    keys?: readonly (string | null)[];
    request: PlatformRequest;
  };
  /** The first is a response that confirms everything. */
  responses: readonly ConfirmationExample[];
};

/** A response to the question of the example, and what it means for each of `conversions` conversions. */
export type ConfirmationExample = {
  title: string;
  conversions: number;
  status: number;
  headers?: Record<string, string>;
  body: string;
  reading: ConfirmationStep;
};

export type QualityExamples = {
  /** Settings, and the exact request with them. */
  request: { settings: Record<string, string>; request: PlatformRequest };
  /** The first is a response with reports. */
  responses: readonly QualityExample[];
  /** Responses to the second call, for notes. */
  notes?: readonly { title: string; status: number; body: string; notes: QualityNotes[] }[];
};

type QualityExample = {
  title: string;
  status: number;
  headers?: Record<string, string>;
  body: string;
  reading: QualityReading;
};

/** A correction and the exact request for it. */
export type CorrectionExample = {
  title: string;
  settings: Record<string, string>;
  correction: Correction;
  request: Omit<PlatformRequest, "body"> & { body: unknown };
};

export const sampleBrowser = sampleConversion().browser as Browser;

/** The full person and the browser in the `user_data` that several platforms share (userData.ts). */
export const fullContact = {
  em: [fullPerson.emailSha256],
  ph: [fullPerson.phoneDigitsSha256],
  fn: [fullPerson.firstNameSha256],
  ln: [fullPerson.lastNameSha256],
};
export const visitor = {
  client_ip_address: sampleBrowser.address,
  client_user_agent: sampleBrowser.userAgent,
};
/** The limited data use of a person whose location is unknown. */
export const limitedDataUse = {
  data_processing_options: ["LDU"],
  data_processing_options_country: 1,
  data_processing_options_state: 1000,
};

/** When the person clicked on the ad: four days before the sample conversion. */
export const clickedAt = Date.UTC(2026, 10, 10, 8, 0);

/** The sample conversion's time in seconds. */
export const sampleSeconds = 1_794_648_600;

/** A purchase of the full person after a click on an ad. */
export function clickedPurchase(clickId: string, value: string, changes: Partial<Conversion> = {}): Conversion {
  return sampleConversion({
    person: fullPerson,
    clickIds: { [clickId]: { value, seenAt: clickedAt } },
    ...changes,
  });
}

/** A lead of which only the hashed email is known. */
export function bareConversion(changes: Partial<Conversion> = {}): Conversion {
  return sampleConversion({
    name: "lead",
    value: null,
    orderId: null,
    person: { emailSha256: fullPerson.emailSha256 },
    clickIds: {},
    browserIds: {},
    utm: {},
    browser: null,
    ...changes,
  });
}

/** The changes to the second conversion of a request. */
export const second = {
  platformEventId: "7f9e1d02-55aa-8c33-b1e0-0a1b2c3d4e5f",
  orderId: "A-1002",
} as const satisfies Partial<Conversion>;

/** A lead of a person who opted out. */
export const withheldConversion = (changes: Partial<Conversion> = {}) => bareConversion({ ...withheld, ...changes });

/** Makes a platform's examples; each one adds `given` to the settings. */
export function exampleBuilder<More>(
  settings: ConnectionSettings,
  requestFor: (events: unknown[], more?: More) => Example["request"],
) {
  return (
    title: string,
    conversions: Conversion | Conversion[],
    events: object | object[],
    given: ConnectionSettings = {},
    more?: More,
  ): Example => ({
    title,
    settings: { ...settings, ...given },
    conversions: [conversions].flat(),
    request: requestFor([events].flat(), more),
  });
}

/** One small example for each standard event of a platform. */
export function standardExamples(
  standard: Readonly<Record<string, string>>,
  settings: ConnectionSettings,
  requestFor: (theirName: string) => Example["request"],
): Example[] {
  return Object.entries(standard).map(([ours, theirs]) => ({
    title: `The event ${ours} is sent as ${theirs}`,
    settings: { ...settings },
    conversions: [bareConversion({ name: ours, value: 20 })],
    request: requestFor(theirs),
  }));
}

/** A response with its reading: a list where the request had several conversions, each with its own. */
export function response(
  title: string,
  status: number,
  body: string | object,
  read: Reading | Reading[],
  headers?: Record<string, string>,
): ResponseExample {
  const readings = Array.isArray(read) ? read : [read];
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { title, conversions: readings.length, status, ...(headers && { headers }), body: text, readings };
}

/** A 429 that names the seconds to wait. */
export const tooManyRequests = (seconds: number, body = "", detail = "") =>
  response("Too many requests", 429, body, retryLater(`HTTP 429${detail && `: ${detail}`}`, seconds), {
    "retry-after": String(seconds),
  });

export const unreadableSuccess = (body: string) =>
  response("A success that cannot be read is retried", 200, body, retryLater("HTTP 200: the answer could not be read"));

export const twice = (reading: Reading): Reading[] => [reading, reading];
