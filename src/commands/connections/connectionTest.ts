// Commands that try a connection: preview, verification, test event, and the choices of a platform.

import type { Answer } from "../../contract/contract.ts";
import { given } from "../../http/given.ts";
import { countOf } from "../../kernel/text.ts";
import { findConnection, unreadableConnection } from "../../sites/connect.ts";
import { findSite } from "../../sites/manage.ts";
import { paramsOf, verificationText, readConnection, sendsNothingLines } from "./savedConnection.ts";
import { readPairs, table, type CliCommand } from "../context.ts";

const outcomes = {
  accepted: "Test accepted",
  rejected: "Test failed, would be rejected",
  unauthorized: "Test failed, needs reconnection",
  retry: "Test failed, would be retried",
};

type Values = Answer<"POST /sites/:site/connections/:connection/values/preview">;

function valuesText({ conversions, changed, totals, examples }: Values): string {
  const rows = examples.map((one) => [
    one.event,
    one.name,
    one.value === null ? "–" : `${one.value} ${one.currency}`,
    `${one.sentValue} ${one.sentCurrency}`,
    one.rule,
  ]);
  return [
    `Of the last ${countOf(conversions, "conversion")} that would be sent, a rule changes ${changed}.`,
    ...totals.map(({ currency, value, sentValue }) => `Would have sent ${sentValue} in place of ${value} ${currency}.`),
    ...(rows.length ? ["", table(["EVENT", "NAME", "VALUE", "SENT AS", "RULE"], rows, "")] : []),
  ].join("\n");
}

export function connectionTestCommands(connection: CliCommand): void {
  connection
    .command("preview <id>")
    .description("show the request for a sample or a past event, without sending it")
    .option("--event <id>", "a past event")
    .option("--name <event>", "a sample event with this name", "purchase")
    .run(async ({ directory, call, print }, id: string, options: { event?: string; name: string }) => {
      const { siteId, platform, unreadable } = findConnection(directory.sites(), id);
      if (unreadable) throw unreadableConnection(id);
      const body = { platform, connection: id, settings: {}, ...options };
      const preview = await call("POST /sites/:site/connections/preview", { params: { site: siteId }, body });
      const { fault, request, skipped, naming } = preview;
      const text = request
        ? [
            ...(naming ? [naming, ""] : []),
            `${request.method} ${request.url}`,
            ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
            "",
            JSON.stringify(request.body, null, 2),
          ].join("\n")
        : [fault ? fault.message : `Would be skipped: ${skipped}`, ...(naming ? [naming] : [])].join("\n");
      print(preview, text);
    });

  connection
    .command("values <id> [name=value...]")
    .description("show what value rules would have sent for the last 100 conversions")
    .run(async (context, id: string, words: string[]) => {
      const params = paramsOf(context, id);
      const body = { values: readPairs(words) };
      const preview = await context.call("POST /sites/:site/connections/:connection/values/preview", { params, body });
      context.print(preview, valuesText(preview));
    });

  connection
    .command("verify <id>")
    .description("ask the platform whether it would take conversions; nothing is counted")
    .run(async (context, id: string) => {
      const params = paramsOf(context, id);
      const verified = await context.call("POST /sites/:site/connections/:connection/verify", { params });
      const shown = await readConnection(context, params);
      context.print(verified, [verificationText({ ...shown, ...verified }), ...sendsNothingLines(shown)].join("\n"));
      if (verified.verification.state !== "verified") process.exitCode = 1;
    });

  connection
    .command("test <id>")
    .description("send a sample event in the platform's test mode, and show its response")
    .option("--name <event>", "the name of the sample event", "purchase")
    .run(async (context, id: string, { name }: { name: string }) => {
      const params = paramsOf(context, id);
      const tested = await context.call("POST /sites/:site/connections/:connection/test", { params, body: { name } });
      const { skipped, outcome, error, httpStatus, response } = tested;
      const result = `${outcome ? outcomes[outcome] : "Test failed"}${error === null ? "" : `: ${error}`}`;
      const answer = httpStatus === null ? "" : `\nHTTP ${httpStatus}\n${response ?? ""}`;
      context.print(tested, `${skipped ? `Not sent: ${skipped}` : result}${answer}`);
      if (outcome !== "accepted") process.exitCode = 1;
    });

  connection
    .command("choices <site> <platform> <setting> [name=value...]")
    .description("list the platform's values for a setting, such as accounts or pixels")
    .run(async ({ directory, call, print }, siteText: string, platform: string, setting: string, words: string[]) => {
      const { id, connections } = findSite({ directory }, siteText);
      const { sign_in: signIn, ...settings } = readPairs(words);
      const saved = connections.find((one) => one.platform === platform)?.id;
      const body = { platform, setting, settings, ...given({ signIn, connection: saved }) };
      const offered = await call("POST /sites/:site/connections/choices", { params: { site: id }, body });
      const rows = offered.items.map(({ value, label }) => [value, label]);
      print(offered, table([setting.toUpperCase(), "NAME"], rows, "The platform offers no choices."));
    });
}
