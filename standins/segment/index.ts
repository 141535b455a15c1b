// Segment's HTTP Tracking API, and RudderStack's copy of it under the path /rudder, as in a customer's base URL.
// Segment answers success to nearly everything, so the log shows which events would have been lost.

import { describeProblem, isObject, problemAt, readJson, type Problem } from "../shared/checks.ts";
import { documentedErrors } from "./documented.ts";
import { messageProblems } from "./message.ts";
import { basicCredentials, type AcceptedInput, type Answer, type Call, type Context, type Standin } from "../shared/standin.ts";

/** Values of no real workspace. */
const known = {
  writeKey: "standinSegmentWriteKey",
  revokedWriteKey: "standinSegmentRevokedKey",
  rudderWriteKey: "standinRudderWriteKey",
  /** The path of RudderStack's base URL: `https://dataplane.example/rudder`. */
  rudderPath: "/rudder",
} as const;

const maxEventBytes = 32 * 1024;
const maxBatch = 2500;
/** A repeated id is dropped for at least a day, across sources and workspaces. */
const lookBackSeconds = 86_400;

type Flavour = {
  maxBatchBytes: number;
  writeKey: string;
  done: Answer;
  tooMany(context: Context): Answer | null;
  /** Null: the response is a success all the same. */
  badKey: Answer | null;
  invalid(message: string): Answer;
};

// The body of a 400 is not documented; only its status is certain.
const segmentInvalid = (message: string): Answer => ({
  status: 400,
  body: { success: false, message, code: "invalid_request" },
  rejected: [message],
});

const segmentFlavour: Flavour = {
  maxBatchBytes: 500 * 1024,
  writeKey: known.writeKey,
  done: { status: 200, body: { success: true } },
  badKey: null,
  invalid: segmentInvalid,
  tooMany(context) {
    const wait = context.useQuota("workspace", 1000, 1);
    return wait ? throttled(wait, context.now()) : null;
  },
};

/** RudderStack never gives the time to wait. */
const rudderThrottled: Answer = { status: 429, body: "Too many requests", rejected: ["too many requests"] };
const isRudder = ({ path }: Call) => path.startsWith(`${known.rudderPath}/`);

const rudderFlavour: Flavour = {
  maxBatchBytes: 4 * 1024 * 1024,
  writeKey: known.rudderWriteKey,
  done: { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: "OK" },
  // Expected, not documented.
  badKey: { status: 401, body: "Invalid Write Key", rejected: ["the write key is not known"] },
  invalid: (message) => ({ status: 400, body: message, rejected: [message] }),
  tooMany(context) {
    // The free plan counts events; counting calls is close enough, since ours carry few.
    return context.useQuota("rudder", 1000, 60) ? rudderThrottled : null;
  },
};

function throttled(seconds: number, now: number = Date.now()): Answer {
  return {
    status: 429,
    headers: { "retry-after": String(seconds), "x-ratelimit-reset": String(Math.ceil(now / 1000) + seconds) },
    body: { success: false, message: "Too many requests", code: "rate_limited" },
    rejected: ["too many requests"],
  };
}

function track(flavour: Flavour) {
  return (call: Call, context: Context): Answer => {
    const fault = flavour.tooMany(context);
    if (fault) return fault;
    const read = readJson(call);
    if ("fault" in read || !isObject(read.value)) return flavour.invalid("the body is not a JSON object");
    const body = read.value;
    const isBatch = call.params.type === "batch";
    const messages = isBatch ? body.batch : [{ ...body, type: call.params.type }];
    if (!Array.isArray(messages)) return flavour.invalid("batch is not a list");
    if (call.bytes > (isBatch ? flavour.maxBatchBytes : maxEventBytes)) return flavour.invalid("the body is too large");
    if (isBatch && messages.some((one) => Buffer.byteLength(JSON.stringify(one)) > maxEventBytes))
      return flavour.invalid("an event is too large");

    const keyFault = writeKeyFault(call, body, flavour, context);
    if (keyFault !== null) return flavour.badKey ?? { ...flavour.done, rejected: [keyFault] };
    // Answered with success, and dropped whole.
    if (messages.length > maxBatch) return { ...flavour.done, rejected: [`more than ${maxBatch} events`] };

    const found = messages.map((message, index) => messageProblems(message, isBatch ? `batch[${index}]` : "", context.now()));
    const valid = messages.filter((_, index) => (found[index] ?? []).every(isHarmless)) as Message[];
    const skew = skewProblems(body, context.now());
    return {
      ...flavour.done,
      accepted: valid.map(toAccepted),
      ...(found.some((one) => one.length) || skew.length ? { rejected: [...found.flat(), ...skew].map(describeProblem) } : {}),
    };
  };
}

type Message = Record<string, unknown>;

/** The event is accepted but of little use; the log says why. */
const isHarmless = ({ kind }: Problem) => kind === "hash" || kind === "unknown";

function toAccepted(message: Message): AcceptedInput {
  return {
    // Without an id Segment generates one, and a repeat is never recognised.
    id: typeof message.messageId === "string" ? message.messageId : null,
    name: String(message.event ?? message.type),
    windowSeconds: lookBackSeconds,
    event: message,
  };
}

/** Null when the key is valid. */
function writeKeyFault(call: Call, body: Message, flavour: Flavour, context: Context): string | null {
  const basic = basicCredentials(call);
  if (call.headers.authorization !== undefined && !basic) return "the authorization is not write key and colon";
  if (basic && basic.password !== "") return "the password after the write key must be empty";
  const key = basic?.user ?? (typeof body.writeKey === "string" ? body.writeKey : null);
  return key === flavour.writeKey && context.tokens.state(key) === "valid" ? null : "the write key is not known";
}

/** Segment shifts the event time by the difference of sentAt and its clock, so a stale sentAt moves the event. */
function skewProblems(body: Message, now: number): Problem[] {
  const sent = typeof body.sentAt === "string" ? Date.parse(body.sentAt) : null;
  if (sent === null || Math.abs(now - sent) < 5 * 60_000) return [];
  return problemAt("old", "sentAt", "is not the time of sending: the events' times would be moved");
}

function settings(call: Call, context: Context): Answer {
  const key = call.params.writeKey ?? "";
  return key === known.writeKey && context.tokens.state(key) === "valid"
    ? { status: 200, body: { integrations: { "Segment.io": { apiKey: key } }, plan: {} } }
    : { status: 404, body: "Cannot GET settings", rejected: ["the write key is not known"] };
}

const calls = "(?<type>identify|track|page|screen|group|alias|batch)";

export const segment = {
  id: "segment",
  known,
  tokens: [
    { token: known.writeKey, state: "valid" },
    { token: known.rudderWriteKey, state: "valid" },
    { token: known.revokedWriteKey, state: "revoked" },
  ],
  secrets: ["writeKey"],
  routes: [
    { kind: "events", method: "POST", path: new RegExp(`^/v1/${calls}$`), handle: track(segmentFlavour) },
    {
      kind: "events",
      method: "POST",
      path: new RegExp(`^/rudder/v1/${calls}$`),
      handle: track(rudderFlavour),
    },
    {
      kind: "listing",
      method: "GET",
      path: /^\/v1\/projects\/(?<writeKey>[^/]+)\/settings$/,
      handle: settings,
    },
  ],
  documentedErrors,
  errors: {
    notFound: () => ({ status: 404, body: "404 page not found\n" }),
    throttled: (seconds, call) => (isRudder(call) ? rudderThrottled : throttled(seconds)),
    failed: (status, call) => ({
      status,
      body: isRudder(call) ? "Internal Server Error" : { success: false, message: "internal error", code: "internal_error" },
    }),
    token: (_, call) =>
      (isRudder(call) ? rudderFlavour.badKey : null) ?? {
        ...segmentFlavour.done,
        rejected: ["the write key is not known"],
      },
  },
} as const satisfies Standin;
