// Repairs what a reconciliation found: sends the orders that were never received, and corrects conversions of orders that were
// refunded, cancelled or have another value.

import { setTimeout as wait } from "node:timers/promises";
import type { Answer } from "../../contract/contract.ts";
import type { CorrectionState } from "../../kernel/correction.ts";
import { given } from "../../http/given.ts";
import { correctedClasses, type CorrectedClass } from "../../kernel/reconciliation.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { requireCorrections } from "../../delivery/corrections/correctOrder.ts";
import { requireSettings } from "../../sites/manage.ts";
import type { CliCommand } from "../context.ts";
import { confirm } from "../terminal/confirm.ts";
import { findRun } from "./runOptions.ts";

type SentMissing = Answer<"POST /sites/:site/reconciliations/:run/missing/send">;
type Corrected = Answer<"POST /sites/:site/reconciliations/:run/corrections">;
type RepairOptions = { yes?: boolean; withSimilar?: boolean };

/** The queue of a platform is full: the relay sends meanwhile. */
const waitMs = 1000;

export function repairCommands(reconcile: CliCommand): void {
  reconcile
    .command("send [site] [run]")
    .description("send the orders that were never received to all connections")
    .option("--with-similar", "also orders to which an event of the same person, day and value may belong")
    .option("--yes", "send without asking")
    .run(async (context, siteText: string | undefined, id: string | undefined, options: RepairOptions) => {
      const { call, print } = context;
      const { site, params } = await findRun(context, siteText, id);
      requireSettings(site);
      const { reconciliation } = await call("GET /sites/:site/reconciliations/:run", { params });
      const missing = reconciliation.classes.missing_here ?? 0;
      if (missing > 0) {
        const what = `${countOf(missing, "order")} never received. This sends those with an email to ${countOf(site.connections.length, "connection")}.`;
        await confirm({ what, yes: options.yes });
      }
      const { withSimilar } = options;
      const send = (cursor?: string) =>
        call("POST /sites/:site/reconciliations/:run/missing/send", { params, body: given({ cursor, withSimilar }) });
      const sum = await send();
      while (sum.next !== null) {
        if (sum.waitingFor !== null) await wait(waitMs);
        addPart(sum, await send(sum.next));
      }
      print(sum, sentText(sum));
    });

  reconcile
    .command("correct [site] [run]")
    .description("take conversions back, or correct their value, as the list says")
    .option("--class <class>", `one of ${correctedClasses.join(", ")}`, correctedClasses[0])
    .option("--yes", "correct without asking")
    .run(async (context, siteText: string | undefined, id: string | undefined, options: RepairOptions & { class: string }) => {
      const { call, print } = context;
      const { site, params } = await findRun(context, siteText, id);
      requireSettings(site);
      requireCorrections(site);
      const rowClass = readClass(options.class);
      const { reconciliation } = await call("GET /sites/:site/reconciliations/:run", { params });
      const found = reconciliation.classes[rowClass] ?? 0;
      if (found > 0) await confirm({ what: `${countOf(found, "order")}. ${aboutClasses[rowClass]}`, yes: options.yes });
      const correct = (cursor?: string) =>
        call("POST /sites/:site/reconciliations/:run/corrections", { params, body: { class: rowClass, ...given({ cursor }) } });
      const sum = await correct();
      while (sum.next !== null) {
        const part = await correct(sum.next);
        sum.orders += part.orders;
        sum.left += part.left;
        for (const [state, count] of Object.entries(part.corrections) as [CorrectionState, number][])
          sum.corrections[state] = (sum.corrections[state] ?? 0) + count;
        sum.next = part.next;
      }
      print(sum, correctedText(sum, site.id));
    });
}

const aboutClasses: Record<CorrectedClass, string> = {
  status_changed: "This takes their conversions back at platforms that can do so.",
  value_differs: "This restates their conversions with the value of the list, at platforms that can do so.",
};

function readClass(text: string): CorrectedClass {
  const found = correctedClasses.find((one) => one === text);
  if (!found) throw new Refusal("class", `--class must be one of ${correctedClasses.join(", ")}.`);
  return found;
}

function addPart(sum: SentMissing, part: SentMissing): void {
  for (const name of ["sent", "withoutEmail", "receivedSince", "similar", "filtered", "refused"] as const)
    sum[name] += part[name];
  for (const [reason, count] of Object.entries(part.reasons)) sum.reasons[reason] = (sum.reasons[reason] ?? 0) + count;
  sum.next = part.next;
  sum.waitingFor = part.waitingFor;
}

function sentText({ sent, withoutEmail, receivedSince, similar, filtered, refused, reasons }: SentMissing): string {
  const others = [
    [withoutEmail, "without an email: an event needs one"],
    [receivedSince, "received since"],
    [similar, "left out: an event of the same person, day and value is here. --with-similar sends them too"],
    [filtered, "filtered"],
    [refused, "refused"],
  ] as const;
  return [
    `${countOf(sent, "order")} sent. The relay delivers them; compare again to see what became of them.`,
    ...others.flatMap(([count, text]) => (count ? [`${countOf(count, "order")} ${text}`] : [])),
    ...Object.entries(reasons).map(([reason, count]) => `  ${count} × ${reason}`),
  ].join("\n");
}

function correctedText({ orders, left, corrections }: Corrected, site: string): string {
  const states = Object.entries(corrections).map(([state, count]) => `${count} ${state}`);
  return [
    `${countOf(orders, "order")} corrected${states.length ? `: ${states.join(", ")}` : ""}.`,
    ...(left ? [`${countOf(left, "order")} left as they are: no platform was given them, or the list has changed.`] : []),
    ...(orders ? [`'cleancast correction list ${site}' shows what the platforms answer.`] : []),
  ].join("\n");
}
