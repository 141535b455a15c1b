// The live feed. A repeated id is an update of that event.

import { useEffect, useRef, useState } from "react";
import { urlOf, type Answer } from "./api.ts";
import { keepMessages } from "../../messages/server.ts";
import { checkSession } from "./query.ts";

export type EventSummary = Answer<"GET /sites/:site/events">["items"][number];
export type FeedState = "connecting" | "live" | "reconnecting";

const noticeDelayMs = 4_000;
const retryMs = 10_000;

/** `onReconnect` runs after an interruption, to load the events that were missed. */
export function useFeed(site: string, onEvent: (event: EventSummary) => void, onReconnect?: () => void) {
  const [state, setState] = useState<FeedState>("connecting");
  const handlers = useRef({ onEvent, onReconnect });
  useEffect(() => {
    handlers.current = { onEvent, onReconnect };
  });
  useEffect(() => {
    let source: EventSource;
    let retry: ReturnType<typeof setTimeout> | undefined;
    // The relay ends streams regularly, and browsers reconnect immediately. Such a short interruption is not shown.
    let notice: ReturnType<typeof setTimeout> | undefined;
    let wasOpen = false;
    const open = () => {
      source = new EventSource(urlOf("GET /sites/:site/feed", { params: { site } }));
      source.addEventListener("open", () => {
        clearTimeout(notice);
        notice = undefined;
        setState("live");
        if (wasOpen) handlers.current.onReconnect?.();
        wasOpen = true;
      });
      source.addEventListener("message", ({ data }: MessageEvent<string>) => {
        try {
          const event = JSON.parse(data) as EventSummary;
          keepMessages(event);
          handlers.current.onEvent(event);
        } catch {
          // A truncated line; the list has the event anyway.
        }
      });
      source.addEventListener("error", () => {
        notice ??= setTimeout(() => setState("reconnecting"), noticeDelayMs);
        checkSession();
        // Browsers do not retry a refused stream.
        if (source.readyState === EventSource.CLOSED) retry = setTimeout(open, retryMs);
      });
    };
    open();
    return () => {
      clearTimeout(retry);
      clearTimeout(notice);
      source.close();
    };
  }, [site]);
  return state;
}
