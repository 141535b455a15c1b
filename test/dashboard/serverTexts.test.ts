// Texts that come from the relay: German has every one that the sources can say.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { showAllTexts, showLanguage } from "../../dashboard/messages/catalogue.ts";
import { configurationText } from "../../dashboard/messages/configuration.ts";
import { platformTexts } from "../../dashboard/messages/de/platforms/texts.ts";
import { setLanguage } from "../../dashboard/messages/language.ts";
import { addServerTexts, findServerText, serverText } from "../../dashboard/messages/server.ts";
import { settingsText } from "../../dashboard/messages/settings.ts";
import { lossText } from "../../dashboard/scenes/reconciliation/report.ts";
import { describeImprovement } from "../../src/delivery/quality/read.ts";
import { confirmationReasons } from "../../src/kernel/confirmation.ts";
import { deliveryStates } from "../../src/kernel/event.ts";
import { matchKeys } from "../../src/kernel/quality.ts";
import { rowConfirmations } from "../../src/kernel/reconciliation.ts";
import { platforms } from "../../src/platforms/index.ts";
import type { Platform } from "../../src/platforms/platform.ts";
import { skipRulesOf, testModeText } from "../../src/platforms/shared/skips.ts";
import { makeReport } from "../../src/reconcile/report.ts";
import { newConnectionTally, newTally, otherReasons } from "../../src/store/reconciliation/tally.ts";
import { damageFindings } from "../../src/store/damagedRows.ts";
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

const untranslated = (texts: readonly string[]) => texts.filter((text) => findServerText(text) === null);

beforeAll(async () => {
  setLanguage("de");
  await showLanguage();
  await showAllTexts();
  addServerTexts("de", platformTexts);
});
// Other files of the same process expect English.
afterAll(async () => {
  setLanguage("en");
  await showLanguage();
});

/** The texts of a platform that the dashboard shows. */
function textsOfPlatform(platform: Platform): string[] {
  const { description, settings, fields, guide } = platform;
  return [
    description,
    ...settings.flatMap(({ label, help }) => [label, help]),
    ...(fields ?? []).map(({ help }) => help),
    ...(guide?.credentials ?? []),
    ...(guide?.sends ?? []).map(([, from]) => from),
    ...(guide?.notSent ?? []),
    ...(guide ? [testModeText(platform)] : []),
  ];
}

test.each(platforms.map((one) => [one.name, one] as const))("German has every text of %s", (_, platform) => {
  expect(untranslated(textsOfPlatform(platform))).toEqual([]);
});

test("German has every reason for which a platform skips an event", () => {
  const reasons = platforms.flatMap((platform) => skipRulesOf(platform).map(({ reason }) => reason));
  expect(reasons.length).toBeGreaterThan(40);
  expect(untranslated(reasons)).toEqual([]);
});

/** Parts of a text, a text with an optional sentence in it, and what is only sent as a test. */
const isPart = (text: string) => /^V1(?: \(V2V3\)|V2 →)|^Webhook V1 to V2 is disabled: V3\.V4|\btest alert\b/.test(text);

test("German has every title and text of an alert, and what to do", () => {
  const texts: string[] = [];
  for (const { path, program } of readFolders("alerts", "api/handlers"))
    walk(program, (node, above) => {
      const name = ((node["key"] ?? node["id"]) as Node | undefined)?.["name"];
      const isText = path.startsWith("alerts/") && (name === "text" || name === "title");
      const isAdvice = above.some((one) => (one["id"] as Node | null | undefined)?.["name"] === "whatToDo");
      if (node.type === "Property" && (isText || isAdvice)) texts.push(...textsOf(node["value"] as Node));
      if (node.type === "VariableDeclarator" && isText) texts.push(...textsOf(node["init"] as Node));
      return true;
    });
  for (const { text } of Object.values(damageFindings)) texts.push(text);
  expect(texts.length).toBeGreaterThan(40);
  expect(untranslated(texts.filter((text) => !isPart(text)))).toEqual([]);
  const notCounted = (reasons: string) =>
    serverText(`Of the last 30 conversions that Meta accepted and decided on, it did not count more than usual: ${reasons}.`);
  expect(notCounted("no ad click (33 %, usually 7 %), too old (20 %, usually 1 %)")).toMatch(
    / kein Klick auf eine Anzeige \(33 %, sonst 7 %\), zu alt \(20 %, sonst 1 %\)\.$/,
  );
  expect(notCounted("no ad click (33 %)")).toMatch(/ kein Klick auf eine Anzeige \(33 %\)\.$/);
});

/** A message that begins with another one, or has no words of its own. */
const isComposed = (text: string) => /^(?:V\d[.: ]*)+$/.test(text) || /^V1(?: Begin|\. An o)/.test(text);

test("German has every refusal of the management API", () => {
  const messages: string[] = [];
  for (const { program } of readFolders("access", "alerts", "api", "delivery", "domains", "outbound", "sites"))
    walk(program, (node) => {
      const name = (node["callee"] as Node | undefined)?.["name"];
      const isRefusal = name === "Refusal" || name === "Conflict" || name === "Missing" || name === "Denied";
      if (node.type === "NewExpression" && isRefusal) messages.push(...textsOf((node["arguments"] as Node[])[1]));
      return true;
    });
  expect(messages.length).toBeGreaterThan(80);
  expect(untranslated(messages.filter((text) => !isComposed(text)))).toEqual([]);
});

test("German has every loss of a funnel, and every change that would raise match quality", () => {
  const reasons = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]));
  const states = Object.fromEntries(deliveryStates.map((state) => [state, reasons(["", otherReasons])]));
  const confirmations = Object.fromEntries(
    rowConfirmations.map((state) => [state, reasons(state === "none" ? [""] : ["", ...confirmationReasons])]),
  );
  const connection = { ...newConnectionTally("google_ads"), states, confirmations };
  const tally = { ...newTally(), orders: 100, received: 90, connections: { c: connection } };
  const funnels = makeReport({ tally }, []).connections.map(({ funnel }) => funnel);
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
  expect(untranslated(changes)).toEqual([]);
  expect(changes.map(serverText).filter((text) => /\ban? [a-z]/.test(text))).toEqual([]);
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
  expect(reasons.length).toBeGreaterThan(15);
  expect(untranslated(reasons)).toEqual([]);
});

test("German has the meaning of every bot signal, and both languages its category", () => {
  expect(untranslated(signals.map(({ why }) => why))).toEqual([]);
  for (const { category } of signals) expect(configurationText.check.categories).toHaveProperty([category]);
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

test("a value in a text stays as it is, and a reason in it is translated", () => {
  expect(serverText("needs reconnection: connection refused")).toBe("muss neu verbunden werden: Verbindung abgelehnt");
  expect(serverText("purchase is sent as Purchase: Meta's name for it.")).toBe(
    "purchase wird als Purchase gesendet: der Name von Meta dafür.",
  );
  expect(serverText("Webhook wh_1 is active already.")).toBe("Webhook wh_1 ist schon aktiv.");
  expect(serverText("(#190) Error validating access token")).toBe("(#190) Error validating access token");
});
