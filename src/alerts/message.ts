// What people read: what happened, since when, and what to do. Plain words, no personal data.

import type { AlertKind } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import type { Connection, Site } from "../sites/directory.ts";
import type { Alert } from "../store/statistics/alerts.ts";

export type Phase = "began" | "reminder" | "over" | "test";

export type Message = {
  phase: Phase;
  site: { id: string; host: string };
  /** Times in mails are of this zone. */
  timeZone: string;
  kind: AlertKind | "test";
  subject: string;
  title: string;
  text: string;
  whatToDo: string;
  beganAt: number;
  endedAt: number | null;
};

/** Swedes write times as everybody reads them: 2026-11-15 09:05. */
export const timeText = (ms: number, timeZone: string) =>
  `${new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(ms)} ${timeZone}`;

export const hoursText = (hours: number) => (hours === 1 ? "an hour" : `${hours} hours`);

const hashForm = /^[0-9a-f]{64}$/;

/** By platform and account. Where the account is a secret, only its hash is known, and the id tells more. */
export function nameOf({ platform, account, id }: Pick<Connection, "platform" | "account" | "id">): string {
  const known = account === "" || hashForm.test(account) ? id : account;
  return `${platformOf(platform)?.name ?? platform} (${known})`;
}

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
    title: "this is a test",
    text: "Somebody tried out how alerts arrive. Nothing is wrong.",
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
        title: `${name} refuses or fails`,
        whatToDo: `cleancast delivery list ${host} --connection ${subject} --state rejected,queued,expired --from 1h`,
      };
    case "silence":
      return {
        title: "no events come in",
        whatToDo: `Look at what sends them: cleancast key list ${host} says when each key was last used`,
      };
    case "webhook":
      return {
        title: `the webhook ${subject} fails`,
        whatToDo: `cleancast webhook list ${host}, then cleancast webhook test ${subject}`,
      };
    case "wrong keys":
      return {
        title: `wrong keys on ${subject}`,
        whatToDo: `Perhaps a sender holds an old key: cleancast key list ${host}`,
      };
    case "queue":
      return {
        title: `deliveries to ${name} pile up`,
        whatToDo: `cleancast delivery list ${host} --connection ${subject} --state queued`,
      };
    case "host":
      return {
        title: `${subject} does not lead here as it should`,
        whatToDo: `cleancast host verify ${subject}`,
      };
  }
}

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
    phase === "over"
      ? ["It is over. This is what it was:", "", text]
      : [text, "", "What to do:", `  ${whatToDo}`];
  const times = [
    ...(phase === "test" ? [] : [`Noticed: ${timeText(beganAt, timeZone)}`]),
    ...(endedAt === null ? [] : [`Over:    ${timeText(endedAt, timeZone)}`]),
  ];
  return [...lines, "", ...times, `Site:    ${site.host}`, ""].join("\n");
}

/** The body that a webhook gets. `text` is where chat programs look for one. */
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
