// A circuit breaker for each connection, so that a platform that is down or rate-limiting is not called over and over:
//
//   closed ──several failed calls in a row──▶ open ──after a pause──▶ half open ──one call succeeds──▶ closed
//                                              ▲                          │
//                                              └──────it fails: a longer pause──┘
//
// A platform's Retry-After opens it for that time, up to a limit. Each node counts for itself, in memory.

import { minuteMs } from "../../kernel/time.ts";

export type Breaker = {
  /** 0 when the connection may be called now; otherwise when to check again. */
  blockedUntil(key: string, now: number): number;
  /** True when the next call is a probe that decides whether more may follow. */
  isHalfOpen(key: string, now: number): boolean;
  /** Records that a call starts: while half open, it blocks all others. */
  recordCall(key: string, now: number): void;
  recordSuccess(key: string): void;
  recordFailure(key: string, now: number): void;
  /** The platform asked not to be called for this long. */
  recordRetryAfter(key: string, now: number, seconds: number): void;
  /** The keys of connections that are blocked now. */
  listOpen(now: number): string[];
};

const opensAfter = 5;
const firstPauseMs = 5_000;
const maxPauseMs = 5 * minuteMs;
/** Delay of the next check while another call is probing. */
const probeMs = 2_000;

type State = { failures: number; pauses: number; until: number; isProbing: boolean };

export function openBreaker(): Breaker {
  const states = new Map<string, State>();

  function stateOf(key: string): State {
    let state = states.get(key);
    if (!state) states.set(key, (state = { failures: 0, pauses: 0, until: 0, isProbing: false }));
    return state;
  }

  function blockedUntil(key: string, now: number): number {
    const state = states.get(key);
    if (!state || state.until === 0) return 0;
    if (state.until > now) return state.until;
    return state.isProbing ? now + probeMs : 0;
  }

  return {
    blockedUntil,
    isHalfOpen: (key, now) => Boolean(states.get(key)?.until) && blockedUntil(key, now) === 0,
    recordCall(key, now) {
      const state = states.get(key);
      if (!state?.until) return;
      state.isProbing = true;
      state.until = now;
    },
    recordSuccess: (key) => void states.delete(key),
    recordFailure(key, now) {
      const state = stateOf(key);
      state.failures += 1;
      // Calls that were in flight when the breaker opened do not count again.
      const counts = state.isProbing || state.until === 0;
      state.isProbing = false;
      if (!counts || state.failures < opensAfter) return;
      state.until = now + Math.min(firstPauseMs * 2 ** state.pauses, maxPauseMs);
      state.pauses += 1;
    },
    recordRetryAfter(key, now, seconds) {
      const state = stateOf(key);
      state.isProbing = false;
      state.until = now + Math.min(seconds * 1000, maxPauseMs);
    },
    listOpen: (now) => Array.from(states.keys()).filter((key) => blockedUntil(key, now) > 0),
  };
}
