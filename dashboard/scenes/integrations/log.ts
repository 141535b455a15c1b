// What a sync log is filtered by. It stands in the address, so that a link shows the same.

import { useAddress } from "../../common/address.ts";
import type { Answer } from "../../common/api.ts";
import { useTimes } from "../../common/TimeFilter.tsx";

export type LogLine = Answer<"GET /sites/:site/deliveries">["items"][number];
export type DeliveryState = LogLine["state"];

export const deliveryStates: readonly DeliveryState[] = [
  "sent",
  "queued",
  "skipped",
  "rejected",
  "parked",
  "expired",
];

export type LogFilter = {
  platform?: string;
  connection?: string;
  state?: DeliveryState;
  event?: string;
  mode?: LogLine["event"]["mode"];
  search?: string;
  from?: number;
  to?: number;
};

/** `fixed` is what the page is about and the address cannot change. */
export function useLogFilter(fixed: LogFilter = {}): LogFilter {
  const { text } = useAddress();
  const times = useTimes();
  const given = (name: "platform" | "connection" | "event" | "search") =>
    text(name) ? { [name]: text(name) } : {};
  const state = deliveryStates.find((one) => one === text("state"));
  const mode = (["live", "test"] as const).find((one) => one === text("mode"));
  return {
    ...given("platform"),
    ...given("connection"),
    ...(state ? { state } : {}),
    ...given("event"),
    ...(mode ? { mode } : {}),
    ...given("search"),
    ...times,
    ...fixed,
  };
}
