// The bounded log of a stand-in's calls with their verdicts, and the bounded ledger of the events that it accepted. Secrets
// are never kept: the log says "configured" where one was given.

import type { AcceptedInput, Answer, Call, RouteKind } from "./standin.ts";

/** `partial`: some events of the call were accepted. `served`: a picker or a sign-in page. */
type Verdict = "accepted" | "partial" | "tested" | "rejected" | "served";

export type Received = {
  at: number;
  kind: RouteKind | "unknown";
  method: string;
  /** With its query, secrets hidden. */
  path: string;
  headers: Record<string, string>;
  /** Parsed JSON or form; the text where it is neither. */
  body: unknown;
  /** Null when the connection was cut instead of answered. */
  status: number | null;
  verdict: Verdict;
  reasons: string[];
};

export type AcceptedEvent = {
  id: string | null;
  name?: string;
  /** The number of times that it was accepted. */
  count: number;
  /** The number of times that it counts as a conversion: a recognised repeat does not. */
  counted: number;
  firstAt: number;
  lastAt: number;
  /** The event as last received; dropped for all but the newest, so that a long run fits in memory. */
  event?: unknown;
};

const logLength = 1000;
/** Bounds the bodies: a thousand full batches would fill the memory. */
const logBytes = 32 * 1024 * 1024;
const ledgerLength = 200_000;
const ledgerBodies = 2000;

const usualSecrets =
  "authorization proxy-authorization cookie access-token x-pixel-token x-api-key access_token refresh_token " +
  "auth_code code_verifier client_secret api_secret appsecret_proof";
/** Secret in a sign-in only: an event may have a field of that name. */
const signInSecrets = ["code", "token", "secret"];

type Hide = (name: string, value: unknown) => unknown;

export type CallRecord = {
  received: Received[];
  readonly accepted: AcceptedEvent[];
  logCall(call: Call, kind: Received["kind"], at: number, status: number | null, verdict: Verdict, reasons: string[]): void;
  addAccepted(events: readonly AcceptedInput[], at: number): void;
  clear(): void;
};

export function createRecord(secrets: readonly string[] = []): CallRecord {
  const always = new Set([...usualSecrets.split(" "), ...secrets].map((name) => name.toLowerCase()));
  const inSignIn = always.union(new Set(signInSecrets));
  const received: Received[] = [];
  const sizes: number[] = [];
  let logged = 0;
  const ledger = new Map<string, AcceptedEvent & { countedAt: number }>();
  let withoutId = 0;
  let sinceSweep = 0;

  /** Walks the whole ledger, so it runs once for many events. */
  const sweep = () => {
    let older = ledger.size - ledgerBodies;
    for (const [key, entry] of ledger) {
      if (older-- <= 0) break;
      if (ledger.size > ledgerLength) ledger.delete(key);
      else delete entry.event;
    }
    sinceSweep = 0;
  };

  return {
    received,
    get accepted(): AcceptedEvent[] {
      return [...ledger.values()].map(({ countedAt: _countedAt, ...shown }) => shown);
    },

    logCall(call: Call, kind: Received["kind"], at: number, status: number | null, verdict: Verdict, reasons: string[]) {
      const hidden = kind === "authorize" || kind === "token" ? inSignIn : always;
      const hide: Hide = (name, value) => (hidden.has(name.toLowerCase()) && value ? "configured" : value);
      // Some platforms have a key in the path, as a named parameter of the route.
      const path = Object.entries(call.params).reduce(
        (shown, [name, value]) => (hidden.has(name.toLowerCase()) ? shown.replace(value, "configured") : shown),
        call.path,
      );
      const query = [...call.query].map(([name, value]) => `${name}=${encodeURIComponent(String(hide(name, value)))}`).join("&");
      received.push({
        at,
        kind,
        method: call.method,
        path: query ? `${path}?${query}` : path,
        headers: Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, String(hide(name, value))])),
        body: shownBody(call, hide),
        status,
        verdict,
        reasons,
      });
      sizes.push(call.bytes);
      logged += call.bytes;
      while (received.length > logLength || (logged > logBytes && received.length > 1)) {
        received.shift();
        logged -= sizes.shift() ?? 0;
      }
    },

    addAccepted(events: readonly AcceptedInput[], at: number) {
      for (const { id, name, key, windowSeconds, event } of events) {
        const entryKey = id === null ? `\0${withoutId++}` : (key ?? id);
        const before = ledger.get(entryKey);
        const repeat = before !== undefined && windowSeconds !== null && at - before.countedAt < windowSeconds * 1000;
        // Moved to the end: the ledger drops the entries that were not seen for longest.
        ledger.delete(entryKey);
        ledger.set(entryKey, {
          id,
          ...(name === undefined ? {} : { name }),
          count: (before?.count ?? 0) + 1,
          counted: (before?.counted ?? 0) + (repeat ? 0 : 1),
          firstAt: before?.firstAt ?? at,
          lastAt: at,
          countedAt: repeat ? before.countedAt : at,
          event,
        });
      }
      sinceSweep += events.length;
      if (sinceSweep >= ledgerBodies) sweep();
    },

    clear() {
      received.length = 0;
      sizes.length = 0;
      logged = 0;
      ledger.clear();
    },
  };
}

export function verdictOf(kind: Received["kind"], answer: Answer): Verdict {
  if (kind !== "events") return answer.status < 400 && !answer.rejected?.length ? "served" : "rejected";
  if (answer.rejected?.length) return answer.accepted?.length ? "partial" : "rejected";
  if (answer.tested) return "tested";
  return answer.status < 400 && answer.accepted ? "accepted" : answer.status < 400 ? "served" : "rejected";
}

function shownBody(call: Call, hide: Hide): unknown {
  if (!call.text) return undefined;
  if (/^application\/x-www-form-urlencoded\b/i.test(call.headers["content-type"] ?? ""))
    return Object.fromEntries([...new URLSearchParams(call.text)].map(([name, value]) => [name, hide(name, value)]));
  try {
    return JSON.parse(call.text, (name, value: unknown) => (typeof value === "string" ? hide(name, value) : value));
  } catch {
    return call.text.slice(0, 2000);
  }
}
