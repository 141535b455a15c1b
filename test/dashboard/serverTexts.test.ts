// Texts that come from the relay: a language has every message of the relay's catalogue and the words of closed sets. Texts of
// platforms may be missing; they are then shown in English.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { showAllTexts, showLanguage } from "../../dashboard/messages/catalogue/catalogue.ts";
import { botsText } from "../../dashboard/messages/bots.ts";
import { commonText } from "../../dashboard/messages/common.ts";
import { setLanguage } from "../../dashboard/messages/catalogue/language.ts";
import { translatePlatform } from "../../dashboard/common/platforms/platformTexts.ts";
import { reasonText } from "../../dashboard/common/format/reasons.ts";
import { keepMessages, serverText } from "../../dashboard/messages/server.ts";
import { settingsText } from "../../dashboard/messages/settings.ts";
import { languages, missingMessages, textKeysOf, translatedKeys, type Language } from "../../scripts/missingTexts.ts";
import { lossText } from "../../dashboard/scenes/reconciliation/report.ts";
import { writeAnswer } from "../../src/api/answer.ts";
import { describeImprovement } from "../../src/delivery/quality/read.ts";
import { confirmationReasons } from "../../src/kernel/confirmation.ts";
import { deliveryStates, filterCodes } from "../../src/kernel/event.ts";
import { english, say, type MessageCode } from "../../src/kernel/messages/message.ts";
import { messages } from "../../src/kernel/messages/messages.ts";
import { whyOutcomes } from "../../src/kernel/messages/why.ts";
import { matchKeys } from "../../src/kernel/quality.ts";
import { rowConfirmations } from "../../src/kernel/reconciliation.ts";
import { platforms } from "../../src/platforms/index.ts";
import { makeReport } from "../../src/reconcile/report.ts";
import { newConnectionTally, newTally, otherReasons } from "../../src/store/reconciliation/tally.ts";
import { nameOf } from "../../src/traffic/modes.ts";
import { signals } from "../../src/traffic/signals.ts";
import { readSource, walk, type Node } from "./sourceTexts.ts";

const src = new URL("../../src/", import.meta.url);

/** Reads the sources of these folders, without tests. */
const readFolders = (...folders: string[]) =>
  folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, src), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .map((path) => `${folder}/${path}`)
      .map((path) => readSource(path, readFileSync(new URL(path, src), "utf8"))),
  );

/** Returns the texts that an expression can have, with examples for the values in it; none if it is no text. */
function textsOf(node: Node | undefined): string[] {
  if (node?.type === "Literal" && typeof node["value"] === "string") return [node["value"]];
  if (node?.type === "ConditionalExpression")
    return [...textsOf(node["consequent"] as Node), ...textsOf(node["alternate"] as Node)];
  if (node?.type === "BinaryExpression" && node["operator"] === "+")
    return textsOf(node["left"] as Node).flatMap((left) => textsOf(node["right"] as Node).map((right) => left + right));
  if (node?.type !== "TemplateLiteral") return [];
  const parts = (node["quasis"] as { value: { cooked: string } }[]).map(({ value }) => value.cooked);
  return [parts.reduce((text, part, i) => `${text}V${i}${part}`)];
}

const { de } = languages;
const german: Language = de ?? expect.unreachable();
const untranslated = (texts: readonly string[]) => texts.filter((text) => !Object.hasOwn(german.server.words, text));

beforeAll(async () => {
  setLanguage("de");
  await showLanguage();
  await showAllTexts();
});
// Other files of the same process expect English.
afterAll(async () => {
  setLanguage("en");
  await showLanguage();
});

const placesOf = (template: string) => [...new Set(template.match(/\{\w+\}/g))].toSorted();

test("the evidence of a visit is written in the language", () => {
  expect(reasonText("pointer:no way to the press (1 times)")).toBe("Kein Weg zum Mausklick: einmal");
  expect(reasonText("pointer:no way to the press (2 times)")).toBe("Kein Weg zum Mausklick: 2-mal");
  expect(reasonText("contradiction:another system (Linux, not windows)")).toBe("Anderes Betriebssystem: Linux, nicht windows");
  const counted: string[] = [];
  for (const { program } of readFolders("traffic"))
    walk(program, (node) => {
      const isCount = node.type === "CallExpression" && (node["callee"] as Node)["name"] === "ifAtLeast";
      if (isCount) counted.push(...textsOf((node["arguments"] as Node[])[2]));
      return true;
    });
  expect(counted).toContain("emails in an hour");
  expect(counted.filter((what) => !Object.hasOwn(commonText.evidence, what))).toEqual([]);
});

describe.each(Object.entries(languages))("the language %s", (_, language) => {
  test("has every message of the relay", () => {
    expect(missingMessages(language)).toEqual([]);
  });

  test("has no message that the relay does not have, and no parameter", () => {
    // A validator's own words stay out of the translation.
    const ownWords = ["{expected}", "{text}"];
    for (const [code, text] of Object.entries(language.server.messages)) {
      const places = placesOf(messages[code as MessageCode]).filter((place) => !ownWords.includes(place));
      expect(placesOf(text), code).toEqual(places);
    }
  });

  test("has no text that a platform does not have", () => {
    for (const [id, texts] of Object.entries(language.platforms)) {
      const platform = platforms.find((one) => one.id === id) ?? expect.unreachable(id);
      const known = textKeysOf(platform);
      expect(
        translatedKeys(texts).filter((key) => !known.includes(key)),
        id,
      ).toEqual([]);
      expect(texts.guide?.credentials?.length, id).toBe(platform.guide?.credentials.length);
      expect(texts.guide?.notSent?.length, id).toBe(platform.guide?.notSent.length);
    }
  });
});

test("a platform without a translation is shown in English, and a list of another length too", () => {
  const platform = {
    description: "Sends.",
    settings: [{ name: "id", label: "ID", help: "The id." }],
    fields: [{ name: "city", help: "City." }],
    guide: { credentials: ["One.", "Two."], sends: [{ field: "a", from: "b" }], notSent: ["Names."], testMode: "None." },
  };
  expect(translatePlatform(platform, {})).toEqual(platform);
  const texts = { settings: { id: { help: "Die ID." } }, guide: { credentials: ["Eins."], notSent: ["Namen."] } };
  expect(translatePlatform(platform, texts)).toEqual({
    ...platform,
    settings: [{ name: "id", label: "ID", help: "Die ID." }],
    guide: { ...platform.guide, notSent: ["Namen."] },
  });
});

const everySource = readFolders(...readdirSync(src).filter((name) => !name.endsWith(".ts")));

test("every message of the catalogue is said somewhere", () => {
  const used = new Set<unknown>();
  for (const { path, program } of everySource)
    if (!path.startsWith("kernel/messages/"))
      walk(program, (node) => {
        if (node.type === "Literal") used.add(node["value"]);
        return true;
      });
  // One function says them all, by their outcome.
  for (const outcome of whyOutcomes) used.add(`why_${outcome}`);
  expect(Object.keys(messages).filter((code) => !used.has(code))).toEqual([]);
});

test("every refusal of the management API has a code", () => {
  const texts: string[] = [];
  let refusals = 0;
  for (const { path, program } of readFolders("access", "alerts", "api", "delivery", "domains", "outbound", "reconcile", "sites"))
    walk(program, (node) => {
      const name = (node["callee"] as Node | undefined)?.["name"];
      const isRefusal = name === "Refusal" || name === "Conflict" || name === "Missing" || name === "Denied";
      if (node.type !== "NewExpression" || !isRefusal) return true;
      refusals += 1;
      texts.push(...textsOf((node["arguments"] as Node[])[1]).map((text) => `${path}: ${text}`));
      return true;
    });
  expect(refusals).toBeGreaterThan(120);
  expect(texts).toEqual([]);
});

test("German has every loss of a funnel, and every change that would raise match quality", () => {
  const reasons = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]));
  const states = Object.fromEntries(deliveryStates.map((state) => [state, reasons(["", otherReasons])]));
  const confirmations = Object.fromEntries(
    rowConfirmations.map((state) => [state, reasons(state === "none" ? [""] : ["", ...confirmationReasons])]),
  );
  const connection = { ...newConnectionTally("google_ads"), states, confirmations };
  const tally = { ...newTally(), orders: 100, received: 90, connections: { c: connection } };
  const funnels = makeReport({ tally, to: 0 }, []).connections.map(({ funnel }) => funnel);
  const losses = funnels.flat().flatMap((step) => step.losses);
  expect(losses.length).toBeGreaterThan(30);
  const isEnglish = (one: (typeof losses)[number]) => lossText(one) === one.reason;
  expect(losses.filter(isEnglish).map(({ reason }) => reason)).toEqual([]);

  const changes = matchKeys
    .filter((key) => key !== "email")
    .flatMap((key) =>
      [{ kind: "send", keyId: "k" } as const, { kind: "identify", keyId: null } as const].map((one) =>
        describeImprovement({ ...one, key, gain: 0.3 }, () => "HubSpot"),
      ),
    );
  const { messages: codes = {} } = JSON.parse(writeAnswer({ changes })) as { messages?: object };
  keepMessages({ messages: codes });
  expect(changes.map((text) => serverText(english(text))).filter((text) => /\ban? [a-z]/.test(text))).toEqual([]);
});

test("German has every reason for which an inbound request is rejected", () => {
  const reasons: string[] = [];
  for (const { path, program } of readFolders("inbound"))
    walk(program, (node) => {
      const name = (node["callee"] as Node | undefined)?.["name"];
      const given = (node["arguments"] ?? []) as Node[];
      if (node.type === "NewExpression" && name === "FieldFault") reasons.push(...textsOf(given[0]));
      // The list of rejected requests has these without their full stop.
      if (path.endsWith("/refusals.ts") && (name === "text" || name === "json"))
        reasons.push(...textsOf(given[2]).map((text) => text.replace(/\.$/, "")));
      return true;
    });
  expect(reasons.length).toBeGreaterThan(30);
  expect(untranslated(reasons)).toEqual([]);
});

test("German has every reason for which a row of an uploaded file is refused", () => {
  const reasons: string[] = [];
  for (const { path, program } of readFolders("import", "tables"))
    walk(program, (node, above) => {
      const name = (node["callee"] as Node | undefined)?.["name"];
      const given = (node["arguments"] ?? []) as Node[];
      if (node.type === "NewExpression" && name === "ValueFault") reasons.push(...textsOf(given[0]));
      if (node.type === "NewExpression" && name === "Conflict") reasons.push(...textsOf(given[1]));
      if (node.type === "Property" && (node["key"] as Node)["name"] === "fault") reasons.push(...textsOf(node["value"] as Node));
      // Other texts that these functions return are fields of the row.
      const reads = above.find(({ type }) => type === "FunctionDeclaration");
      const isReader = /^read(?:Row|Entry|Person|Visit)$/.test(String((reads?.["id"] as Node | null)?.["name"]));
      if (path.startsWith("import/") && node.type === "ReturnStatement" && isReader)
        reasons.push(...textsOf(node["argument"] as Node));
      return true;
    });
  expect(reasons.length).toBeGreaterThan(10);
  expect(untranslated(reasons)).toEqual([]);
});

test("every reason of a verdict and of the filter has a name in the dashboard", () => {
  const codes = [...signals.map(nameOf), ...filterCodes, "contradiction:independent contradictions", "site rule:denied"];
  for (const code of codes) expect(commonText.reasons).toHaveProperty([code]);
});

test("German has the meaning of every bot signal, and both languages its category", () => {
  expect(untranslated(signals.map(({ category, name }) => `${category}:${name}`))).toEqual([]);
  for (const { category } of signals) expect(botsText.check.categories).toHaveProperty([category]);
});

test("every action of the audit log has a text", () => {
  const actions = new Set<string>();
  for (const { program } of readFolders("access", "api", "delivery", "domains", "identity", "outbound", "sites"))
    walk(program, (node) => {
      const isLine = node.type === "CallExpression" && (node["callee"] as Node)["name"] === "auditLine";
      const found = isLine
        ? textsOf((node["arguments"] as Node[])[1])
        : node.type === "Property" && (node["key"] as Node)["name"] === "action"
          ? textsOf(node["value"] as Node)
          : [];
      for (const one of found) if (one.includes(" ")) actions.add(one);
      return true;
    });
  expect(actions.size).toBeGreaterThan(30);
  for (const action of actions) expect(settingsText.audit.actions).toHaveProperty([action]);
});

test("a value in a message stays as it is, and a message or a word in it is translated", () => {
  const shown = (text: string) => {
    keepMessages(JSON.parse(writeAnswer({ text })));
    return serverText(english(text));
  };
  expect(shown(say("platform_not_asked", { platform: "Meta", reason: "connection refused" }))).toBe(
    "Meta konnte nicht gefragt werden: Verbindung abgelehnt.",
  );
  const reason = say("name_of_platform", { platform: "Meta" });
  expect(shown(say("event_sent_as", { event: "purchase", names: "Purchase", reason }))).toBe(
    "purchase wird als Purchase gesendet: der Name von Meta dafür.",
  );
  expect(shown(say("webhook_active", { id: "wh_1" }))).toBe("Webhook wh_1 ist schon aktiv.");
  expect(shown("(#190) Error validating access token")).toBe("(#190) Error validating access token");
});

test("an alert names each reason with its shares", () => {
  const reasons = [
    say("share_grew", { reason: "no ad click", now: "33 %", usually: "7 %" }),
    say("share_of_reason", { reason: "too old", now: "20 %" }),
  ];
  const text = say("alert_not_counted", { decided: "30", connection: "Meta", reasons });
  keepMessages(JSON.parse(writeAnswer({ text })));
  expect(serverText(english(text))).toMatch(/ kein Klick auf eine Anzeige \(33 %, sonst 7 %\), zu alt \(20 %\)\.$/);
});
