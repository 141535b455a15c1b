// Finds the cause of a rejection: some of the conversions, where a platform accepts all of a batch or nothing; or a setting,
// where the conversions are valid and wait until it is corrected.

import type { Conversion, Reading } from "../../kernel/event.ts";
import type { ConnectionSettings, PlatformResponse } from "../platform.ts";
import { chosenSetting, nameSetting, usualEventOf } from "./eventNames.ts";
import { readStatus, rejected, retryLater, shorten } from "./response.ts";

/**
 * The conversions in `reasons` (by their index in the request) are rejected with that message, the others are resent
 * without them. When `reasons` is empty, the reading is the same for all, and delivery halves the batch to find the bad one.
 */
export function readBatchRejection(
  response: PlatformResponse,
  { count, reasons, detail }: { count: number; reasons: ReadonlyMap<number, string>; detail: string },
  now: number,
): Reading[] {
  return readNamed(response.status, count, reasons, readStatus(response, now, detail));
}

/** The same for a response that has been read as a whole. */
export function readNamed(status: number, count: number, reasons: ReadonlyMap<number, string>, whole: Reading): Reading[] {
  const isNamed = [...reasons.keys()].some((index) => index < count);
  return Array.from({ length: count }, (_, index): Reading => {
    if (!isNamed || whole.kind !== "rejected") return whole;
    const message = reasons.get(index);
    return message === undefined ? resendable(status) : rejected(`HTTP ${status}: ${shorten(message)}`);
  });
}

/** For a valid conversion in a batch that was rejected because of another one. */
export const resendable = (status: number): Reading =>
  retryLater(`HTTP ${status}: rejected because of another event in the same request`, 1);

/**
 * Messages by the index that they name, which is the pattern's first group. A message without an index may be about any
 * conversion of the request: then none can be called resendable, and the map is empty.
 */
export function messagesByIndex(messages: readonly string[], pattern: RegExp): Map<number, string> {
  const found = new Map<number, string>();
  for (const message of messages) {
    const index = pattern.exec(message)?.[1];
    if (index === undefined) return new Map();
    const before = found.get(Number(index));
    found.set(Number(index), before === undefined ? message : `${before}; ${message}`);
  }
  return found;
}

const settingRetrySeconds = 3600;

/**
 * For a conversion whose rule, action, tag or goal the platform does not know or does not let us use. That stops only the
 * events that use it, so the connection stays active: they are retried after an hour, then less often, and at once when the
 * connection is changed.
 * `defaultSetting` is the setting for events without their own.
 */
export function waitForSetting(
  error: string,
  { name }: Conversion,
  settings: ConnectionSettings,
  defaultSetting: string,
): Reading {
  const chosen = chosenSetting(name, settings);
  const event = chosen === nameSetting(name) ? name.trim() : usualEventOf(name);
  return waitUntilCorrected(error, chosen === null ? defaultSetting : `event.${event}`);
}

/** What reasons of deliveries contain that wait for a setting. */
export const waitsForSetting = "; waits until ";

/** For valid conversions that the platform refuses because of this setting. */
export const waitUntilCorrected = (error: string, setting: string) =>
  retryLater(`${shorten(error)}${waitsForSetting}${shorten(setting)} is corrected`, settingRetrySeconds);
