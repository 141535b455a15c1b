import type { Answer } from "../../contract/contract.ts";
import { given } from "../../http/given.ts";
import { maxBackfillDays } from "../../kernel/backfill.ts";
import { Conflict, Denied } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { platformOf } from "../../platforms/index.ts";
import { findConnection } from "../../sites/connect.ts";
import { findSite } from "../../sites/manage.ts";
import { cannotBeRead } from "../../store/sites/configuration.ts";
import { confirmBackfill, countPast, countText as backfillText, startCounted } from "./backfill.ts";
import { readNumber, readPairs, siteName, table, timeText, type CommandContext, type CliCommand } from "../context.ts";
import {
  paramsOf,
  verificationText,
  readConnection,
  sendsNothingLines,
  type Connection,
  type Params,
} from "./savedConnection.ts";
import { connectionTestCommands } from "./connectionTest.ts";
import { listItems } from "../lists.ts";
import { confirm, countText } from "../terminal/confirm.ts";

type Saved = Answer<"PATCH /sites/:site/connections/:connection">;
type VerifyOption = { verify: boolean };
type ConnectOptions = VerifyOption & { backfillDays?: string; yes?: boolean };

const noVerify = "do not ask the platform if it would take conversions";

/** The pairs that `add` and `set` take. */
const pairsHelp = `
name=value:
  NAME=VALUE         a setting of the platform: cleancast platform show PLATFORM
  NAME=@FILE         the value is read from a file, so that no secret is typed
  sign_in=ID         the tokens of a sign-in: cleancast sign-in SITE PLATFORM
  events=a,b         the events that are sent; all by default
  event.NAME=…       another name for an event, or its targets
  value.NAME=…       a value rule
  map.FIELD=…        the field that fills a field of the platform`;

export function connectionCommands(program: CliCommand): void {
  const group = program.command("connection").description("connections to platforms");

  group
    .command("add <site> <platform> [name=value...]")
    .description("connect a platform, or change the connection to the same account")
    .addHelpText("after", pairsHelp)
    .option("--no-verify", noVerify)
    .option("--backfill-days <n>", "also send the conversions of the last days that the platform can still take")
    .option("--yes", "start the backfill without asking")
    .run(async (context, siteText: string, platform: string, words: string[], options: ConnectOptions) => {
      const days = options.backfillDays && readNumber("backfill-days", options.backfillDays, maxBackfillDays);
      const { id: site } = findSite(context, siteText);
      const body = { platform, ...readChanges(words, options) };
      const saved = await refusedHint(context.call("POST /sites/:site/connections", { params: { site }, body }));
      const { connection, isNew, released } = saved;
      const text = [
        `${isNew ? "Connected" : "Changed the connection to"} ${platform}: ${connection.id}.${releasedText(released)}`,
        ...savedLines(saved, options),
      ].join("\n");
      if (!days) return context.print(saved, text);
      // People read that it is connected before they are asked; a script gets one value.
      if (!context.isJson) context.print(saved, text);
      const params = { site, connection: connection.id };
      const counted = await countPast(context, params, days);
      const report = (backfill: object | null, sentence: string) => context.print({ ...saved, counted, backfill }, sentence);
      const found = backfillText(counted, days);
      if (counted.sendable === 0) return report(null, found);
      try {
        await confirmBackfill(connection, found, options.yes);
      } catch (refusal) {
        if (context.isJson) report(null, found);
        throw refusal;
      }
      const { backfill, sentence } = await startCounted(context, connection, params, { counted, days });
      report(backfill, `${options.yes ? `${found}\n` : ""}${sentence}`);
    });

  group
    .command("list [site]")
    .description("list the connections of a site, or of all sites")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { value, rows } = await listItems(directory, siteText, (params) => call("GET /sites/:site/connections", { params }));
      const cells = rows.map(({ site, item: one }) => [
        one.id,
        siteName(site),
        one.platform,
        one.stateReason === cannotBeRead ? `${one.state}: ${cannotBeRead}` : one.state,
        one.verification.state === "verified" ? timeText(one.verification.verifiedAt) : "no",
        one.events?.join(",") ?? "all",
        timeText(one.createdAt),
      ]);
      const head = ["ID", "SITE", "PLATFORM", "STATE", "VERIFIED (UTC)", "EVENTS", "CREATED (UTC)"];
      print(value, table(head, cells, "No connections yet. Create one: cleancast connection add SITE webhook url=https://…"));
    });

  group
    .command("show <id>")
    .description("show a connection: its state, events, settings and field mapping")
    .run(async (context, id: string) => {
      const params = paramsOf(context, id);
      const shown = await readConnection(context, params);
      const host = context.directory.site(params.site)?.hosts[0] ?? params.site;
      context.print(shown, describedText(shown, host));
    });

  group
    .command("set <id> <name=value...>")
    .description("change settings of a connection; an empty value removes one")
    .addHelpText("after", pairsHelp)
    .option("--no-verify", noVerify)
    .run(async (context, id: string, words: string[], options: VerifyOption) => {
      const params = paramsOf(context, id);
      const body = readChanges(words, options);
      const saved = await refusedHint(context.call("PATCH /sites/:site/connections/:connection", { params, body }));
      const { platform, state } = saved.connection;
      const names = words.map((pair) => pair.slice(0, pair.indexOf("=")));
      context.print(
        saved,
        [
          `Connection ${id} to ${platform} is ${state}. Changed: ${names.join(", ")}.` +
            `${releasedText(saved.released)} Test it: cleancast connection test ${id}`,
          ...savedLines(saved, options),
        ].join("\n"),
      );
    });

  group
    .command("rotate <id>")
    .description("create a new signing secret; the old one signs too for 24 hours")
    .run(async (context, id: string) => {
      const params = paramsOf(context, id);
      const rotated = await context.call("POST /sites/:site/connections/:connection/rotate", { params });
      context.print(
        rotated,
        `${rotated.secret}\n\nRequests of connection ${id} are signed with this secret from now on, and until ` +
          `${timeText(rotated.oldUntil)} UTC with the old one too. It is shown only this once: give it to your endpoint before then.`,
      );
    });

  connectionTestCommands(group);

  group
    .command("pause <id>")
    .description("hold back deliveries until the connection is resumed; none is lost")
    .run(async (context, id: string) => {
      const paused = await context.call("POST /sites/:site/connections/:connection/pause", { params: paramsOf(context, id) });
      context.print(paused, `Connection ${id} is paused.`);
    });

  group
    .command("resume <id>")
    .description("resume sending, parked deliveries first")
    .run(async (context, id: string) => {
      const params = paramsOf(context, id);
      const resumed = await context.call("POST /sites/:site/connections/:connection/resume", { params });
      context.print(resumed, `Connection ${id} is active. ${countReleased(resumed.released)}`);
    });

  group
    .command("remove <id>")
    .description("remove a connection; its waiting deliveries are not sent")
    .option("--yes", "do it without asking")
    .run(async (context, id: string, { yes }: { yes?: boolean }) => {
      const params = paramsOf(context, id);
      await confirm({ what: await removalText(context, params), yes });
      const removed = await context.call("DELETE /sites/:site/connections/:connection", { params });
      context.print(removed, `Connection ${id} is removed.`);
    });
}

function readChanges(words: readonly string[], { verify }: VerifyOption) {
  const { sign_in: signIn, events, ...settings } = readPairs(words);
  return { settings, ...given({ signIn, events: events?.split(",") }), verify: verify || ("never" as const) };
}

/** The platform may refuse new credentials of a verified connection; they can be saved all the same. */
async function refusedHint<T>(saving: Promise<T>): Promise<T> {
  try {
    return await saving;
  } catch (error) {
    if (!(error instanceof Denied) || error.code !== "conflict") throw error;
    throw new Conflict("settings", error.message, `${error.message} Add --no-verify to save the new ones.`);
  }
}

const countReleased = (count: number) => `${countOf(count, "parked delivery is", "parked deliveries are")} sent now.`;
const releasedText = (count: number) => (count ? ` ${countReleased(count)}` : "");

function savedLines({ connection, newSecret }: Saved, { verify }: VerifyOption): string[] {
  return [
    ...(newSecret
      ? [`Signing secret, shown only this once: ${newSecret}`, "Your endpoint checks the signature of each request with it."]
      : []),
    ...(verify ? [verificationText(connection)] : []),
    ...sendsNothingLines(connection),
  ];
}

function describedText(shown: Connection, host: string): string {
  const { id, platform, state, stateReason, events, settings, createdAt, lastSentAt, verification } = shown;
  const verified =
    verification.state === "verified" ? `yes, ${timeText(verification.verifiedAt)} UTC` : `no: ${verification.reason}`;
  return [
    `Connection ${id} of ${host} to ${platformOf(platform)?.name ?? platform}, created ${timeText(createdAt)} UTC`,
    "",
    `State      ${state}${stateReason === null ? "" : `: ${stateReason}`}`,
    `Verified   ${verified}`,
    `Last sent  ${timeText(lastSentAt)}`,
    `Events     ${events?.join(", ") ?? "all"}`,
    ...sendsNothingLines(shown),
    "",
    "Settings",
    ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`),
  ].join("\n");
}

async function removalText(context: CommandContext, params: Params): Promise<string> {
  const { id, platform } = findConnection(context.directory.sites(), params.connection);
  const waiting = await context.store.deletions.waitingOfConnection(params.site, id);
  const lost =
    waiting === 0
      ? "No deliveries wait for it."
      : `${countText(waiting)} ${waiting === 1 ? "delivery that waits for it is" : "deliveries that wait for it are"} never sent.`;
  return `This removes the connection ${id} to ${platform} and its credentials. ${lost}`;
}
