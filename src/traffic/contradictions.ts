// Where a browser's user agent says one thing and the browser itself another. Each alone is soft: people change their
// user agent too, ask for desktop pages on a phone, zoom. Two from different sources are hard (see verdict.ts).

import type { Seen, Signal } from "./signal.ts";
import type { Claims } from "./userAgentClaims.ts";

type Os = Claims["os"];

/** What `Sec-CH-UA-Platform` may say under each user agent. A phone that asks for desktop pages calls itself Linux. */
const hintsOf: Partial<Record<Os, readonly string[]>> = {
  windows: ["Windows"],
  macos: ["macOS"],
  linux: ["Linux", "Android", "Chrome OS", "Chromium OS"],
  android: ["Android"],
  chromeos: ["Chrome OS", "Chromium OS", "Linux"],
};

/** How `navigator.platform` may begin. */
const platformsOf: Partial<Record<Os, RegExp>> = {
  windows: /^Win/,
  macos: /^(?:Mac|iP)/,
  linux: /^(?:Linux|X11|FreeBSD|OpenBSD|Android|null$)/i,
  // Android apps run on Chromebooks and in emulators; phones that asked for desktop pages are "linux" above.
  android: /^(?:Linux|Android|null$|CrOS)/i,
  ios: /^(?:iP|Mac)/,
  chromeos: /^(?:Linux|CrOS)/i,
};

function named(text: string): string {
  return text.replaceAll('"', "").trim();
}

/** `"Chromium";v="142", "Not_A Brand";v="99"` → 142. */
function chromiumIn(brands: string): number | null {
  const version = /"Chromium";\s*v="(\d{1,4})/.exec(brands)?.[1];
  return version === undefined ? null : Number(version);
}

export const contradictions: readonly Signal[] = [
  {
    category: "contradiction",
    name: "client hints of another system",
    points: 45,
    why: "The client hints name another operating system than the user agent.",
    source: "client hints",
    see({ headers, claims }: Seen) {
      const says = named(headers?.platform ?? "");
      const fitting = hintsOf[claims.os];
      // "Unknown" is what some privacy settings answer.
      return says && says !== "Unknown" && fitting && !fitting.includes(says)
        ? `${says}, not ${claims.os}`
        : null;
    },
  },
  {
    category: "contradiction",
    name: "client hints of an iPhone",
    points: 50,
    why: "No browser on an iPhone or iPad sends client hints.",
    source: "client hints",
    see: ({ headers, claims }) =>
      claims.os === "ios" && headers?.brands ? named(headers.brands).slice(0, 60) : null,
  },
  {
    category: "contradiction",
    name: "client hints of another version",
    points: 40,
    why: "The client hints name another version of Chromium than the user agent.",
    source: "client hints",
    see({ headers, claims }) {
      const says = chromiumIn(headers?.brands ?? "");
      const differs = says !== null && claims.engine === "chromium" && claims.version !== null;
      return differs && says !== claims.version ? `${says}, not ${claims.version}` : null;
    },
  },
  {
    category: "contradiction",
    name: "client hints of no Chromium",
    points: 45,
    why: "Only Chromium sends client hints, and the user agent is another browser's.",
    source: "client hints",
    see: ({ headers, claims }) =>
      headers?.brands.includes("Chromium") &&
      (claims.engine === "gecko" || (claims.engine === "webkit" && claims.os === "macos"))
        ? claims.engine
        : null,
  },
  {
    category: "contradiction",
    name: "client hints of a desktop",
    points: 30,
    why: "The user agent is a phone's, the client hints are not.",
    source: "client hints",
    see: ({ headers, claims }) =>
      headers?.mobile === "?0" && claims.os === "android" && claims.mobile && !claims.inApp ? "" : null,
  },
  {
    category: "contradiction",
    name: "another system",
    points: 45,
    why: "The browser runs on another operating system than the user agent says.",
    source: "script",
    see({ script, claims, headers }) {
      // Tor Browser sends every server the same system; what sends client hints is no Firefox.
      if (claims.engine === "gecko" && !headers?.brands) return null;
      const fitting = platformsOf[claims.os];
      return script?.platform && fitting && !fitting.test(script.platform)
        ? `${script.platform}, not ${claims.os}`
        : null;
    },
  },
  {
    category: "contradiction",
    name: "page larger than its window",
    points: 20,
    why: "On a desktop the window is larger than the page in it.",
    source: "window",
    see: ({ script, claims }) => (script?.windowTooSmall && isDesktop(claims) ? "" : null),
  },
  {
    category: "contradiction",
    name: "phone without touch",
    points: 25,
    why: "The user agent is a phone's, and nothing can be touched.",
    source: "touch",
    see: ({ script, claims }) =>
      script?.touchPoints === 0 && claims.mobile && (claims.os === "ios" || claims.os === "android")
        ? ""
        : null,
  },
];

function isDesktop({ os, mobile }: Claims): boolean {
  return !mobile && (os === "windows" || os === "macos" || os === "linux");
}
