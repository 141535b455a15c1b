// What a user agent says about who sent it, and nothing else: no header, no address, no time.
//
// Three roads, cheapest first. A string that is made only of what people's browsers are made of is a person's; most are.
// A string that is not shaped like a browser's is a program's. What is left is a browser's shape with something more: the
// names we know, the public list, the words by which programs sign, what no browser of people says, and at last isbot.
// Only proof is hard; a guess is soft and removes nobody by itself. In-app browsers are the traffic that advertisers pay
// for: there, guesses are not made.

import { isbotMatch } from "isbot";
import { findListedBot } from "./botList.ts";
import { readClaims, type Claims } from "./claims.ts";
import { flawOf } from "./flaws.ts";
import { findNamed } from "./names.ts";
import { isDeviceOnly, namesApp, type Parts, partsOf } from "./parse.ts";
import { strangeEntry, strangePlatform, strangeProduct, strangeStart } from "./products.ts";
import { contact, emulated, hostName, nameAround, signedAsBot, worksLikeBot } from "./words.ts";

export type UserAgentEvidence = {
  kind:
    | "named bot"
    | "ad reviewer"
    | "AI agent"
    | "headless browser"
    | "not a browser"
    | "empty"
    | "looks like a bot";
  /** Short plain words, as a rule the name. */
  detail: string;
  /** False only for "looks like a bot". */
  hard: boolean;
};

export type UserAgentReading = { evidence: UserAgentEvidence | null; claims: Claims };

/** Longer ones are cut: browsers stay well below, and the time for a verdict stays bounded. */
const longest = 512;

// Few strings make most of the traffic. Two generations: when the younger is full it becomes the older, and what was not
// asked for in between is forgotten. Nothing is moved one by one, and a flood of made-up strings costs two small maps.
const generation = 8192;
let young = new Map<string, UserAgentReading>();
let old = new Map<string, UserAgentReading>();

/** What is known of a user agent: what speaks for a bot, and what it says about itself. */
export function readUserAgent(userAgent: string): UserAgentReading {
  // A cut string would keep the whole one in memory.
  if (userAgent.length > longest) return read(userAgent.slice(0, longest));
  const known = young.get(userAgent);
  if (known !== undefined) return known;
  const reading = old.get(userAgent) ?? read(userAgent);
  if (young.size >= generation) {
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

/** Null: looks like a person's browser. */
export function judgeUserAgent(userAgent: string): UserAgentEvidence | null {
  return readUserAgent(userAgent).evidence;
}

// The products that make up nearly all visits, and the tails of the two largest apps.
const common =
  "Version|Chrome|CriOS|FxiOS|EdgiOS|OPR|OPT|Edg|EdgA|Edge|YaBrowser|SamsungBrowser|UCBrowser|" +
  "HuaweiBrowser|MiuiBrowser|VivoBrowser|HeyTapBrowser|MQQBrowser|XiaoMi|GSA|Mobile|Safari|SA|BroPP|" +
  "YaSearchBrowser|YaApp_Android|YaSearchApp|webOmni|U3|DuckDuckGo|Ddg|Vivaldi|Whale|Silk|PHX|Quark";
const appTail =
  "(?: ?\\[FB[^[\\]+@]*\\]| (?:Instagram|Barcelona) [\\d.]+ (?:Android )?\\((?:\\d+/|iP)[^()+@]*\\))?";
const plain = new RegExp(
  `^Mozilla/5\\.0 \\(([^()]*(?:\\([^()]*\\)[^()]*){0,4})\\) (?:AppleWebKit/[\\d.+]+ \\(KHTML, like Gecko\\)` +
    `(?: {1,2}(?:${common})(?:/\\d[\\w.+-]*)?){1,12}${appTail}|Gecko/[\\d.]+ Firefox/[\\d.]+|like Gecko)$`,
);
const applePlatform = /^iP[^;()]*; (?:U; )?CPU [\w. ]+ like Mac OS X(?:; [\w-]{2,5})?$/;
const actsAlone = /bot\b|crawl|spider|external|preview|lighthouse|synthetic|monitor|scan|google/i;
/** A lone name behind everything else, on a phone. Ecosia's browser and managed ones write a version with it. */
const signedRemark = / Safari\/[\d.]+ \(([A-Za-z][A-Za-z. -]{2,30})\)$/;
const engine = /AppleWebKit|Gecko|Trident\/|KHTML\/|Presto\/|Goanna|Servo/;

function judge(userAgent: string): UserAgentEvidence | null {
  if (!userAgent) return { kind: "empty", detail: "no user agent", hard: true };
  const platform = plain.exec(userAgent)?.[1];
  if (platform !== undefined && isPlainPlatform(platform, userAgent)) return null;
  const parts = partsOf(userAgent);
  return parts ? judgeShaped(userAgent, parts) : judgeOther(userAgent);
}

/** Nothing hides in the platform either. */
function isPlainPlatform(platform: string, userAgent: string): boolean {
  if (applePlatform.test(platform) || isDeviceOnly(platform)) return true;
  if (!/^(?:Windows NT|Macintosh|X11)/.test(platform) || /MSIE|Trident/.test(platform)) return false;
  const rest = userAgent.slice(userAgent.indexOf(platform) + platform.length + 1);
  return strangeEntry(platform) === null && flawOf(platform, rest) === null;
}

const hard = (kind: UserAgentEvidence["kind"], detail: string): UserAgentEvidence => ({
  kind,
  detail: short(detail),
  hard: true,
});
const soft = (detail: string): UserAgentEvidence => ({
  kind: "looks like a bot",
  detail: short(detail),
  hard: false,
});

/** A browser's shape: Mozilla/5.0 and a platform. */
function judgeShaped(userAgent: string, parts: Parts): UserAgentEvidence | null {
  const { platform, extra, inApp, appliance } = parts;
  const known = proof(extra);
  // Readers and players are on the public list for what their servers fetch; inside an app it is a person who reads.
  const reader = inApp && known?.kind === "named bot" && !actsAlone.test(known.detail);
  if (known && !reader) return known;
  if (!engine.test(userAgent) && !appliance) return hard("not a browser", platform);
  // "(compatible; Name" is how crawlers have signed since 1996; browsers that did are Internet Explorer and Konqueror.
  const signature = /(?:^Mozilla\/5\.0 ?\(|[(;] ?)compatible;(?! ?(?:MSIE \d|Konqueror|U;)) ?([^;)]*)/.exec(
    extra,
  );
  if (signature) return hard("named bot", signature[1] ?? "");
  const signed = nameIn(extra, signedAsBot) ?? (contact.test(extra) ? "an address to contact" : null);
  if (signed) return inApp ? soft(signed) : hard("named bot", signed);
  if (inApp || appliance) return null;
  const guess = guessOf(parts);
  return guess === null ? null : soft(guess);
}

function guessOf({ platform, rest, cleaned, desktop }: Parts): string | null {
  if (strangeStart(platform, rest)) return platform;
  const remark = /\(KHTML, like Gecko[;,] ?([^)]*)\)/.exec(rest)?.[1];
  if (remark && !remark.startsWith("Safari")) return remark;
  const text = desktop ? `${platform} ${rest}` : cleaned;
  const found = nameIn(text, worksLikeBot) ?? nameIn(text, hostName);
  if (found) return found;
  if (desktop) {
    const odd = strangeProduct(rest) ?? strangePlatform(platform, rest) ?? flawOf(platform, rest);
    if (odd) return odd;
  } else {
    const odd = (emulated.test(platform) ? strangeProduct(rest) : null) ?? signedRemark.exec(rest)?.[1];
    if (odd) return odd;
  }
  // It was made for common browsers, and errs about rare phones.
  if (!desktop && !/^(?:Linux; Android|iP)/.test(platform)) return null;
  const match = isbotMatch(cleaned);
  return match && !/^google$|\/1\.0;$/i.test(match) ? match : null;
}

// Opera before Chromium renders on a server for phones that are still sold; other phones from before the web view run no
// script at all. People's, unless they sign as something else.
const oldPhone = new RegExp(
  [
    "^(?:Opera/.*Opera (?:Mini|Mobi|Tablet)|UCWEB|JUC ?\\()|/UCWEB|MIDP-|CLDC-|UP\\.Browser|Obigo|NetFront",
    "Browser/AppleWeb[Kk]it|Mobile Safari/",
  ].join("|"),
);
// Nobody buys with these any more, but somebody may: Internet Explorer up to 8, Netscape, Opera of the desktop, text
// browsers, phones that run no script, and the voice of an Android app that asks without a web view.
const outdated = new RegExp(
  `^(?:${[
    "Mozilla/[1-4]\\.\\d+ \\(compatible; MSIE \\d",
    "Mozilla/[1-4]\\.\\d+\\w* ?(?:\\[[\\w-]+\\][\\w-]* ?)?\\((?!compatible)|Opera/[5-9]\\.\\d+ \\(",
    "Dalvik/[\\d.]+ \\(Linux|Lynx/|w3m/|E?Links[ /]|DoCoMo/|KDDI-|SoftBank/|J-PHONE/|Vodafone/",
    "portalmmm/|SonyEricsson\\w|Nokia\\w|SAMSUNG-|SEC-|LG[-/]|MOT-|BlackBerry\\d|SIE-|ALCATEL",
    "Panasonic-|SHARP-",
  ].join("|")})`,
);

/** Not the shape of a browser of the last fifteen years. */
function judgeOther(userAgent: string): UserAgentEvidence | null {
  const known = proof(userAgent);
  if (known) return known;
  const machine =
    /compatible;(?! MSIE)/.test(userAgent) ||
    signedAsBot.test(userAgent) ||
    contact.test(userAgent) ||
    worksLikeBot.test(userAgent);
  // Internet Explorer 9 to 11 asked to look older: the engine tells.
  if (!machine && /^Mozilla\/4\.0 \(compatible; MSIE .*Trident\/[5-7]/.test(userAgent)) return null;
  if (!machine && oldPhone.test(userAgent)) return null;
  if (/^(?:WhatsApp|Viber|Telegram)\//.test(userAgent)) return hard("named bot", "link preview");
  if (!machine && namesApp(userAgent)) return soft("an app's own requests");
  if (!machine && outdated.test(userAgent)) return soft("a browser from before today's pages");
  return hard("not a browser", userAgent);
}

/** Names itself as something that we or the public list know. */
function proof(text: string): UserAgentEvidence | null {
  const named = findNamed(text);
  if (named) return hard(named.kind, named.detail);
  const listed = findListedBot(text);
  return listed === null ? null : hard("named bot", listed);
}

function nameIn(text: string, pattern: RegExp): string | null {
  const found = pattern.exec(text);
  return found && nameAround(text, found);
}

const short = (text: string) =>
  text
    .replace(/^[^\w]+/, "")
    .slice(0, 40)
    .trim() || "no name";
