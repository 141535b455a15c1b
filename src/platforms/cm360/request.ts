// Translates conversions to events of the Data Manager API, for Floodlight activities of Campaign Manager 360.

import type { Conversion } from "../../kernel/event.ts";
import { dayMs } from "../../kernel/time.ts";
import type { ConnectionSettings, EventNames, Platform } from "../platform.ts";
import { cookieGclid, ingestEvent, ingestRequest, ingestValue } from "../shared/dataManager/request.ts";
import { eventNamesOf } from "../shared/eventNames.ts";
import { type Body, validId } from "../shared/values.ts";

/** Floodlight has no event names here: each event goes to activities, by number. */
export const events: EventNames = {
  standard: {},
  others: "not sent",
  target: "Floodlight activity",
  several: true,
  defaultSetting: "activity",
  check: (value) => (/^\d{1,20}$/.test(value) ? null : "must be the number of a Floodlight activity, digits only"),
};

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => {
  const activities = conversions[0] ? activitiesOf(conversions[0], settings) : [];
  return ingestRequest(conversions, settings, {
    destinations: (activities.length ? activities : [undefined]).map((activity) => ({
      // Without a login account it is the operating account, the only one that Google accepts here.
      operatingAccount: { accountType: "FLOODLIGHT_CONFIG", accountId: settings.floodlight_configuration },
      productDestinationId: activity,
    })),
    events: conversions.map((conversion) => toEvent(conversion, settings, now)),
  });
};

export const activitiesOf = (conversion: Conversion, settings: ConnectionSettings) => eventNamesOf(conversion, settings, events);

/** Campaign Manager 360 finds no click of a gclid after sixty days. */
const gclidDays = 60;

/** One identifier, because Campaign Manager 360 takes no two together. dclid is its own; gclid is that of Search Ads 360. */
export function clickOf(conversion: Conversion): Record<string, string> | null {
  const { clickIds, time, consent } = conversion;
  if (consent === "denied") return null;
  const dclid = validId(clickIds.dclid?.value);
  if (dclid) return { dclid };
  const seen = clickIds.gclid;
  const isFound = seen !== undefined && time - seen.seenAt <= gclidDays * dayMs;
  const gclid = (isFound ? validId(seen.value) : undefined) ?? cookieGclid(conversion, gclidDays);
  return gclid ? { gclid } : null;
}

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { value, currency } = conversion;
  return {
    ...ingestEvent(conversion, settings, now),
    ...(value === null ? {} : ingestValue(value, currency)),
    adIdentifiers: clickOf(conversion) ?? undefined,
  };
}
