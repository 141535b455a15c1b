// The live feed. A repeated id is an update of that event.

import { useEffect, useRef, useState } from "react";
import { urlOf, type Answer } from "./api.ts";

export type EventSummary = Answer<"GET /sites/:site/events">["items"][number];
export type FeedState = "connecting" | "live" | "reconnecting";

const quietMs = 4_000;
const againMs = 10_000;

/** `onBack` is called when the feed is back after a break: events of that time have to be read. */
export function useFeed(site: string, onEvent: (event: EventSummary) => void, onBack?: () => void) {
  const [state, setState] = useState<FeedState>("connecting");
  const handlers = useRef({ onEvent, onBack });
  useEffect(() => {
    handlers.current = { onEvent, onBack };
  });
  useEffect(() => {
    let source: EventSource;
    let retry: ReturnType<typeof setTimeout> | undefined;
    // The relay ends streams regularly and browsers reconnect at once: this is not shown.
    let saying: ReturnType<typeof setTimeout> | undefined;
    let wasOpen = false;
    const open = () => {
      source = new EventSource(urlOf("GET /sites/:site/feed", { params: { site } }));
      source.addEventListener("open", () => {
        clearTimeout(saying);
        saying = undefined;
        setState("live");
        if (wasOpen) handlers.current.onBack?.();
        wasOpen = true;
      });
      source.addEventListener("message", ({ data }: MessageEvent<string>) => {
        try {
          handlers.current.onEvent(JSON.parse(data) as EventSummary);
        } catch {
          // A truncated line; the list has the event anyway.
        }
      });
      source.addEventListener("error", () => {
        saying ??= setTimeout(() => setState("reconnecting"), quietMs);
        // Browsers do not retry a refused stream.
        if (source.readyState === EventSource.CLOSED) retry = setTimeout(open, againMs);
      });
    };
    open();
    return () => {
      clearTimeout(retry);
      clearTimeout(saying);
      source.close();
    };
  }, [site]);
  return state;
}
