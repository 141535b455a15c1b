import type { Command } from "commander";
import { platforms } from "../platforms/index.ts";
import type { EventNames, Platform } from "../platforms/platform.ts";
import { connectCommand } from "../sites/connectionHints.ts";
import { knownPlatform } from "../sites/connect.ts";
import { printResult, table, type CliCommand } from "./context.ts";

/** These commands need no installation. */
export function platformCommands(program: CliCommand): void {
  const platform = program.command("platform").description("platforms that can be connected: their settings, events and limits");

  platform
    .command("list")
    .description("list all platforms")
    .action((_options: unknown, command: Command) => {
      const rows = platforms.map((one) => [
        one.id,
        one.name,
        one.oauth && !one.oauth.isForReading ? "sign-in or token" : "settings",
        ageText(one),
        String(one.batch),
      ]);
      const head = ["ID", "NAME", "CONNECTED BY", "MAXIMUM AGE", "EVENTS PER REQUEST"];
      const more = "\n\n'cleancast platform show ID' shows the settings of one, and the command that connects it.";
      printResult(command, { platforms: platforms.map(describePlatform) }, table(head, rows, "") + more);
    });

  platform
    .command("show <platform>")
    .description("show a platform: its settings, event names, limits and click ids, and how to connect it")
    .action((id: string, _options: unknown, command: Command) => {
      const found = knownPlatform(id);
      printResult(command, { platform: describePlatform(found) }, platformText(found));
    });
}

/** Returns everything that a script may need, without functions. */
function describePlatform(platform: Platform) {
  const { id, name, description, docs, guide, oauth, settings, pickers = [], ids = [], fields = [] } = platform;
  return {
    id,
    name,
    description,
    docs,
    signIn: oauth !== undefined,
    settings: settings.map((one) => ({
      name: one.name,
      label: one.label,
      help: one.help,
      required: one.required === true,
      secret: one.secret === true,
      default: one.default ?? null,
    })),
    requires: platform.requires ?? [],
    choices: pickers.map(({ setting }) => setting),
    clickIds: ids,
    events: platform.events ? { standard: platform.events.standard, others: othersText(platform.events) } : null,
    fields: fields.map((one) => ({ name: one.name, help: one.help })),
    limits: {
      /** Null where there is none, or where it depends on the event. */
      maxAgeDays: typeof platform.maxAgeDays === "number" ? platform.maxAgeDays : null,
      batch: platform.batch,
      lanes: platform.lanes,
      quota: platform.quota ?? null,
      notes: guide?.limits ?? [],
    },
    connect: connectCommand("SITE", platform),
  };
}

function platformText(platform: Platform): string {
  const { name, description, docs, settings, events, limits, clickIds, fields, choices, connect, signIn } =
    describePlatform(platform);
  const { id, guide } = platform;
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
  return [
    `${name} (${id}): ${description}`,
    ...(docs ? [`Its API: ${docs.url}, last compared on ${docs.checked}`] : []),
    ...section("Get the credentials", guide?.credentials.map((step, i) => `${i + 1}. ${step}`) ?? []),
    ...section("Connect", [
      connect,
      ...(signIn ? [`cleancast sign-in SITE ${id}  (needs an OAuth app: cleancast oauth app set ${id} --help)`] : []),
      ...choices.map((setting) => `cleancast connection choices SITE ${id} ${setting}`),
    ]),
    ...section("Settings", settingLines),
    ...section(
      "Events",
      events ? [...Object.entries(events.standard).map(([ours, theirs]) => `${ours} is sent as ${theirs}`), events.others] : [],
    ),
    ...section(
      "Fields that a connection may fill (map.FIELD=SOURCE)",
      fields.map((one) => `${one.name}: ${one.help}`),
    ),
    ...section("Click ids and browser ids", clickIds.length > 0 ? [clickIds.join(", ")] : []),
    ...section("Limits", [
      `events up to ${ageText(platform)} old, ${limits.batch} in a request, ${limits.lanes} requests at once`,
      ...(limits.quota ? [`${limits.quota.requests} requests in ${limits.quota.seconds} s`] : []),
      ...limits.notes,
    ]),
  ].join("\n");
}

function ageText({ maxAgeDays }: Platform): string {
  if (maxAgeDays === undefined) return "any age";
  return typeof maxAgeDays === "number" ? `${maxAgeDays} days` : "some days";
}

function othersText({ others }: EventNames): string {
  if (others === "own name") return "other events are sent under their usual or own name";
  return others === "not sent"
    ? "other events are skipped, unless the connection names them (event.NAME=…)"
    : `other events are sent as ${others.name}`;
}
