// Whose fault a refusal is: that of some conversions, where a platform takes a batch whole or not at all; or that of a
// setting, where the conversions are good and wait until it was put right.

import type { Conversion, Reading } from "../../kernel/event.ts";
import { nameSetting } from "./eventNames.ts";
import { later, readStatus, shorten } from "./readResponse.ts";
import type { ConnectionSettings, PlatformResponse } from "../platform.ts";

/**
 * Those named (by their place in the request) are refused, the others go again without them. When none is named the
 * reading is the same for all, and delivery halves the batch to find the one that was meant.
 */
export function blame(
  response: PlatformResponse,
  count: number,
  named: ReadonlyMap<number, string>,
  detail: string,
): Reading[] {
  const whole = readStatus(response, detail);
  const known = [...named.keys()].some((index) => index < count);
  return Array.from({ length: count }, (_, index): Reading => {
    if (!known || whole.outcome !== "rejected") return whole;
    const fault = named.get(index);
    return fault === undefined
      ? later(`HTTP ${response.status}: refused because of another event in the same request`, 1)
      : { outcome: "rejected", error: `HTTP ${response.status}: ${shorten(fault)}` };
  });
}

/**
 * Messages by the place that they name, which is the pattern's first group. One that names no place may be about any
 * conversion of the request: then nobody can be called innocent, and the map is empty.
 */
export function faultsByPlace(messages: readonly string[], place: RegExp): Map<number, string> {
  const faults = new Map<number, string>();
  for (const message of messages) {
    const found = place.exec(message)?.[1];
    if (found === undefined) return new Map();
    const before = faults.get(Number(found));
    faults.set(Number(found), before === undefined ? message : `${before}; ${message}`);
  }
  return faults;
}

const settingSeconds = 3600;

/**
 * For a conversion that goes to a rule, an action, a tag or a goal that the platform does not know or does not let us
 * use. Only its own events are stopped by that, so the connection stays as it is: they wait, are tried every hour, and
 * go out once the setting was put right. `usual` is the setting for events that have none of their own.
 */
export function awaitSetting(
  error: string,
  { name }: Conversion,
  settings: ConnectionSettings,
  usual: string,
): Reading {
  const setting = settings[nameSetting(name)] === undefined ? usual : `event.${name.trim()}`;
  return later(`${shorten(error)}; waits until ${shorten(setting)} is corrected`, settingSeconds);
}
