// The troubleshooting page has every text that the endpoint and `results` can contain.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refusals, type InboundRefusal } from "../src/inbound/refusals.ts";
import { english, type MessageCode } from "../src/kernel/messages/message.ts";
import { messages } from "../src/kernel/messages/messages.ts";
import { platforms } from "../src/platforms/index.ts";
import { skipRulesOf } from "../src/platforms/shared/skips.ts";
import { root } from "./support/documents/documents.ts";

const page = readFileSync(join(root, "docs/how-to/troubleshooting.md"), "utf8");
const spans = [...page.matchAll(/`([^`]+)`/g)].map(([, text]) => text as string);
const source = (path: string) => readFileSync(join(root, "src", path), "utf8");

/** Returns the string or template that begins at `start`, cut at each `${…}`; null where none begins there. */
function literalAt(text: string, start: number): { parts: string[]; end: number } | null {
  const quote = text[start];
  if (quote !== '"' && quote !== "'" && quote !== "`") return null;
  const parts: string[] = [];
  let part = "";
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === quote) return { parts: [...parts, part], end: i + 1 };
    if (quote === "`" && text.startsWith("${", i)) {
      i = holeEnd(text, i + 2);
      parts.push(part);
      part = "";
    } else part += text[i] === "\\" ? text[++i] : text[i];
  }
  return null;
}

function holeEnd(text: string, start: number): number {
  for (let i = start, depth = 1; i < text.length; i++) {
    const inner = literalAt(text, i);
    if (inner) i = inner.end - 1;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  throw new Error("a template is not closed");
}

/** Returns the texts that begin right after a match. */
function textsAfter(code: string, before: RegExp): string[][] {
  return [...code.matchAll(new RegExp(before, "g"))].flatMap((match) => {
    const literal = literalAt(code, match.index + match[0].length);
    return literal ? [literal.parts] : [];
  });
}

/** Returns the sentences of the messages that a source says, cut at each parameter. */
const saidIn = (code: string): string[][] =>
  [...code.matchAll(/\bsay\(\s*"(\w+)"/g)].map(([, found]) => messages[found as MessageCode].split(/\{\w+\}/));

const inWords = (parts: readonly string[]) => parts.join("…");

function expectOnPage(texts: readonly string[][]): void {
  const missing = texts.filter((parts) => {
    const pattern = new RegExp(`^${parts.map((part) => RegExp.escape(part)).join(".*")}$`, "s");
    return !spans.some((span) => pattern.test(span));
  });
  expect(missing.map(inWords)).toEqual([]);
}

test("the troubleshooting page explains every refusal of the endpoint", () => {
  const texts = Object.entries(refusals)
    .filter(([name]) => name !== "invalidField")
    .map(([, one]) => (typeof one === "function" ? (one as (n: number) => InboundRefusal)(60) : one))
    .map(({ message }) => [english(message)]);
  expect(texts.length).toBeGreaterThan(14);
  expectOnPage(texts);
});

test("the troubleshooting page explains every sentence about a field", () => {
  const texts = ["fields", "fieldFault", "items"].flatMap((name) => [
    ...textsAfter(source(`inbound/${name}.ts`), /new FieldFault\(\s*/),
    ...saidIn(source(`inbound/${name}.ts`)),
  ]);
  expect(texts.length).toBeGreaterThan(12);
  expectOnPage(texts);
});

test("the troubleshooting page explains every reason why a platform skips a conversion", () => {
  const reasons = platforms.flatMap((platform) => skipRulesOf(platform).map(({ reason }) => reason));
  expect(reasons.length).toBeGreaterThan(35);
  const isExplained = (reason: string) =>
    spans.some((span) =>
      new RegExp(
        `^${span
          .split("…")
          .map((part) => RegExp.escape(part))
          .join(".+")}$`,
      ).test(reason),
    );
  expect(reasons.filter((reason) => !isExplained(reason))).toEqual([]);
});

test("the troubleshooting page explains every error that a platform's code writes", () => {
  const files = platformFiles();
  const texts = files.flatMap((name) =>
    textsAfter(
      source(`platforms/${name}`),
      // Examples of readings have the texts of platforms.
      /(?<!\breading: )(?:\b(?:retryLater|rejected|unauthorized)\(\s*|rejection\(|\berror: |\berror = )/,
    ),
  );
  expect(texts.length).toBeGreaterThan(20);
  expectOnPage(texts);
});

test("the troubleshooting page explains every reason that delivery itself gives", () => {
  const beforeReason = /\b(?:reason|error)(?:: | = )|[?:]\s+(?=")|"(?:skipped|rejected|parked)", (?=")/;
  const files = [
    "lanes/deliver",
    "lanes/lanes",
    "dispatch",
    "platformCall",
    "plan",
    "expiry",
    "decide",
    "oauth/tokens",
    "due/claim",
  ];
  const texts = [
    ...files
      .flatMap((name) => textsAfter(source(`delivery/${name}.ts`), beforeReason))
      .filter((parts) => parts.join("").includes(" ")),
    ...[...files, "send"].flatMap((name) => saidIn(source(`delivery/${name}.ts`))),
    ...[/super\(/, /: \["[^"]+", (?=")/, /failure\("[^"]+", (?=")/, /"other", (?=`)/].flatMap((before) =>
      textsAfter(source("delivery/send.ts"), before),
    ),
    ...textsAfter(source("delivery/addresses.ts"), /return (?:isPublicAddress\(address\) \? null : )?/)
      .filter((parts) => parts.join("").includes("CLEANCAST_ALLOW_PRIVATE"))
      .map(([first = "", ...rest]) => [`the address ${first}`, ...rest]),
    ...["store/deliveries/eraseDeliveries.ts", "store/deliveries/syncLog/changes.ts"].flatMap((path) =>
      [...source(path).matchAll(/reason = '([^']+)'/g)].map(([, text]) => [text as string]),
    ),
  ].filter((parts) => parts.join("").trim().includes(" ") || parts.join("") === "cancelled");
  expect(texts.length).toBeGreaterThan(30);
  expectOnPage(texts);
});

function platformFiles(): string[] {
  const names = readdirSync(join(root, "src/platforms"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts") && !/\.test\.|[eE]xamples?\.|guide\.|sample\./.test(name));
}
