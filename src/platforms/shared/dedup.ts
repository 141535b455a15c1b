// Which id a platform recognises a conversion by when the site's pixel reported it too.

import type { Conversion } from "../../kernel/event.ts";
import { oneOf } from "./eventBody.ts";
import type { ConnectionSettings } from "../platform.ts";

export const dedupSetting = {
  name: "dedup_id",
  label: "Deduplication id",
  help:
    "Which id the platform compares with the one that your pixel sends: event (the id that cc.eventId gives in the " +
    "browser) or order (the order id, where there is one).",
  default: "event",
  check: oneOf(["event", "order"]),
} as const;

export function dedupId({ platformEventId, orderId }: Conversion, settings: ConnectionSettings): string {
  return settings[dedupSetting.name] === "order" ? (orderId ?? platformEventId) : platformEventId;
}
