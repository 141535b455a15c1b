// The second part of the tag: observes how a page is used, so that the relay can tell hands from programs. It is loaded for
// visits that an advertisement brought, and when a visitor begins to fill in an email. It counts and measures times; it never
// reads what is typed, and nothing that it reports tells one person from another. On sites with link domains every visit that may
// be identified loads it, for its links.

import { hasRefused, page, watchLinks } from "./links.ts";

type Numbers = number[];

/** Milliseconds: how long the mouse button and each key were down, and the pauses between keys. */
const presses: Numbers = [];
const holds: Numbers = [];
const gaps: Numbers = [];
/** From the release of a key to the next press. People who type fast press the next key before they release this one. */
const pauses: Numbers = [];
let overlaps = 0;
let keys = 0;
/** Presses of the mouse at a place that it reached without a way. */
let jumps = 0;
/** Positions of the mouse between two pixels, which a mouse has only on scaled screens, and in frames. */
let fractions = 0;
/** Characters that came at once, without a key, a paste or an input method. */
let inserted = 0;
let unfocused = 0;
/** The ways in which text came: 1 paste, 2 autofill, 4 input method, 8 touch, 16 script. */
let ways = 0;

/** Where the mouse was before is unknown until it moves. */
let lastX: number | undefined;
let lastY: number | undefined;
let moves = 0;
let pressedAt = 0;
let lastKeyAt = 0;
let releasedAt = 0;
const keysDown: Record<string, number> = {};
const farAway = 30;
const longestGapMs = 2000;
const maxKept = 200;

const keep = (list: Numbers, value: number) => list.length < maxKept && list.push(value);
// oxlint-disable-next-line unicorn/no-array-sort -- older browsers do not have toSorted, and this sorts a copy
const median = (list: Numbers) => Math.round([...list].sort((one, other) => one - other)[list.length >> 1] ?? -1);

/** How many of the pauses between keys, in percent, are as long as the median. People never type that evenly. */
function evenness(): number {
  const middle = median(gaps);
  return Math.round((100 * gaps.filter((gap) => Math.abs(gap - middle) <= middle / 12).length) / (gaps.length || 1));
}

/** src/collect/payload.ts reads the values in this order. */
const use = (scope?: ParentNode) => [
  presses.length,
  median(presses),
  jumps,
  fractions,
  keys,
  median(holds),
  median(gaps),
  evenness(),
  inserted,
  ways,
  // A window without a frame, on a page that is not zoomed, is no window on a screen.
  isPlain() && outerHeight <= innerHeight && !matchMedia("(display-mode:fullscreen)").matches,
  screen.width === 800 && screen.height === 600,
  unfocused,
  // Reports whether a trap field is filled in, never its content.
  !!scope &&
    [...scope.querySelectorAll<HTMLInputElement>("[data-cc-trap],[data-cc-trap] *")].some((field) =>
      field.type === "checkbox" ? field.checked : field.value,
    ),
  // Automation tools that do not set `webdriver`: Cypress, and the driver of Chrome. An element with such an id is no key of the window.
  /,Cypress,|cdc_ado/.test(Object.keys(window).join()),
  median(pauses),
  overlaps,
];

/**
 * Visits with a click id report their first input: most visitors who leave again have scrolled or clicked, most programs have not. The
 * names are those of src/identity/clickIds.ts, in fewer bytes; a few other parameters fit, too.
 */
const mayReport = /((cl?i?c?k?_?|bra|fat_|ale)id|epik|tblci|dicbo|oppref|aref)=/i.test(location.search);
let firstInput: string | false | undefined;

/** The report waits a while for an email, whose report says the same. The relay waits longer before it counts who did nothing. */
function reportFirstInput(): void {
  firstInput ??=
    mayReport &&
    JSON.stringify({
      browser: [navigator.webdriver, navigator.platform, navigator.maxTouchPoints, "userAgentData" in navigator],
      use: use(),
    });
}
setInterval(sendFirstInput, 40_000);

function sendFirstInput(): void {
  try {
    if (firstInput && !hasRefused()) firstInput = navigator.sendBeacon(new URL("use", import.meta.url), firstInput) && "";
  } catch {}
}

/** Runs in the capture phase, for events that no script of the page made unless it wants any, and never throws into the page. */
function on<Type extends keyof DocumentEventMap>(
  type: Type,
  handle: (event: DocumentEventMap[Type]) => unknown,
  isAny?: boolean,
): void {
  page.addEventListener(
    type,
    (event) => {
      try {
        if (isAny || event.isTrusted) handle(event);
        else if (type === "input") ways |= 16;
      } catch {}
    },
    { capture: true, passive: true },
  );
}

/** Pinching scales a page without changing the size of its pixels. */
const isPlain = () => devicePixelRatio * (visualViewport as VisualViewport).scale === 1 && self === top;

on("pointermove", (event) => {
  const { pointerType, clientX, clientY } = event;
  if (pointerType !== "mouse") return;
  // A busy page gets many moves as one event.
  moves += event.getCoalescedEvents?.().length || 1;
  if (isPlain() && (clientX % 1 || clientY % 1)) fractions += 1;
  lastX ??= clientX;
  lastY ??= clientY;
});
on("pointerdown", ({ pointerType, clientX, clientY, timeStamp }) => {
  if (pointerType !== "mouse") {
    ways |= 8;
    return;
  }
  pressedAt = timeStamp;
  if (moves < 2 && Math.hypot(clientX - (lastX as number), clientY - (lastY as number)) > farAway) jumps += 1;
  lastX = clientX;
  lastY = clientY;
  moves = 0;
  if (!page.hasFocus()) unfocused += 1;
});
on("pointerup", ({ pointerType, timeStamp }) => {
  if (pointerType === "mouse" && pressedAt) keep(presses, timeStamp - pressedAt);
  pressedAt = 0;
  reportFirstInput();
});
on("wheel", reportFirstInput);
on("touchmove", reportFirstInput);
on("visibilitychange", sendFirstInput);

on("keydown", ({ key, code, repeat, timeStamp }) => {
  // Only letters, digits and signs: modifiers and shortcuts are held as long as people like.
  if (repeat || key[1]) return;
  keys += 1;
  if (Object.keys(keysDown).length) overlaps += 1;
  else if (releasedAt && timeStamp - releasedAt < longestGapMs) keep(pauses, timeStamp - releasedAt);
  keysDown[code + key] = timeStamp;
  const gap = timeStamp - lastKeyAt;
  if (lastKeyAt && gap < longestGapMs) keep(gaps, gap);
  lastKeyAt = timeStamp;
});
on("keyup", ({ key, code, timeStamp }) => {
  const since = keysDown[code + key];
  if (since) keep(holds, timeStamp - since);
  delete keysDown[code + key];
  releasedAt = timeStamp;
  reportFirstInput();
});
on("input", ({ inputType, data, isComposing }) => {
  if (isComposing || /Composition/.test(inputType)) ways |= 4;
  else if (/Paste|Drop/.test(inputType)) ways |= 1;
  else if (!inputType || /Replacement/.test(inputType)) ways |= 2;
  else if (data?.[1]) inserted += data.length;
});

type Added = { use?: (scope: ParentNode) => unknown; link?: (address: string) => Promise<string> };
const { cc } = window as unknown as { cc: Added };
cc.use = (scope) => {
  firstInput = "";
  try {
    return use(scope);
  } catch {}
};
cc.link = watchLinks(on, mayReport);
