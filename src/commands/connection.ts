import { urlFault } from "../delivery/addresses.ts";
import { readSignInTokens } from "../delivery/oauth/signIn.ts";
import { createTokens } from "../delivery/oauth/tokens.ts";
import { proveByTest, proveConnection, whyRefused, whySendsNothing, type ProofState } from "../delivery/prove.ts";
import { createSender } from "../delivery/send.ts";
import { listChoices, readConversion, previewRequest, sampleNow, sendTest } from "../delivery/testDelivery.ts";
import type { Reading } from "../kernel/event.ts";
import { shortId } from "../kernel/ids.ts";
import { maxBackfillDays } from "../kernel/backfill.ts";
import { Conflict } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import { platformOf } from "../platforms/index.ts";
import {
  changeConnection,
  connect,
  disconnect,
  findConnection,
  pause,
  resume,
  rotateSigningSecret,
  type Connected,
} from "../sites/connect.ts";
import { describeConnection } from "../sites/connectionSettings.ts";
import type { Connection } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { confirmBackfill, countPast, countText as backfillText, startCounted } from "./backfill.ts";
import { readNumber, readPairs, table, timeText, type CommandContext, type CliCommand } from "./context.ts";
import { connectionResultCommands } from "./results/connection.ts";
import { confirm, countText } from "./terminal/confirm.ts";

type ProveOption = { prove: boolean };
type ConnectOptions = ProveOption & { backfillDays?: string; yes?: boolean };

/** The next step differs where no call can prove the connection. */
function proofText({ state, reason, unchecked }: ProofState, { id, platform }: Connection): string {
  if (state === "proven") {
    const not = unchecked ? ` Not checked: ${unchecked}.` : "";
    return `Proven: ${platformOf(platform)?.name ?? platform} answered for this connection.${not}`;
  }
  return `Saved, not proven: ${reason?.replace(/\.$/, "")}.\nAsk again: cleancast connection prove ${id}`;
}

const prove = (context: CommandContext, connection: Connection) =>
  withSender(context, (clients) => proveConnection({ ...context, ...clients, now: Date.now }, connection));

const noProve = "do not ask the platform if it would take conversions";

/** The checks of a change, without the platform's own with --no-prove. */
function checksOf(context: CommandContext, { prove: isAsked }: ProveOption) {
  const checkChange = async (existing: Connection, changed: Connection) => {
    const refused = await withSender(context, (clients) =>
      whyRefused({ ...context, ...clients, now: Date.now }, existing, changed),
    );
    if (refused !== null) throw new Conflict("settings", refused, `${refused} Add --no-prove to save the new ones.`);
  };
  return {
    ...context.by,
    checkAddress: (url: string) => urlFault(context.config.allowPrivate, url),
    checkChange: isAsked ? checkChange : undefined,
  };
}

/** Asks the platform about a saved connection, and returns what is printed of it. */
async function askForProof(context: CommandContext, connection: Connection, { prove: isAsked }: ProveOption) {
  const proof = isAsked ? await prove(context, connection) : null;
  const sendsNothing = whySendsNothing(connection, context.by.now);
  const lines = [
    ...(proof ? [proofText(proof, connection)] : []),
    ...(sendsNothing ? [`It cannot send anything yet: ${sendsNothing}.`] : []),
  ];
  return { value: { proof, sendsNothing }, lines };
}

export function connectionCommands(program: CliCommand): void {
  program
    .command("connect <site> <platform> [name=value...]")
    .description(
      "connect a platform, or change the connection to the same account; name=@file reads a value from a file, " +
        "sign_in=ID uses the tokens of a sign-in, events=a,b selects events, event.NAME=… renames one or sets its targets, map.FIELD=… fills a field",
    )
    .option("--no-prove", noProve)
    .option("--backfill-days <n>", "also send the conversions of the last days that the platform can still take")
    .option("--yes", "start the backfill without asking")
    .run(async (context, siteText: string, platform: string, words: string[], options: ConnectOptions) => {
      const { store } = context;
      const backfillDays = options.backfillDays && readNumber("backfill-days", options.backfillDays, maxBackfillDays);
      const site = findSite(context, siteText);
      const { sign_in: signIn, ...pairs } = readPairs(words);
      const given = { ...pairs, ...(await readTokens(context, site.id, platform, signIn)) };
      const result = await connect(context, site, platform, given, checksOf(context, options));
      if (signIn) await store.platformSignIns.end(site.id, signIn);
      const { connection } = result;
      const released = result.released ? ` ${releasedText(result.released)}` : "";
      const proof = await askForProof(context, connection, options);
      const value = {
        id: connection.id,
        platform,
        ...(result.isNew ? {} : { existing: true, released: result.released }),
        ...newSecretValue(result),
        ...proof.value,
      };
      const text = [
        `${result.isNew ? "Connected" : "Changed the connection to"} ${platform}: ${connection.id}.${released}`,
        ...newSecretLines(result),
        ...proof.lines,
      ].join("\n");
      if (!backfillDays) return context.print(value, text);
      // People read that it is connected before they are asked; a script gets one value.
      if (!context.isJson) context.print(value, text);
      const counted = await countPast(context, connection, backfillDays);
      const report = (started: boolean, sentence: string) =>
        context.print({ ...value, backfill: { counted, started } }, sentence);
      const found = backfillText(counted, backfillDays);
      if (counted.sendable === 0) return report(false, found);
      try {
        await confirmBackfill(connection, found, options.yes);
      } catch (refusal) {
        if (context.isJson) report(false, found);
        throw refusal;
      }
      const started = await startCounted(context, connection, counted, { days: backfillDays });
      report(true, `${options.yes ? `${found}\n` : ""}${started}`);
    });

  program
    .command("disconnect <id>")
    .description("remove a connection; its waiting deliveries are not sent")
    .option("--yes", "do it without asking")
    .run(async (context, id: string, { yes }: { yes?: boolean }) => {
      const found = findConnection(context.directory.sites(), id);
      await confirm({ what: await removalText(context, found), yes });
      await disconnect(context, found, context.by);
      context.print({ id, disconnected: true }, `Connection ${id} is removed.`);
    });

  const connection = program.command("connection").description("connections to platforms");

  connectionResultCommands(connection);

  connection
    .command("set <id> <name=value...>")
    .description(
      "change settings of a connection and keep the others, such as access_token=@file; an empty value removes one, " +
        "sign_in=ID uses the tokens of a sign-in",
    )
    .option("--no-prove", noProve)
    .run(async (context, id: string, words: string[], options: ProveOption) => {
      const { store } = context;
      const found = findConnection(context.directory.sites(), id);
      const { sign_in: signIn, events, ...pairs } = readPairs(words);
      const tokens = await readTokens(context, found.siteId, found.platform, signIn);
      const wanted = { settings: { ...pairs, ...tokens }, events: events?.split(",") };
      const site = findSite(context, found.siteId);
      const result = await changeConnection(context, site, found, wanted, checksOf(context, options));
      const { connection: changed, released } = result;
      if (signIn) await store.platformSignIns.end(site.id, signIn);
      const proof = await askForProof(context, changed, options);
      const names = words.map((pair) => pair.slice(0, pair.indexOf("=")));
      context.print(
        { connection: describeConnection(changed), released, ...newSecretValue(result), ...proof.value },
        [
          `Connection ${id} to ${changed.platform} is ${changed.state}. Changed: ${names.join(", ")}.` +
            `${released ? ` ${releasedText(released)}` : ""} Test it: cleancast connection test ${id}`,
          ...newSecretLines(result),
          ...proof.lines,
        ].join("\n"),
      );
    });

  connection
    .command("rotate <id>")
    .description("create a new signing secret; for 24 hours requests are signed with the old one too")
    .run(async (context, id: string) => {
      const found = findConnection(context.directory.sites(), id);
      const { secret, oldUntil } = await rotateSigningSecret(context, found, context.by);
      context.print(
        { id, secret, oldUntil },
        `${secret}\n\nRequests of connection ${id} are signed with this secret from now on, and until ` +
          `${timeText(oldUntil)} UTC with the old one too. It is shown only this once: give it to your endpoint before then.`,
      );
    });

  testCommands(connection);

  connection
    .command("pause <id>")
    .description("hold back deliveries until the connection is resumed; none is lost")
    .run(async (context, id: string) => {
      await pause(context, findConnection(context.directory.sites(), id), context.by);
      context.print({ id, state: "paused" }, `Connection ${id} is paused.`);
    });

  connection
    .command("resume <id>")
    .description("resume sending, parked deliveries first")
    .run(async (context, id: string) => {
      const released = await resume(context, findConnection(context.directory.sites(), id), context.by);
      context.print({ id, state: "active", released }, `Connection ${id} is active. ${releasedText(released)}`);
    });
}

const newSecretValue = ({ newSecret }: Connected) => (newSecret ? { newSecret } : {});

const newSecretLines = ({ newSecret }: Connected) =>
  newSecret
    ? [`Signing secret, shown only this once: ${newSecret}`, "Your endpoint checks the signature of each request with it."]
    : [];

async function removalText({ store }: CommandContext, connection: Connection): Promise<string> {
  const { siteId, id, platform } = connection;
  const waiting = await store.deletions.waitingOfConnection(siteId, id);
  const lost =
    waiting === 0
      ? "No deliveries wait for it."
      : `${countText(waiting)} ${waiting === 1 ? "delivery that waits for it is" : "deliveries that wait for it are"} never sent.`;
  return `This removes the connection ${id} to ${platform} and its credentials. ${lost}`;
}

const releasedText = (count: number) => `${countOf(count, "parked delivery is", "parked deliveries are")} sent now.`;

type PreviewOptions = { event?: string; name: string };

const outcomes: Record<Reading["outcome"], string> = {
  accepted: "Test accepted",
  rejected: "Test failed, would be rejected",
  unauthorized: "Test failed, needs reconnection",
  retry: "Test failed, would be retried",
};

function testCommands(connection: CliCommand): void {
  connection
    .command("preview <id>")
    .description("show the name and the exact request under which a sample or a past event is sent, without sending it")
    .option("--event <id>", "a past event")
    .option("--name <event>", "a sample event with this name", "purchase")
    .run(async (context, id: string, options: PreviewOptions) => {
      const { store, directory, by } = context;
      const found = findConnection(directory.sites(), id);
      const conversion = await readConversion(store, findSite(context, found.siteId), options, by.now);
      const preview = previewRequest(found, conversion, by.now);
      const { request, skipped, naming } = preview;
      const text = request
        ? [
            ...(naming ? [naming, ""] : []),
            `${request.method} ${request.url}`,
            ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
            "",
            JSON.stringify(request.body, null, 2),
          ].join("\n")
        : [`Would be skipped: ${skipped}`, ...(naming ? [naming] : [])].join("\n");
      context.print(preview, text);
    });

  connection
    .command("prove <id>")
    .description("ask the platform, with a call that counts nothing, if it would take conversions")
    .run(async (context, id: string) => {
      const found = findConnection(context.directory.sites(), id);
      const { value, lines } = await askForProof(context, found, { prove: true });
      context.print({ id, ...value }, lines.join("\n"));
      if (value.proof?.state !== "proven") process.exitCode = 1;
    });

  connection
    .command("test <id>")
    .description("send a sample event in the platform's test mode, and show its response")
    .option("--name <event>", "the name of the sample event", "purchase")
    .run(async (context, id: string, { name }: { name: string }) => {
      const { now } = context.by;
      const found = findConnection(context.directory.sites(), id);
      const { request: _request, ...tested } = await withSender(context, (clients) =>
        sendTest(clients, found, sampleNow(name, now), now),
      );
      const { skipped, reading, log } = tested;
      if (reading?.outcome === "accepted") await proveByTest({ ...context, now: Date.now }, found);
      const error = reading && "error" in reading ? `: ${reading.error}` : "";
      const outcome = skipped ? `Not sent: ${skipped}` : `${reading ? outcomes[reading.outcome] : "Test failed"}${error}`;
      const response = log.httpStatus === null ? "" : `\nHTTP ${log.httpStatus}\n${log.response ?? ""}`;
      context.print(tested, `${outcome}${response}`);
      if (reading?.outcome !== "accepted") process.exitCode = 1;
    });

  connection
    .command("choices <site> <platform> <setting> [name=value...]")
    .description("list what the platform offers for a setting, such as its accounts or pixels; sign_in=ID uses a sign-in")
    .run(async (context, siteText: string, platform: string, setting: string, words: string[]) => {
      const site = findSite(context, siteText);
      const { sign_in: signIn, ...given } = readPairs(words);
      const known = site.connections.find((one) => one.platform === platform);
      const signedIn = await readTokens(context, site.id, platform, signIn);
      const choices = await withSender(context, async ({ sender, tokens }) => {
        const current = known && (await tokens.fresh(known));
        const settings = current && "settings" in current ? current.settings : {};
        return listChoices(sender, platform, setting, { ...settings, ...signedIn, ...given }, context.by.now);
      });
      const rows = choices.map(({ value, label }) => [value, label]);
      context.print({ choices }, table([setting.toUpperCase(), "NAME"], rows, "The platform offers no choices."));
    });
}

async function withSender<T>(
  { store, directory, config }: CommandContext,
  work: (clients: Parameters<typeof sendTest>[0]) => Promise<T>,
): Promise<T> {
  const sender = createSender({ ...config, allow: config.allowPrivate, origins: config.platformOrigins });
  const renewalMs = config.attemptMs + 2000;
  const time = { now: Date.now, elapsed: () => performance.now() };
  const tokens = createTokens({ store, directory, sender, owner: shortId(), ...time, renewalMs });
  try {
    return await work({ sender, tokens });
  } finally {
    await sender.close();
  }
}

/** Reads the tokens of a finished sign-in; none without an id. */
async function readTokens(
  { store, by }: CommandContext,
  siteId: string,
  platform: string,
  id: string | undefined,
): Promise<Record<string, string>> {
  return id ? readSignInTokens(store, { siteId, platform, id, requestedBy: null }, by.now) : {};
}
