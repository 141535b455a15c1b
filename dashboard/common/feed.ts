// Events as they arrive. The same id again is an update of it.

import { useEffect, useRef, useState } from "react";
import { addressOf, type Answer } from "./api.ts";

export type EventSummary = Answer<"GET /sites/:site/events">["items"][number];
export type FeedState = "connecting" | "live" | "reconnecting";

const quietMs = 4_000;
const againMs = 10_000;

/** `onBack` when the feed is there again after a break: what came meanwhile has to be read. */
export function useFeed(site: string, onEvent: (event: EventSummary) => void, onBack?: () => void) {
  const [state, setState] = useState<FeedState>("connecting");
  const handlers = useRef({ onEvent, onBack });
  useEffect(() => {
    handlers.current = { onEvent, onBack };
  });
  useEffect(() => {
    let source: EventSource;
    let retry: ReturnType<typeof setTimeout> | undefined;
    // Streams end by themselves now and then, and are back at once: that is no news.
    let saying: ReturnType<typeof setTimeout> | undefined;
    let wasOpen = false;
    const open = () => {
      source = new EventSource(addressOf("GET /sites/:site/feed", { params: { site } }));
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
          // A line that was cut off; the list has the event all the same.
        }
      });
      source.addEventListener("error", () => {
        saying ??= setTimeout(() => setState("reconnecting"), quietMs);
        // What was refused is not tried again by the browser itself.
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
