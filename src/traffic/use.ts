// Signals of how a page is used: by hands, or by a program that makes the events of a browser. Three kinds of evidence that do
// not depend on each other: the pointer, the typing, and the window. Each alone is soft. What a usual device or browser explains
// has so few points that it convicts with no other of them: a touchpad that is tapped has short presses, kiosks, browsers inside
// of programs and some that protect privacy show no window frame. Text tools and password managers type at once, and dictation
// inserts whole words, so these need a mouse that no hand moves. Touch screens and input methods are left out: their events
// differ by device.

import type { ObservedUse } from "./observation.ts";
import type { Signal, SignalInput } from "./signal.ts";

const minKeys = 8;
const shortPressMs = 25;
const shortHoldMs = 12;
const shortGapMs = 30;
const shortPauseMs = 20;
const evenPercent = 75;
const minInserted = 5;
/** More keys and clicks than a person makes in a second, since the page was loaded. */
const inputsPerSecond = 9;
const minInputs = 12;

const ifUsed = (find: (use: ObservedUse, seen: SignalInput) => string | null) => (seen: SignalInput) =>
  seen.use ? find(seen.use, seen) : null;
const ifTyped = (find: (use: ObservedUse, seen: SignalInput) => string | null) =>
  ifUsed((use, seen) => (use.hasTouch || use.hasInputMethod ? null : find(use, seen)));
const underMs = (value: number | null, limit: number) => (value !== null && value < limit ? `${value} ms` : null);

export const useSignals: readonly Signal[] = [
  {
    category: "pointer",
    name: "press too short",
    points: 20,
    mode: "shadow",
    why: "The mouse button was down for a shorter time than a finger takes.",
    find: ifUsed(({ pressMs, hasTouch }) => (hasTouch ? null : underMs(pressMs, shortPressMs))),
  },
  {
    category: "pointer",
    name: "no way to the press",
    points: 35,
    mode: "shadow",
    why: "The mouse was pressed at places that it did not move to, nearly every time.",
    // Where the mouse was before the first press may be unknown. A busy browser loses the way to one press, not to nearly all.
    find: ifUsed(({ presses, jumps, hasTouch }) => (jumps > 0 && jumps >= presses - 1 && !hasTouch ? `${jumps} times` : null)),
  },
  {
    category: "pointer",
    name: "between pixels",
    points: 35,
    mode: "shadow",
    why: "A mouse on a screen that is not scaled moves by whole pixels.",
    find: ifUsed(({ fractions, hasTouch }, { claims }) =>
      fractions > 0 && !hasTouch && claims.engine === "chromium" && (claims.os === "windows" || claims.os === "linux")
        ? `${fractions} times`
        : null,
    ),
  },
  {
    category: "typing",
    name: "inserted at once",
    points: 35,
    mode: "shadow",
    why: "Text appeared at once, without a key, a paste or autofill.",
    find: ifTyped(({ inserted, keys }) => (inserted >= minInserted && keys < minKeys ? `${inserted} characters` : null)),
  },
  {
    category: "typing",
    name: "keys too short",
    points: 35,
    mode: "shadow",
    why: "The keys were down for a shorter time than fingers take.",
    find: ifTyped(({ keys, holdMs }) => (keys >= minKeys ? underMs(holdMs, shortHoldMs) : null)),
  },
  {
    category: "typing",
    name: "too fast",
    points: 35,
    mode: "shadow",
    why: "The keys came faster than fingers type.",
    find: ifTyped(({ keys, gapMs }) => (keys >= minKeys ? underMs(gapMs, shortGapMs) : null)),
  },
  {
    category: "typing",
    name: "too even",
    points: 30,
    mode: "shadow",
    why: "The pauses between the keys are all the same; people type unevenly.",
    find: ifTyped(({ keys, evenness }) => (keys >= minKeys && evenness >= evenPercent ? `${evenness} %` : null)),
  },
  {
    category: "typing",
    name: "no pauses",
    points: 35,
    mode: "shadow",
    why: "Each key was pressed as soon as the one before was released; people pause, or press the next key before.",
    find: ifTyped(({ keys, pauseMs, overlaps }) => (keys >= minKeys && overlaps === 0 ? underMs(pauseMs, shortPauseMs) : null)),
  },
  {
    category: "typing",
    name: "many inputs",
    points: 35,
    mode: "shadow",
    why: "More keys and clicks a second than a person makes.",
    find({ submit }) {
      if (!submit || submit.inputs < minInputs) return null;
      const rate = (submit.inputs * 1000) / Math.max(submit.afterMs, 1);
      return rate >= inputsPerSecond ? `${Math.round(rate)} a second` : null;
    },
  },
  {
    category: "window",
    name: "no frame",
    points: 20,
    mode: "shadow",
    why: "The window has no frame, as windows without a screen have.",
    find: ifUsed(({ isFrameless, hasTouch }, { claims }) => (isFrameless && !hasTouch && !claims.mobile ? "" : null)),
  },
  {
    category: "window",
    name: "default screen",
    points: 30,
    mode: "shadow",
    why: "The screen has 800 × 600 pixels, as browsers without a screen report.",
    find: ifUsed(({ isDefaultScreen }, { claims }) => (isDefaultScreen && !claims.mobile ? "" : null)),
  },
  {
    category: "window",
    name: "no focus",
    points: 20,
    mode: "shadow",
    why: "The mouse was pressed in a window that did not have the focus.",
    find: ifUsed(({ unfocused, hasTouch }) => (unfocused > 0 && !hasTouch ? `${unfocused} times` : null)),
  },
];
