import type { Command } from "commander";
import type { Answer } from "../../contract/contract.ts";
import { readConfig } from "../../installation/config.ts";
import { findInstallation } from "../../installation/installation.ts";
import { knownPlatform } from "../../sites/connect.ts";
import { printResult, table, withContext, type CliCommand } from "../context.ts";

type Platform = Answer<"GET /platforms">["items"][number];

export function platformCommands(program: CliCommand): void {
  const platform = program.command("platform").description("platforms that can be connected, and their settings");

  platform
    .command("list")
    .description("list all platforms")
    .action(async (_options: unknown, command: Command) => {
      const items = await listPlatforms(command);
      const rows = items.map((one) => [
        one.id,
        one.name,
        one.signIn && !one.signIn.isOptional ? "sign-in or token" : "settings",
        ageText(one),
        String(one.batch),
      ]);
      const head = ["ID", "NAME", "CONNECTED BY", "MAXIMUM AGE", "EVENTS PER REQUEST"];
      const more = "\n\n'cleancast platform show ID' shows the settings of one, and the command that connects it.";
      printResult(command, { items }, table(head, rows, "") + more);
    });

  platform
    .command("show <platform>")
    .description("show a platform's settings, event names, limits and click ids")
    .action(async (id: string, _options: unknown, command: Command) => {
      const known = knownPlatform(id);
      const found = (await listPlatforms(command)).find((one) => one.id === known.id);
      if (found) printResult(command, found, platformText(found));
    });
}

/** Platforms can be looked up before there is an installation; it only has the apps with which people sign in. */
async function listPlatforms(command: Command): Promise<Platform[]> {
  if (await findInstallation(readConfig()))
    return withContext(command, async ({ call }) => (await call("GET /platforms", {})).items);
  const { describePlatforms } = await import("../../api/handlers/connections/platforms.ts");
  return describePlatforms([]);
}

function platformText(platform: Platform): string {
  const { id, name, description, docsUrl, docsChecked, settings, events, clickIds, fields, signIn, guide, quota } = platform;
  const section = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? ["", title, ...lines.map((line) => `  ${line}`)] : [];
  const settingLines = settings.map((one) =>
    [
      `${one.name}: ${one.label}`,
      ...(one.required ? ["required"] : []),
      ...(one.secret ? ["secret"] : []),
      ...(one.default === null ? [] : [`default ${one.default}`]),
    ]
      .join(", ")
      .concat(one.help ? `. ${one.help}` : ""),
  );
  const choices = settings.filter((one) => one.choices !== null);
  return [
    `${name} (${id}): ${description}`,
    ...(docsUrl ? [`Its API: ${docsUrl}, last compared on ${docsChecked}`] : []),
    ...section("Get the credentials", guide?.credentials.map((step, i) => `${i + 1}. ${step}`) ?? []),
    ...section("Connect", [
      platform.connect,
      ...(signIn ? [`cleancast sign-in SITE ${id}  (needs an OAuth app: cleancast oauth app set ${id} --help)`] : []),
      ...choices.map((setting) => `cleancast connection choices SITE ${id} ${setting.name}`),
    ]),
    ...section("Settings", settingLines),
    ...section(
      "Events",
      events
        ? [...Object.entries(events.standard).map(([ours, theirs]) => `${ours} is sent as ${theirs}`), othersText(events)]
        : [],
    ),
    ...section(
      "Fields that a connection may fill (map.FIELD=SOURCE)",
      fields.map((one) => `${one.name}: ${one.help}`),
    ),
    ...section("Click ids and browser ids", clickIds.length > 0 ? [clickIds.join(", ")] : []),
    ...section("Limits", [
      `events up to ${ageText(platform)} old, ${platform.batch} in a request, ${platform.lanes} requests at once`,
      ...(quota ? [`${quota.requests} requests in ${quota.seconds} s`] : []),
      ...(guide?.limits ?? []),
    ]),
  ].join("\n");
}

function ageText({ id, maxAgeDays }: Platform): string {
  if (maxAgeDays !== null) return `${maxAgeDays} days`;
  return knownPlatform(id).maxAgeDays === undefined ? "any age" : "some days";
}

function othersText({ others }: NonNullable<Platform["events"]>): string {
  if (others === "own name") return "other events are sent under their usual or own name";
  return others === null
    ? "other events are skipped, unless the connection names them (event.NAME=…)"
    : `other events are sent as ${others}`;
}
