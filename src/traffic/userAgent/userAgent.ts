// Judges a visit by its user agent alone.
//
// Three cases, cheapest first. A string with nothing but common products is a person's; most are. A string without the shape
// of a browser is a program's. The rest has the shape of a browser and something more: it is checked against known bots, the
// words of bots, anomalies, and finally isbot. Only proof is hard; a guess is soft and removes no visit by itself. In-app
// browsers are the traffic that advertisers pay for: there, no guesses are made.

import { isbotMatch } from "isbot";
import { findImpossibleShape, findUnknownEntry, findUnknownPlatform, findUnknownProduct, hasUnknownStart } from "./anomalies.ts";
import { botActivity, botSignature, contactAddress, emulatedPhone, hostNameSignature, nameAround } from "./botWords.ts";
import { readClaims, type Claims } from "./claims.ts";
import { findListedBot, findNamedBot } from "./knownBots.ts";
import { isDeviceOnly, namesApp, parseUserAgent, type Parts } from "./parse.ts";

export type UserAgentEvidence = {
  kind: "named bot" | "ad reviewer" | "AI agent" | "headless browser" | "not a browser" | "empty" | "looks like a bot";
  /** A few plain words, usually the name. */
  detail: string;
  /** False only for "looks like a bot". */
  hard: boolean;
};

/** `evidence` is null for a person's browser. */
type UserAgentReading = { evidence: UserAgentEvidence | null; claims: Claims };

/** Longer user agents are cut, which bounds the time for a verdict. Browsers stay well below. */
const maxLength = 512;

// A cache of two generations, because few strings make up most of the traffic: when the younger map is full it replaces the
// older one. A flood of made-up strings costs two small maps.
const generationSize = 8192;
let young = new Map<string, UserAgentReading>();
let old = new Map<string, UserAgentReading>();

export function readUserAgent(userAgent: string): UserAgentReading {
  // Not cached: a slice keeps the whole string in memory.
  if (userAgent.length > maxLength) return read(userAgent.slice(0, maxLength));
  const known = young.get(userAgent);
  if (known !== undefined) return known;
  const reading = old.get(userAgent) ?? read(userAgent);
  if (young.size >= generationSize) {
    old = young;
    young = new Map();
  }
  young.set(userAgent, reading);
  return reading;
}

const read = (userAgent: string): UserAgentReading => ({
  evidence: judge(userAgent.trim()),
  claims: readClaims(userAgent),
});

// The products of nearly all visits, and the suffixes of the two largest apps.
const commonProducts =
  "Version|Chrome|CriOS|FxiOS|EdgiOS|OPR|OPT|Edg|EdgA|Edge|YaBrowser|SamsungBrowser|UCBrowser|" +
  "HuaweiBrowser|MiuiBrowser|VivoBrowser|HeyTapBrowser|MQQBrowser|XiaoMi|GSA|Mobile|Safari|SA|BroPP|" +
  "YaSearchBrowser|YaApp_Android|YaSearchApp|webOmni|U3|DuckDuckGo|Ddg|Vivaldi|Whale|Silk|PHX|Quark";
const appSuffix = "(?: ?\\[FB[^[\\]+@]*\\]| (?:Instagram|Barcelona) [\\d.]+ (?:Android )?\\((?:\\d+/|iP)[^()+@]*\\))?";
const ordinaryBrowser = new RegExp(
  `^Mozilla/5\\.0 \\(([^()]*(?:\\([^()]*\\)[^()]*){0,4})\\) (?:AppleWebKit/[\\d.+]+ \\(KHTML, like Gecko\\)` +
    `(?: {1,2}(?:${commonProducts})(?:/\\d[\\w.+-]*)?){1,12}${appSuffix}|Gecko/[\\d.]+ Firefox/[\\d.]+|like Gecko)$`,
);
const applePlatform = /^iP[^;()]*; (?:U; )?CPU [\w. ]+ like Mac OS X(?:; [\w-]{2,5})?$/;
const automaticBot = /bot\b|crawl|spider|external|preview|lighthouse|synthetic|monitor|scan|google/i;
/** A single name at the end, on a phone. Ecosia's browser and managed ones add a version. */
const finalComment = / Safari\/[\d.]+ \(([A-Za-z][A-Za-z. -]{2,30})\)$/;
const engine = /AppleWebKit|Gecko|Trident\/|KHTML\/|Presto\/|Goanna|Servo/;

function judge(userAgent: string): UserAgentEvidence | null {
  if (!userAgent) return { kind: "empty", detail: "no user agent", hard: true };
  const platform = ordinaryBrowser.exec(userAgent)?.[1];
  if (platform !== undefined && isOrdinaryPlatform(platform, userAgent)) return null;
  const parts = parseUserAgent(userAgent);
  return parts ? judgeBrowserShape(userAgent, parts) : judgeOther(userAgent);
}

function isOrdinaryPlatform(platform: string, userAgent: string): boolean {
  if (applePlatform.test(platform) || isDeviceOnly(platform)) return true;
  if (!/^(?:Windows NT|Macintosh|X11)/.test(platform) || /MSIE|Trident/.test(platform)) return false;
  const rest = userAgent.slice(userAgent.indexOf(platform) + platform.length + 1);
  return findUnknownEntry(platform) === null && findImpossibleShape(platform, rest) === null;
}

const hard = (kind: UserAgentEvidence["kind"], detail: string): UserAgentEvidence => ({
  kind,
  detail: shorten(detail),
  hard: true,
});
const soft = (detail: string): UserAgentEvidence => ({
  kind: "looks like a bot",
  detail: shorten(detail),
  hard: false,
});

/** Judges a string with the shape of a browser: Mozilla/5.0 and a platform. */
function judgeBrowserShape(userAgent: string, parts: Parts): UserAgentEvidence | null {
  const { platform, extra, inApp, appliance } = parts;
  const known = findKnownBot(extra);
  // The public list names readers and players because their servers fetch pages; inside an app a person reads.
  const isReader = inApp && known?.kind === "named bot" && !automaticBot.test(known.detail);
  if (known && !isReader) return known;
  if (!engine.test(userAgent) && !appliance) return hard("not a browser", platform);
  // Crawlers sign with "(compatible; Name"; the only browsers that did are Internet Explorer and Konqueror.
  const signature = /(?:^Mozilla\/5\.0 ?\(|[(;] ?)compatible;(?! ?(?:MSIE \d|Konqueror|U;)) ?([^;)]*)/.exec(extra);
  if (signature) return hard("named bot", signature[1] ?? "");
  const signed = findName(extra, botSignature) ?? (contactAddress.test(extra) ? "an address to contact" : null);
  if (signed) return inApp ? soft(signed) : hard("named bot", signed);
  if (inApp || appliance) return null;
  const guess = guessBot(parts);
  return guess === null ? null : soft(guess);
}

function guessBot({ platform, rest, cleaned, desktop }: Parts): string | null {
  if (hasUnknownStart(platform, rest)) return platform;
  const comment = /\(KHTML, like Gecko[;,] ?([^)]*)\)/.exec(rest)?.[1];
  if (comment && !comment.startsWith("Safari")) return comment;
  const text = desktop ? `${platform} ${rest}` : cleaned;
  const found = findName(text, botActivity) ?? findName(text, hostNameSignature);
  if (found) return found;
  if (desktop) {
    const odd = findUnknownProduct(rest) ?? findUnknownPlatform(platform, rest) ?? findImpossibleShape(platform, rest);
    if (odd) return odd;
  } else {
    const odd = (emulatedPhone.test(platform) ? findUnknownProduct(rest) : null) ?? finalComment.exec(rest)?.[1];
    if (odd) return odd;
  }
  // isbot was made for common browsers, and is wrong about rare phones.
  if (!desktop && !/^(?:Linux; Android|iP)/.test(platform)) return null;
  const match = isbotMatch(cleaned);
  return match && !/^google$|\/1\.0;$/i.test(match) ? match : null;
}

// Opera Mini and similar browsers, which render on a server for phones that are still sold. They are people's, unless they
// carry a bot's signature.
const oldPhone = new RegExp(
  [
    "^(?:Opera/.*Opera (?:Mini|Mobi|Tablet)|UCWEB|JUC ?\\()|/UCWEB|MIDP-|CLDC-|UP\\.Browser|Obigo|NetFront",
    "Browser/AppleWeb[Kk]it|Mobile Safari/",
  ].join("|"),
);
// Rare but possible: Internet Explorer up to 8, Netscape, Opera on the desktop, text browsers, phones without scripts, and
// requests of Android apps outside a web view.
const outdated = new RegExp(
  `^(?:${[
    "Mozilla/[1-4]\\.\\d+ \\(compatible; MSIE \\d",
    "Mozilla/[1-4]\\.\\d+\\w* ?(?:\\[[\\w-]+\\][\\w-]* ?)?\\((?!compatible)|Opera/[5-9]\\.\\d+ \\(",
    "Dalvik/[\\d.]+ \\(Linux|Lynx/|w3m/|E?Links[ /]|DoCoMo/|KDDI-|SoftBank/|J-PHONE/|Vodafone/",
    "portalmmm/|SonyEricsson\\w|Nokia\\w|SAMSUNG-|SEC-|LG[-/]|MOT-|BlackBerry\\d|SIE-|ALCATEL",
    "Panasonic-|SHARP-",
  ].join("|")})`,
);

/** Judges a string without the shape of a browser of the last fifteen years. */
function judgeOther(userAgent: string): UserAgentEvidence | null {
  const known = findKnownBot(userAgent);
  if (known) return known;
  const isMachine =
    /compatible;(?! MSIE)/.test(userAgent) ||
    botSignature.test(userAgent) ||
    contactAddress.test(userAgent) ||
    botActivity.test(userAgent);
  // Internet Explorer 9 to 11 in compatibility mode: the engine shows it.
  if (!isMachine && /^Mozilla\/4\.0 \(compatible; MSIE .*Trident\/[5-7]/.test(userAgent)) return null;
  if (!isMachine && oldPhone.test(userAgent)) return null;
  if (/^(?:WhatsApp|Viber|Telegram)\//.test(userAgent)) return hard("named bot", "link preview");
  if (!isMachine && namesApp(userAgent)) return soft("an app's own requests");
  if (!isMachine && outdated.test(userAgent)) return soft("a browser from before today's pages");
  return hard("not a browser", userAgent);
}

function findKnownBot(text: string): UserAgentEvidence | null {
  const named = findNamedBot(text);
  if (named) return hard(named.kind, named.detail);
  const listed = findListedBot(text);
  return listed === null ? null : hard("named bot", listed);
}

function findName(text: string, pattern: RegExp): string | null {
  const found = pattern.exec(text);
  return found && nameAround(text, found);
}

const shorten = (text: string) =>
  text
    .replace(/^[^\w]+/, "")
    .slice(0, 40)
    .trim() || "no name";
