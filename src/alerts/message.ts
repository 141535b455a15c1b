// Writes the texts of alerts: what happened, since when, and what to do. They contain no personal data.

import type { AlertKind } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import type { Connection, Site } from "../sites/directory.ts";
import { allSettings } from "../store/sites/siteSettings.ts";
import type { Alert } from "../store/statistics/alerts.ts";

export type Phase = "began" | "reminder" | "over" | "test";

export type Message = {
  phase: Phase;
  site: { id: string; host: string };
  /** The zone of the times in mails. */
  timeZone: string;
  kind: AlertKind | "test";
  subject: string;
  title: string;
  text: string;
  whatToDo: string;
  beganAt: number;
  endedAt: number | null;
};

/** The Swedish locale writes times as 2026-11-15 09:05. */
export const timeText = (ms: number, timeZone: string) =>
  `${new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(ms)} ${timeZone}`;

export const hoursText = (hours: number) => (hours === 1 ? "an hour" : `${hours} hours`);

const hashForm = /^[0-9a-f]{64}$/;

/** Names a connection by platform and account, or by its id where only the hash of the account is stored. */
export function nameOf({ platform, account, id }: Pick<Connection, "platform" | "account" | "id">): string {
  const known = account === "" || hashForm.test(account) ? id : account;
  return `${platformOf(platform)?.name ?? platform} (${known})`;
}

/** Begins the subject of an alert about the OAuth app of a platform. */
export const appSubject = "OAuth app ";

const hostOf = (site: Site) => site.hosts[0] ?? site.id;

export function messageOf(site: Site, alert: Alert, phase: Phase): Message {
  const { kind, subject, text, beganAt, endedAt } = alert;
  const connection = site.connections.find(({ id }) => id === subject);
  const { title, whatToDo } = aboutKind(kind, subject, hostOf(site), connection);
  return {
    phase,
    site: { id: site.id, host: hostOf(site) },
    timeZone: site.settings.timeZone,
    kind,
    subject,
    title,
    text,
    whatToDo,
    beganAt,
    endedAt,
  };
}

export function testMessage(site: Site, now: number): Message {
  return {
    phase: "test",
    site: { id: site.id, host: hostOf(site) },
    timeZone: site.settings.timeZone,
    kind: "test",
    subject: "",
    title: "test alert",
    text: "This is a test alert. No action is needed.",
    whatToDo: `cleancast alert list ${hostOf(site)}`,
    beganAt: now,
    endedAt: null,
  };
}

function aboutKind(
  kind: AlertKind,
  subject: string,
  host: string,
  connection: Connection | undefined,
): { title: string; whatToDo: string } {
  const name = connection ? nameOf(connection) : subject;
  const platform = connection?.platform ?? "PLATFORM";
  switch (kind) {
    case "needs reconnection":
      return {
        title: `${name} needs reconnection`,
        whatToDo: `cleancast connect ${host} ${platform} … with fresh credentials, or cleancast sign-in ${host} ${platform}`,
      };
    case "success rate":
      return {
        title: `deliveries to ${name} fail`,
        whatToDo: `cleancast delivery list ${host} --connection ${subject} --state rejected,queued,expired --from 1h`,
      };
    case "silence":
      return {
        title: "no events received",
        whatToDo: `Check the sender: cleancast key list ${host} shows when each key was last used`,
      };
    case "webhook":
      return {
        title: `webhook ${subject} fails`,
        whatToDo: `cleancast webhook list ${host}, then cleancast webhook test ${subject}`,
      };
    case "wrong keys":
      return {
        title: `wrong keys on ${subject}`,
        whatToDo: `A sender may use an old key: cleancast key list ${host}`,
      };
    case "queue":
      return {
        title: `deliveries to ${name} are delayed`,
        whatToDo: `cleancast delivery list ${host} --connection ${subject} --state queued`,
      };
    case "host":
      return {
        title: `${subject} does not reach this relay`,
        whatToDo: `cleancast host verify ${subject}`,
      };
    case "damaged data":
      return { title: `${damagedName(subject)} cannot be read`, whatToDo: repairOf(subject, host) };
  }
}

const damagedName = (subject: string) => (subject === "alertWebhook" ? "the alert webhook" : subject);

function repairOf(subject: string, host: string): string {
  if (subject.startsWith(appSubject))
    return `cleancast oauth app set ${subject.slice(appSubject.length)} client_id=… client_secret=@file`;
  if (subject === allSettings)
    return `cleancast site set ${host} inbound=on consent_mode=… and every other setting that is not a default`;
  return subject === "alertWebhook"
    ? `cleancast site set ${host} alert_webhook=https://…`
    : "cleancast check names the rows; a backup may still have them";
}

/** Lists the channels whose last attempt failed. */
export const listFailedChannels = ({ notifications }: Alert) =>
  Object.entries(notifications).flatMap(([channel, { error }]) =>
    error === null ? [] : [{ channel, error }],
  );

const headlines: Record<Phase, (title: string) => string> = {
  began: (title) => title,
  reminder: (title) => `still: ${title}`,
  over: (title) => `over: ${title}`,
  test: (title) => title,
};

export const headlineOf = ({ phase, site, title }: Message) =>
  `[Cleancast] ${site.host}: ${headlines[phase](title)}`;

export function mailText(message: Message): string {
  const { phase, site, timeZone, text, whatToDo, beganAt, endedAt } = message;
  const lines =
    phase === "over" ? ["This alert is over. It was:", "", text] : [text, "", "What to do:", `  ${whatToDo}`];
  const times = [
    ...(phase === "test" ? [] : [`Noticed: ${timeText(beganAt, timeZone)}`]),
    ...(endedAt === null ? [] : [`Over:    ${timeText(endedAt, timeZone)}`]),
  ];
  return [...lines, "", ...times, `Site:    ${site.host}`, ""].join("\n");
}

/** The body that a webhook receives. Chat programs read `text`. */
export function webhookBody(message: Message): string {
  const { phase, site, kind, subject, title, text, whatToDo, beganAt, endedAt } = message;
  return JSON.stringify({
    type: phase,
    site,
    kind,
    subject,
    title,
    text: `${headlineOf(message)}\n${text}${phase === "over" ? "" : `\n${whatToDo}`}`,
    what: text,
    whatToDo,
    beganAt: new Date(beganAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  });
}
