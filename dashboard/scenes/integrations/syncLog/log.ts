// The filter of the sync log. It is part of the URL, so that a link shows the same.

import { useQueryParams } from "../../../common/lists/queryParams.ts";
import type { Answer } from "../../../common/api/api.ts";
import { useTimes } from "../../../common/lists/TimeFilter.tsx";

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

/** `fixed` comes from the page and cannot be changed by the URL. */
export function useLogFilter(fixed: LogFilter = {}): LogFilter {
  const { text } = useQueryParams();
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
