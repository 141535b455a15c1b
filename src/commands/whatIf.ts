// The command that tells what changed settings would have done with stored events.

import type { Answer } from "../contract/contract.ts";
import {
  addDifferences,
  defaultWhatIfDays,
  maxWhatIfDays,
  maxWhatIfExamples,
  type Differences,
  type Money,
} from "../contract/whatIf/differences.ts";
import { given } from "../http/given.ts";
import { countOf } from "../kernel/text.ts";
import { findSite } from "../sites/manage.ts";
import { readNumber, readPairs, toPrintableLines, type CliCommand } from "./context.ts";

type Options = { connection?: string; platform?: string; event?: string; days: string };

export function whatIfCommands(program: CliCommand): void {
  program
    .command("what-if <site> <name=value...>")
    .description("show what changed settings would have done; nothing is sent or saved")
    .option("--connection <id>", "the settings are those of this connection")
    .option("--platform <platform>", "the settings are those of another connection, which is not saved")
    .option("--event <id>", "only this event")
    .option("--days <n>", "the length of the period that ends now", String(defaultWhatIfDays))
    .run(async ({ directory, call, print }, siteText: string, words: string[], options: Options) => {
      const params = { site: findSite({ directory }, siteText).id };
      const { connection: id, platform, event } = options;
      const { events: names, ...pairs } = readPairs(words);
      const isConnection = id !== undefined || platform !== undefined;
      const ofConnection = { settings: pairs, ...given({ id, platform, events: names?.split(",") }) };
      const changes = isConnection ? { connection: ofConnection } : { settings: readPairs(words) };
      const days = readNumber("days", options.days, maxWhatIfDays);
      const ask = (cursor?: string) =>
        call("POST /sites/:site/what-if", { params, body: { ...changes, ...given({ event, cursor }), days } });
      const sum = await ask();
      while (sum.next !== null) {
        const part = await ask(sum.next);
        addDifferences(sum.differences, part.differences);
        sum.examples = [...sum.examples, ...part.examples].slice(0, maxWhatIfExamples);
        sum.isComplete = part.isComplete;
        sum.progress = part.progress;
        sum.next = part.next;
      }
      print(sum, differencesText(sum).flatMap(toPrintableLines).join("\n"));
    });
}

const moneyText = ({ events, values }: Money) => {
  const sums = Object.entries(values).map(([currency, value]) => `${value} ${currency}`);
  return [countOf(events, "conversion"), ...sums].join(", ");
};

function differencesText({ differences, examples, notes, isComplete }: Answer<"POST /sites/:site/what-if">): string[] {
  const { events, erased, unknown, nowFiltered, nowPassed, withheld, connections } = differences;
  const lines = [
    ...Object.entries(nowPassed).map(([reason, money]) => `no longer filtered: ${moneyText(money)} (${reason})`),
    ...Object.entries(nowFiltered).map(([reason, money]) => `newly filtered: ${moneyText(money)} (${reason})`),
    ...(withheld.before === withheld.after ? [] : [`identifiers withheld: ${withheld.before} → ${withheld.after} events`]),
    ...Object.entries(connections).flatMap(([id, one]) => connectionLines(id, one)),
  ];
  return [
    `${countOf(events, "event")} looked at. Nothing was sent or saved.`,
    ...(lines.length ? lines : ["Every event would become what it becomes now."]),
    ...(unknown ? [`The visits of ${countOf(unknown, "event")} are no longer kept: they count as they were stored.`] : []),
    ...(erased ? [`${countOf(erased, "event")} of erased people left out.`] : []),
    ...(isComplete ? [] : ["Only the newest events of the period were looked at."]),
    ...notes,
    ...(lines.length
      ? examples.map(({ event, orderId }) => `  cleancast event show ${event}${orderId ? `  (order ${orderId})` : ""}`)
      : []),
  ];
}

function connectionLines(
  id: string,
  { platform, before, after, changed, skipped, fields }: Differences["connections"][string],
): string[] {
  const counted = Object.entries(skipped).filter(([, one]) => one.before !== one.after);
  if (changed === 0 && counted.length === 0 && moneyText(before) === moneyText(after)) return [];
  return [
    `${platform} (${id}): ${moneyText(before)} → ${moneyText(after)}; ${countOf(changed, "request")} with another content`,
    ...Object.entries(fields).flatMap(([path, of]) =>
      (["added", "removed", "changed"] as const).flatMap((kind) => (of[kind] ? [`  ${path} ${kind} in ${of[kind]}`] : [])),
    ),
    ...counted.map(([reason, one]) => `  skipped, ${reason}: ${one.before} → ${one.after}`),
  ];
}
