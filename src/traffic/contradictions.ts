// Signals that contradict the user agent. Each alone is soft: people change their user agent too, or request desktop pages on
// a phone. Two from different sources are hard (see verdict.ts).

import type { SignalInput, Signal } from "./signal.ts";
import type { Claims } from "./userAgent/claims.ts";

type Os = Claims["os"];

/** The values of `Sec-CH-UA-Platform` that fit each user agent. A phone that requests desktop pages calls itself Linux. */
const fittingHints: Partial<Record<Os, readonly string[]>> = {
  windows: ["Windows"],
  macos: ["macOS"],
  linux: ["Linux", "Android", "Chrome OS", "Chromium OS"],
  android: ["Android"],
  chromeos: ["Chrome OS", "Chromium OS", "Linux"],
};

/** The `navigator.platform` that fits each hint; other hints are ignored. */
const hintPlatforms: Readonly<Record<string, RegExp>> = {
  Windows: /^Win/,
  macOS: /^Mac/,
  Linux: /^(?:Linux|X11)/,
  Android: /^(?:Linux|Android)/,
  "Chrome OS": /^(?:Linux|CrOS)/,
  "Chromium OS": /^(?:Linux|CrOS)/,
};

/** The `navigator.platform` that fits each user agent. */
const fittingPlatforms: Partial<Record<Os, RegExp>> = {
  windows: /^Win/,
  macos: /^(?:Mac|iP)/,
  linux: /^(?:Linux|X11|FreeBSD|OpenBSD|Android|null$)/i,
  // Android apps run on Chromebooks and in emulators; phones that request desktop pages are "linux" above.
  android: /^(?:Linux|Android|null$|CrOS)/i,
  ios: /^(?:iP|Mac)/,
  chromeos: /^(?:Linux|CrOS)/i,
};

function unquote(text: string): string {
  return text.replaceAll('"', "").trim();
}

/** `"Chromium";v="142", "Not_A Brand";v="99"` → 142. */
function readChromiumVersion(brands: string): number | null {
  const version = /"Chromium";\s*v="(\d{1,4})/.exec(brands)?.[1];
  return version === undefined ? null : Number(version);
}

/** The signs and versions of the brand that Chromium makes up, by its version: see GetGreasedUserAgentBrandVersion there. */
const brandSigns = [" ", "(", ":", "-", ".", "/", ")", ";", "=", "?", "_"];
const brandVersions = ["8", "99", "24"];
/** Earlier versions made the brand in other ways. */
const firstBrandVersion = 113;

function madeUpBrand(version: number): string {
  const [first, second] = [brandSigns[version % 11], brandSigns[(version + 1) % 11]];
  return `"Not${first}A${second}Brand";v="${brandVersions[version % 3]}"`;
}

export const contradictions: readonly Signal[] = [
  {
    category: "contradiction",
    name: "client hints of another system",
    points: 45,
    why: "The client hints name another operating system than the user agent.",
    source: "client hints",
    find({ headers, claims }: SignalInput) {
      const hint = unquote(headers?.platform ?? "");
      const fitting = fittingHints[claims.os];
      return Object.hasOwn(hintPlatforms, hint) && fitting && !fitting.includes(hint) ? `${hint}, not ${claims.os}` : null;
    },
  },
  {
    category: "contradiction",
    name: "client hints of an iPhone",
    points: 50,
    why: "No browser on an iPhone or iPad sends client hints.",
    source: "client hints",
    find: ({ headers, claims }) => (claims.os === "ios" && headers?.brands ? unquote(headers.brands).slice(0, 60) : null),
  },
  {
    category: "contradiction",
    name: "client hints of another version",
    points: 40,
    why: "The client hints name another version of Chromium than the user agent.",
    source: "client hints",
    find({ headers, claims }) {
      const hint = readChromiumVersion(headers?.brands ?? "");
      const isComparable = hint !== null && claims.engine === "chromium" && claims.version !== null;
      return isComparable && hint !== claims.version ? `${hint}, not ${claims.version}` : null;
    },
  },
  {
    category: "contradiction",
    name: "brand of another version",
    points: 40,
    mode: "shadow",
    why: "Chromium makes up a brand from its version, and the client hints have another one.",
    source: "client hints",
    find({ headers }) {
      const version = readChromiumVersion(headers?.brands ?? "");
      if (!headers || version === null || version < firstBrandVersion) return null;
      return headers.brands.includes(madeUpBrand(version)) ? null : unquote(headers.brands).slice(0, 80);
    },
  },
  {
    category: "contradiction",
    name: "client hints of no Chromium",
    points: 45,
    why: "Only Chromium sends client hints, and the user agent is another browser's.",
    source: "client hints",
    find: ({ headers, claims }) =>
      headers?.brands.includes("Chromium") && (claims.engine === "gecko" || (claims.engine === "webkit" && claims.os === "macos"))
        ? claims.engine
        : null,
  },
  {
    category: "contradiction",
    name: "client hints of a desktop",
    points: 30,
    why: "The user agent is a phone's, the client hints are not.",
    source: "form factor",
    find: ({ headers, claims }) =>
      headers?.mobile === "?0" && claims.os === "android" && claims.mobile && !claims.inApp ? "" : null,
  },
  {
    category: "contradiction",
    name: "another system",
    points: 45,
    why: "The browser runs on another operating system than the user agent says.",
    source: "script",
    find({ script, claims, headers }) {
      // Tor Browser always sends the same system; a browser with client hints is not Firefox.
      if (claims.engine === "gecko" && !headers?.brands) return null;
      const fitting = fittingPlatforms[claims.os];
      return script?.platform && fitting && !fitting.test(script.platform) ? `${script.platform}, not ${claims.os}` : null;
    },
  },
  {
    category: "contradiction",
    name: "another engine",
    points: 45,
    why: "The browser has features of Chromium, and the user agent is another browser's.",
    source: "script",
    find: ({ script, claims }) =>
      script?.isChromium && (claims.engine === "gecko" || (claims.engine === "webkit" && claims.os !== "other"))
        ? claims.engine
        : null,
  },
  {
    category: "contradiction",
    name: "client hints against the browser",
    points: 45,
    why: "The client hints name another operating system than the browser runs on.",
    source: "hints and script",
    find({ headers, script }) {
      const hint = unquote(headers?.platform ?? "");
      const fitting = Object.hasOwn(hintPlatforms, hint) ? hintPlatforms[hint] : undefined;
      return script?.platform && fitting && !fitting.test(script.platform) ? `${hint}, not ${script.platform}` : null;
    },
  },
  {
    category: "contradiction",
    name: "phone without touch",
    points: 25,
    why: "The user agent is a phone's, but there is no touch screen.",
    source: "form factor",
    find: ({ script, claims }) =>
      script?.touchPoints === 0 && claims.mobile && (claims.os === "ios" || claims.os === "android") ? "" : null,
  },
];
