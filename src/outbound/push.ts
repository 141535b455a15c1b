// Sends one push: builds the request for a receiver and reads its answer.

import { say } from "../kernel/messages/message.ts";
import type { Answer, Sender } from "../delivery/send.ts";
import type { PlatformRequest } from "../platforms/platform.ts";
import { retryAfterSeconds } from "../platforms/shared/response.ts";
import { signatureHeaders, validSecrets } from "../platforms/shared/signature.ts";
import type { Period } from "../store/outbound/periods.ts";
import type { PushCall } from "../store/outbound/pushes.ts";
import type { Address } from "../store/outbound/webhooks.ts";

/** Time that a receiver has to answer. */
export const pushAttemptMs = 15_000;

export type Message = {
  /** The same on every attempt, so that receivers can recognise repeats. */
  id: string;
  startsAt: number;
  endsAt: number;
  conversions: number;
  removed: number;
  isTest: boolean;
};

/** Our reading of a receiver's answer. */
export type PushReading = {
  ok: boolean;
  httpStatus: number | null;
  /** Our own description of the failure. */
  error: string | null;
  /** Bounded, escaped and without secrets. */
  response: string | null;
  retryAfterSeconds: number;
};

export function messageOf(webhookId: string, period: Period): Message {
  const { number, startsAt, endsAt, conversions, removed } = period;
  return { id: `push_${webhookId}_${number}`, startsAt, endsAt, conversions, removed, isTest: false };
}

export const bodyOf = ({ conversions, removed }: Message) => JSON.stringify({ conversions, bot_traffic_removed: removed });

/** `bearer` is one of the valid secrets; the request is signed with all of them. */
export function pushRequest(address: Address, bearer: string, message: Message, now: number): PlatformRequest {
  const { id, startsAt, endsAt, isTest } = message;
  const body = bodyOf(message);
  return {
    method: "POST",
    url: address.url,
    headers: {
      authorization: `Bearer ${bearer}`,
      "content-type": "application/json",
      "user-agent": "Cleancast",
      ...signatureHeaders(address.secrets, id, body, now),
      "x-cc-period": `${new Date(startsAt).toISOString()}/${new Date(endsAt).toISOString()}`,
      ...(isTest ? { "x-cc-test": "true" } : {}),
    },
    body,
  };
}

export function readAnswer(request: PlatformRequest, answer: Answer, now: number): PushReading {
  if (!answer.ok) return { ok: false, httpStatus: null, error: answer.error, response: null, retryAfterSeconds: 0 };
  const { status, body, headers } = answer.response;
  const ok = status >= 200 && status < 300;
  const isRedirect = status >= 300 && status < 400;
  const error = status === 410 ? say("http_gone", { status }) : isRedirect ? say("http_redirect", { status }) : `HTTP ${status}`;
  return {
    ok,
    httpStatus: status,
    error: ok ? null : error,
    response: excerpt(body, request),
    retryAfterSeconds: retryAfterSeconds(headers["retry-after"], now) ?? 0,
  };
}

const maxExcerptLength = 300;

/** Cuts a receiver's text and removes our secrets and everything that could act on a terminal or a page. */
export function excerpt(text: string, request: PlatformRequest): string {
  const { authorization = "", "webhook-signature": signature = "" } = request.headers;
  const { pathname, search } = new URL(request.url);
  const secrets = [
    ...authorization.split(" "),
    authorization.replace(/^Bearer whsec_/, ""),
    ...signature.split(" ").flatMap((one) => [one, one.replace("v1,", "")]),
    search,
    pathname,
  ].filter((one) => one.length >= 8);
  const forms = secrets.flatMap((one) => [one, one.replaceAll("/", "\\/"), encodeURIComponent(one)]);
  const safe = forms.reduce((rest, one) => rest.replaceAll(one, "…"), text).toWellFormed();
  return safe
    .slice(0, maxExcerptLength)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

const escaped = (character: string) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

type CallOptions = {
  sender: Sender;
  now: () => number;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  newId: () => string;
  /** Checked before a second call; false prevents it. */
  mayCallAgain: () => Promise<boolean>;
};

/**
 * Sends a message. During a rotation, a receiver that refuses the new secret is called again with the old one. Returns the
 * calls for the log, and the reading of the last answer.
 */
export async function sendMessage(
  address: Address,
  message: Message,
  { sender, now, elapsed, newId, mayCallAgain }: CallOptions,
): Promise<{ reading: PushReading; calls: PushCall[] }> {
  const calls: PushCall[] = [];
  const [current, ...older] = validSecrets(address.secrets, now());

  async function callWith(bearer: string): Promise<PushReading> {
    const startedAt = now();
    const began = elapsed();
    const request = pushRequest(address, bearer, message, startedAt);
    const answer = await sender.send(request, { platform: "outbound", customerAddress: true });
    const reading = readAnswer(request, answer, now());
    const { ok, httpStatus, error, response } = reading;
    const durationMs = Math.round(elapsed() - began);
    calls.push({ id: newId(), startedAt, durationMs, ok, httpStatus, error, response });
    return reading;
  }

  let reading = await callWith(current);
  for (const secret of older) {
    const isUnauthorised = reading.httpStatus === 401 || reading.httpStatus === 403;
    if (!isUnauthorised || !(await mayCallAgain())) break;
    reading = await callWith(secret);
  }
  return { reading, calls };
}
