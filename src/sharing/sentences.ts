// Writes numbers, money and the sentences of a report in its language.

import { percentText, type ReportLanguage } from "../kernel/text.ts";
import { isLoss, type SharedConnection, type SharedReport } from "./report.ts";
import { textsOf } from "./texts.ts";

export type Writer = ReturnType<typeof writerFor>;

/** Formats values for one language and time zone. */
export function writerFor(language: ReportLanguage, timeZone: string) {
  const texts = textsOf(language);
  const { locale } = texts;
  const counts = new Intl.NumberFormat(locale);
  const days = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: "medium" });
  const times = new Intl.DateTimeFormat(locale, { timeZone, dateStyle: "medium", timeStyle: "short" });
  const money = ({ currency, value }: { currency: string; value: number }) =>
    new Intl.NumberFormat(locale, {
      style: "currency",
      currency,
      // Cents of a large sum are noise.
      ...(Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : {}),
    }).format(value);
  return {
    language,
    texts,
    count: (value: number) => counts.format(value),
    percent: (part: number, whole: number) => percentText(part, whole, locale),
    money,
    /** Currencies are never added together. */
    moneys: (values: readonly { currency: string; value: number }[], max = 3) => values.slice(0, max).map(money).join(" · "),
    day: (at: number) => days.format(at),
    time: (at: number) => times.format(at),
    period: ({ from, to }: { from: number; to: number }) => texts.report.period(days.format(from), days.format(to - 1)),
  };
}

const maxMoneys = 3;
const maxCauses = 3;

/** The report in a few sentences: "4,130 orders, 98% received. €12,930 never reached Google Ads. Causes: …" */
export function summarize(report: SharedReport, write: Writer): string[] {
  const { sentence } = write.texts;
  const first =
    report.orders === null
      ? sentence.events(write.count(report.received))
      : sentence.orders(write.count(report.orders), write.percent(report.received, report.orders));
  const lacking = report.connections.filter(({ accepted, deliverable }) => accepted < deliverable);
  if (lacking.length === 0)
    return [first, ...(report.connections.some(({ deliverable }) => deliverable > 0) ? [sentence.allThere] : [])];
  const worst = lacking.toSorted((one, other) => lossOf(other) - lossOf(one));
  const lines = worst.slice(0, maxMoneys).map((one) => lossSentence(one, write));
  const causes = causesOf(lacking).slice(0, maxCauses);
  const list = causes.map(({ cause, count }) => sentence.cause(write.count(count), write.texts.causes[cause])).join(", ");
  return [first, ...lines, ...(causes.length ? [sentence.causes(list, causes.length)] : [])];
}

const lossOf = ({ missed, deliverable, accepted }: SharedConnection) => missed[0]?.value ?? deliverable - accepted;

function lossSentence({ name, missed, accepted, deliverable }: SharedConnection, write: Writer): string {
  const { sentence } = write.texts;
  return missed.length > 0
    ? sentence.missed(write.moneys(missed), name)
    : sentence.accepted(name, write.percent(accepted, deliverable), write.count(deliverable));
}

/** The causes of several platforms, each with its largest count: one order that was never received is missing at all of them. */
function causesOf(connections: readonly SharedConnection[]) {
  const largest = new Map<SharedConnection["causes"][number]["cause"], number>();
  for (const { causes } of connections)
    for (const one of causes.filter(isLoss)) largest.set(one.cause, Math.max(largest.get(one.cause) ?? 0, one.count));
  return [...largest].map(([cause, count]) => ({ cause, count })).toSorted((one, other) => other.count - one.count);
}
