// Repairs what a reconciliation found: sends the orders that were never received, and corrects conversions of orders that were
// refunded, cancelled or have another value.

import { setTimeout as wait } from "node:timers/promises";
import type { CorrectionState } from "../../kernel/correction.ts";
import { correctedClasses, type CorrectedClass } from "../../kernel/reconciliation.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { correctRows, type Corrected } from "../../reconcile/correct.ts";
import type { SentMissing } from "../../reconcile/missing.ts";
import { requireCorrections } from "../../delivery/corrections/correctOrder.ts";
import { requireSettings } from "../../sites/manage.ts";
import type { Tally } from "../../store/reconciliation/tally.ts";
import { findSiteOrOnly, type CliCommand } from "../context.ts";
import { confirm } from "../terminal/confirm.ts";
import { findRunOrLast, ofSite, type OfSite } from "./runOptions.ts";

type RepairOptions = OfSite & { yes?: boolean };

/** The queue of a platform is full: the relay sends meanwhile. */
const waitMs = 1000;

export function repairCommands(reconcile: CliCommand): void {
  ofSite(reconcile.command("send [run]"))
    .description("send the orders that were never received to all connections")
    .option("--yes", "send without asking")
    .run(async (context, id: string | undefined, options: RepairOptions) => {
      const { store, directory, by, print } = context;
      const site = findSiteOrOnly(directory, options.site);
      requireSettings(site);
      const run = await findRunOrLast(context, site, id);
      const missing = (run.tally as Partial<Tally>).classes?.missing_here ?? 0;
      if (missing > 0) {
        const what = `${countOf(missing, "order")} never received. This sends those with an email to ${countOf(site.connections.length, "connection")}.`;
        await confirm({ what, yes: options.yes });
      }
      // Loaded on demand: a relay that starts needs no import.
      const { sendMissing } = await import("../../import/missing.ts");
      const sum: SentMissing = await sendMissing({ store, site, by }, run, "");
      while (sum.next !== null) {
        if (sum.waitingFor !== null) await wait(waitMs);
        addPart(sum, await sendMissing({ store, site, by: { ...by, now: Date.now() } }, run, sum.next));
      }
      const { next: _next, waitingFor: _waiting, ...result } = sum;
      print(result, sentText(sum));
    });

  ofSite(reconcile.command("correct [run]"))
    .description("take back conversions of orders that were refunded or cancelled, or restate those with another value")
    .option("--class <class>", `one of ${correctedClasses.join(", ")}`, correctedClasses[0])
    .option("--yes", "correct without asking")
    .run(async (context, id: string | undefined, options: RepairOptions & { class: string }) => {
      const { store, directory, by, print } = context;
      const site = findSiteOrOnly(directory, options.site);
      requireSettings(site);
      requireCorrections(site);
      const rowClass = readClass(options.class);
      const run = await findRunOrLast(context, site, id);
      const found = (run.tally as Partial<Tally>).classes?.[rowClass] ?? 0;
      if (found > 0) await confirm({ what: `${countOf(found, "order")}. ${aboutClasses[rowClass]}`, yes: options.yes });
      const sum: Corrected = { orders: 0, left: 0, corrections: {}, next: "" };
      while (sum.next !== null) {
        const part = await correctRows(store, site, { run, class: rowClass, after: sum.next }, by);
        sum.orders += part.orders;
        sum.left += part.left;
        for (const [state, count] of Object.entries(part.corrections) as [CorrectionState, number][])
          sum.corrections[state] = (sum.corrections[state] ?? 0) + count;
        sum.next = part.next;
      }
      const { next: _next, ...result } = sum;
      print(result, correctedText(sum, site.id));
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
  for (const name of ["sent", "withoutEmail", "receivedSince", "filtered", "refused"] as const) sum[name] += part[name];
  for (const [reason, count] of Object.entries(part.reasons)) sum.reasons[reason] = (sum.reasons[reason] ?? 0) + count;
  sum.next = part.next;
  sum.waitingFor = part.waitingFor;
}

function sentText({ sent, withoutEmail, receivedSince, filtered, refused, reasons }: SentMissing): string {
  const others = [
    [withoutEmail, "without an email: an event needs one"],
    [receivedSince, "received since"],
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
