// A circuit breaker for each connection, so that a platform that is down or rate-limiting is not called over and over:
//
//   closed ──several failed calls in a row──▶ open ──after a pause──▶ half open ──one call succeeds──▶ closed
//                                              ▲                          │
//                                              └──────it fails: a longer pause──┘
//
// A platform's Retry-After opens it for that time, up to a limit. Each node counts for itself, in memory, and by a monotonic
// clock: a wall clock that ran ahead and was corrected would keep it open for as long as it ran ahead.

import { minuteMs } from "../../kernel/time.ts";

/** Times (`at`) are milliseconds on a monotonic clock. */
export type Breaker = {
  /** 0 when the connection may be called; otherwise the time until it should be checked again. */
  blockedMs(key: string, at: number): number;
  /** True when the next call is a probe that decides whether more may follow. */
  isHalfOpen(key: string, at: number): boolean;
  /** Records that a call starts: while half open, it blocks all others. */
  recordCall(key: string, at: number): void;
  /** The call was not made after all. */
  cancelCall(key: string): void;
  recordSuccess(key: string): void;
  recordFailure(key: string, at: number): void;
  /** The platform asked not to be called for this long. */
  recordRetryAfter(key: string, at: number, seconds: number): void;
  /** The keys of connections that are blocked. */
  listOpen(at: number): string[];
};

const opensAfter = 5;
const firstPauseMs = 5_000;
const maxPauseMs = 5 * minuteMs;
/** Delay of the next check while another call is probing. */
const probeMs = 2_000;

/** `until` is null while the breaker is closed. */
type State = { failures: number; pauses: number; until: number | null; isProbing: boolean };

export function createBreaker(): Breaker {
  const states = new Map<string, State>();

  function stateOf(key: string): State {
    let state = states.get(key);
    if (!state) states.set(key, (state = { failures: 0, pauses: 0, until: null, isProbing: false }));
    return state;
  }

  function blockedMs(key: string, at: number): number {
    const state = states.get(key);
    if (!state || state.until === null) return 0;
    if (state.until > at) return state.until - at;
    return state.isProbing ? probeMs : 0;
  }

  return {
    blockedMs,
    isHalfOpen: (key, at) => (states.get(key)?.until ?? null) !== null && blockedMs(key, at) === 0,
    recordCall(key, at) {
      const state = states.get(key);
      if (!state || state.until === null) return;
      state.isProbing = true;
      state.until = at;
    },
    cancelCall(key) {
      const state = states.get(key);
      if (state) state.isProbing = false;
    },
    recordSuccess: (key) => void states.delete(key),
    recordFailure(key, at) {
      const state = stateOf(key);
      state.failures += 1;
      // Calls that were in flight when the breaker opened do not count again.
      const counts = state.isProbing || state.until === null;
      state.isProbing = false;
      if (!counts || state.failures < opensAfter) return;
      state.until = at + Math.min(firstPauseMs * 2 ** state.pauses, maxPauseMs);
      state.pauses += 1;
    },
    recordRetryAfter(key, at, seconds) {
      const state = stateOf(key);
      state.isProbing = false;
      state.until = at + Math.min(seconds * 1000, maxPauseMs);
    },
    listOpen: (at) => Array.from(states.keys()).filter((key) => blockedMs(key, at) > 0),
  };
}
