// Sends the report of the week to the recipients of a site's alerts, at a day and an hour of its time zone. One node at a time does
// this, and each channel is claimed in the database before it is sent to: a channel that was claimed by a node that died is not sent
// to again, so that nobody gets a message twice. What failed is tried again for a day.

import { channelsOf, sendToAll, type Channel, type ChannelOptions } from "../alerts/channels.ts";
import { stopWhenDown } from "../alerts/mail.ts";
import type { Notice } from "../alerts/message.ts";
import { createLeaderJob, type JobNode, type LeaderJob, type Leadership } from "../background/leaderJob.ts";
import { dayMs, minuteMs, weekDays } from "../kernel/time.ts";
import { dayOf } from "../reconcile/window.ts";
import { isWorking, type Directory, type Site } from "../sites/directory.ts";
import type { SendState, WeeklyReport } from "../store/sharing/weeklyReports.ts";
import type { Store } from "../store/store.ts";
import { readTime } from "../tables/values.ts";
import { fileNameOf, readSharedReport } from "./report.ts";
import { summarize, writerFor } from "./sentences.ts";

type WeeklyStore = Parameters<typeof readSharedReport>[0] & Pick<Store, "weeklyReports" | "leases">;

type WeeklyOptions = JobNode & {
  store: WeeklyStore;
  directory: Pick<Directory, "sites">;
  channels: ChannelOptions;
};

/** A message that is later than this is left out: the next one says more. */
const maxLateMs = dayMs;
const retryMs = 10 * minuteMs;
const weekDaysOfReport = 7;

export function createWeeklyReportJob(options: WeeklyOptions): LeaderJob {
  const { store, directory, owner, now, everyMs = minuteMs } = options;

  async function check({ mayContinue, each }: Leadership): Promise<void> {
    const wanted = [...directory.sites()].filter((site) => site.settings.weeklyReport !== null && isWorking(site));
    const known = new Map((await store.weeklyReports.listAll()).map((one) => [one.siteId, one]));
    if (wanted.length + known.size === 0 || !(await mayContinue())) return;
    for (const site of directory.sites())
      if (site.settings.weeklyReport === null && known.has(site.id)) await store.weeklyReports.remove(site.id);
    const { mailer } = options.channels;
    const channels = { ...options.channels, mailer: mailer && stopWhenDown(mailer) };
    await each(
      wanted,
      ({ id }) => ({ site: id }),
      (site) => work(site, known.get(site.id), channels),
    );
  }

  async function work(site: Site, known: WeeklyReport | undefined, channels: ChannelOptions): Promise<void> {
    const { weeklyReport, timeZone } = site.settings;
    if (weeklyReport === null) return;
    const schedule = `${weeklyReport} ${timeZone}`;
    const following = nextTime(weeklyReport, timeZone, now());
    // A new schedule begins with its next time: nobody expects a message for a time that was chosen afterwards.
    if (known?.schedule !== schedule) return store.weeklyReports.schedule(site.id, schedule, following);
    if (known.nextAt <= now()) await store.weeklyReports.begin(known, following);
    let report = await store.weeklyReports.find(site.id);
    if (!report || report.dueAt < now() - maxLateMs) return;
    const due = channelsOf(site, channels).filter(({ name }) => isDue(report?.results[name], now()));
    if (due.length === 0) return;
    const notice = await weeklyNotice(store, site, { publicUrl: channels.publicUrl, now });
    for (const channel of due) {
      report = await sendOnce(report, channel, notice);
      if (!report) return;
    }
  }

  /** Returns null when another node sends the same message. */
  async function sendOnce(report: WeeklyReport, channel: Channel, notice: Notice): Promise<WeeklyReport | null> {
    const tries = (report.results[channel.name]?.tries ?? 0) + 1;
    const claim: SendState = { state: "sending", at: now(), tries, error: null, by: owner };
    const claimed = await store.weeklyReports.saveResult(report, channel.name, claim);
    if (!claimed) return null;
    const sent = await channel.send(notice);
    const result: SendState = sent.ok
      ? { state: "sent", at: now(), tries, error: null, by: owner }
      : { state: "failed", at: now(), tries, error: sent.error, by: owner };
    return store.weeklyReports.saveResult(claimed, channel.name, result);
  }

  return createLeaderJob({
    firstMs: everyMs * Math.random(),
    ...options,
    everyMs,
    name: "weekly reports",
    leases: store.leases,
    leaseMs: 3 * minuteMs,
    work: check,
  });
}

const isDue = (last: SendState | undefined, now: number) =>
  last === undefined || (last.state === "failed" && Math.abs(now - last.at) >= retryMs);

/** The first time after `after` that is this day and hour, like "monday 8". On a day without that hour it is an hour later. */
export function nextTime(weekTime: string, timeZone: string, after: number): number {
  const [day = "", hour = ""] = weekTime.split(" ");
  const today = Date.parse(`${dayOf(after, timeZone)}T12:00:00Z`);
  for (let ahead = 0; ahead <= weekDays.length; ahead++) {
    // Days of the calendar: one of the zone may have 23 or 25 hours.
    const noon = new Date(today + ahead * dayMs);
    // Monday is the first day here, and the second of JavaScript.
    if (weekDays[(noon.getUTCDay() + 6) % 7] !== day) continue;
    const date = noon.toISOString().slice(0, 10);
    const at = readTime("time", `${date} ${hour.padStart(2, "0")}:00`, { decimal: null, dates: null, timeZone });
    if (typeof at === "number" && at > after) return at;
  }
  throw new Error(`no time for ${weekTime}`);
}

/** Sends the message now, whatever the schedule, and changes nothing about it. */
export const sendWeeklyNow = (store: Parameters<typeof readSharedReport>[0], site: Site, options: ChannelOptions, now: number) =>
  sendToAll(site, options, () => weeklyNotice(store, site, { publicUrl: options.publicUrl, now: () => now }));

async function weeklyNotice(
  store: Parameters<typeof readSharedReport>[0],
  site: Site,
  { publicUrl, now }: { publicUrl: string; now: () => number },
): Promise<Notice> {
  const report = await readSharedReport(store, site, { days: weekDaysOfReport, now });
  const write = writerFor(site.settings.reportLanguage, site.settings.timeZone);
  const { weekly } = write.texts;
  const subject = weekly.subject(report.host);
  const sentences = summarize(report, write);
  const page = `${publicUrl}/dashboard/sites/${site.id}/${report.orders === null ? "overview" : "reconciliation/funnel"}`;
  const madeAt = now();
  return {
    subject: `[Cleancast] ${subject}`,
    text: [write.period(report), "", ...sentences, "", weekly.attached, "", `${weekly.page}: ${page}`, "", weekly.stop, ""].join(
      "\n",
    ),
    attach: async () => {
      // Loaded on demand: a relay that starts draws nothing.
      const { makePdf } = await import("./pdf.ts");
      const content = await makePdf(report, { language: write.language, madeAt });
      return [{ filename: fileNameOf(report), contentType: "application/pdf", content }];
    },
    // Chat programs read `text`.
    json: JSON.stringify({
      type: "weekly report",
      site: { id: site.id, host: report.host },
      text: [`${subject} (${write.period(report)})`, ...sentences, page].join("\n"),
      url: page,
      report,
    }),
  };
}
