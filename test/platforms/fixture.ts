// For the tests of single platforms: calls a platform's functions with the settings of one connection.

import type { Conversion, Reading } from "../../src/kernel/event.ts";
import type { ConnectionSettings, Platform, PlatformRequest, PlatformResponse } from "../../src/platforms/platform.ts";
import { sampleConversion } from "../../src/platforms/shared/sample.ts";
import { skipOf } from "../../src/platforms/shared/skips.ts";

/** A day after the sample conversion. */
export const now = Date.UTC(2026, 10, 15, 9, 30);

/** Each call changes the sample conversion, and adds `more` to the connection's settings. */
export function platformFixture(platform: Platform, settings: ConnectionSettings) {
  return {
    request: (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}): PlatformRequest =>
      platform.toRequest([sampleConversion(changes)], { ...settings, ...more }, now),

    skipReason: (changes: Partial<Conversion> = {}, more: ConnectionSettings = {}): string | null =>
      skipOf(platform, sampleConversion(changes), { ...settings, ...more })?.reason ?? null,

    /** Reads a response, HTTP 200 by default, to a request of `count` conversions. */
    read: (response: Partial<PlatformResponse>, count = 1, more: ConnectionSettings = {}): Reading[] =>
      platform.readResponse(
        { status: 200, headers: {}, body: "", ...response },
        Array.from({ length: count }, () => sampleConversion()),
        { ...settings, ...more },
        now,
      ),

    /** Returns what is wrong with the value of a setting, or null. */
    settingFault: (name: string, value: string): string | null => {
      const setting = platform.settings.find((one) => one.name === name);
      if (!setting) throw new Error(`${platform.name} has no setting ${name}.`);
      return setting.check?.(value) ?? null;
    },
  };
}

/** The first event in the `data` of a request. */
export function firstEvent({ body }: PlatformRequest): Record<string, unknown> {
  const [event] = (JSON.parse(body) as { data: Record<string, unknown>[] }).data;
  if (!event) throw new Error("The request has no event.");
  return event;
}
