// Writes the texts of alerts: what happened, since when, and what to do. They contain no personal data.

import { hash } from "node:crypto";
import { english, say, toJson } from "../kernel/messages/message.ts";
import type { AlertKind } from "../kernel/event.ts";
import { timeText } from "../kernel/text.ts";
import { platformOf } from "../platforms/index.ts";
import { reconnectHint } from "../sites/connectionHints.ts";
import type { Connection, Site, Source } from "../sites/directory.ts";
import { kindOf } from "../sources/kinds/index.ts";
import { allSettings } from "../store/sites/siteSettings.ts";
import type { Alert } from "../store/statistics/alerts.ts";
import type { Attachment } from "./mail.ts";

export type Phase = "began" | "reminder" | "over" | "test";

type Message = {
  phase: Phase;
  site: { id: string; host: string };
  /** The zone of the times in mails. */
  timeZone: string;
  kind: AlertKind | "test";
  subject: string;
  title: string;
  text: string;
  whatToDo: string;
  /** The path of the dashboard's page about it. */
  page: string;
  beganAt: number;
  endedAt: number | null;
};

export const hoursText = (hours: number) => (hours === 1 ? say("one_hour") : say("hours", { hours }));

const hashForm = /^[0-9a-f]{64}$/;

/** Names a connection by platform and account, or by its id where only the hash of the account is stored. */
export function nameOf({ platform, account, id }: Pick<Connection, "platform" | "account" | "id">): string {
  const known = account === "" || hashForm.test(account) ? id : account;
  return `${platformOf(platform)?.name ?? platform} (${known})`;
}

/** Names a source by its own name, and by its kind where that says something else. */
export function sourceName({ name, kind }: Pick<Source, "name" | "kind">): string {
  const kindName = kindOf(kind)?.name ?? kind;
  return name === kindName ? name : `${name} (${kindName})`;
}

/** Begins the subject of an alert about the OAuth app of a platform. */
export const appSubject = "OAuth app ";

const hostOf = (site: Site) => site.hosts[0] ?? site.id;

export function messageOf(site: Site, alert: Alert, phase: Phase): Message {
  const { kind, subject, text, beganAt, endedAt } = alert;
  const connection = site.connections.find(({ id }) => id === subject);
  const source = site.sources.find(({ id }) => id === subject);
  const { title, whatToDo } = aboutKind(kind, subject, hostOf(site), connection, source && sourceName(source));
  return {
    phase,
    site: { id: site.id, host: hostOf(site) },
    timeZone: site.settings.timeZone,
    kind,
    subject,
    title,
    text,
    whatToDo,
    page: pageOf(site, kind, connection),
    beganAt,
    endedAt,
  };
}

/** Returns the page where the problem is shown and can be solved. */
function pageOf(site: Site, kind: AlertKind, connection: Connection | undefined): string {
  const pages: Partial<Record<AlertKind, string>> = {
    silence: "events",
    webhook: "integrations/webhooks",
    "wrong keys": "configuration/keys",
    host: "configuration/domains",
    "accepted orders": "reconciliation",
    "order feed": "reconciliation",
    "data export": "integrations/export",
    "source silence": "sources",
    "wrong signatures": "sources",
    "source failing": "sources",
  };
  const page =
    connection && kind !== "accepted orders" ? `integrations/${connection.platform}` : (pages[kind] ?? "settings/alerts");
  return `/dashboard/sites/${site.id}/${page}`;
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
    page: `/dashboard/sites/${site.id}/settings/alerts`,
    beganAt: now,
    endedAt: null,
  };
}

function aboutKind(
  kind: AlertKind,
  subject: string,
  host: string,
  connection: Connection | undefined,
  source: string = subject,
): { title: string; whatToDo: string } {
  const name = connection ? nameOf(connection) : subject;
  switch (kind) {
    case "needs reconnection":
      return {
        title: say("title_reconnect", { connection: name }),
        whatToDo: connection ? reconnectHint(connection, host) : `cleancast connection list ${host}`,
      };
    case "success rate":
      return {
        title: say("title_success_rate", { connection: name }),
        whatToDo: `cleancast delivery list ${host} --connection ${subject} --state rejected,queued,expired --from 1h`,
      };
    case "silence":
      return {
        title: say("title_silence"),
        whatToDo: `Check the sender. This shows when each key was last used: cleancast key list ${host}`,
      };
    case "webhook":
      return {
        title: say("title_webhook", { id: subject }),
        whatToDo: `cleancast webhook test ${subject}`,
      };
    case "wrong keys":
      return {
        title: say("title_wrong_keys", { host: subject }),
        whatToDo: `A sender may use an old key: cleancast key list ${host}`,
      };
    case "queue":
      return {
        title: say("title_queue", { connection: name }),
        whatToDo: `cleancast delivery list ${host} --connection ${subject} --state queued`,
      };
    case "host":
      return {
        title: say("title_host", { host: subject }),
        whatToDo: `cleancast host verify ${subject}`,
      };
    case "not counted":
      return {
        title: say("title_not_counted", { connection: name }),
        whatToDo: `cleancast delivery list ${host} --connection ${subject} --confirmation not_counted --from 24h`,
      };
    case "quality":
      return {
        title: say("title_quality", { connection: name }),
        whatToDo: `cleancast quality ${host}`,
      };
    case "accepted orders":
      return {
        title: say("title_accepted_orders", { connection: name }),
        whatToDo: `cleancast reconcile show ${host}`,
      };
    case "order feed":
      return {
        title: say("title_order_feed"),
        whatToDo: `cleancast reconcile feed show ${host}`,
      };
    case "data export":
      return { title: say("title_data_export"), whatToDo: `cleancast export schedule show ${host}` };
    case "source silence":
      return {
        title: say("title_source_silence", { source }),
        whatToDo: `Check the webhook at the sender. cleancast source show ${subject}`,
      };
    case "wrong signatures":
      return {
        title: say("title_wrong_signatures", { source }),
        whatToDo: `Compare the secret with the sender's: cleancast source set ${subject} signing_secret=@file`,
      };
    case "source failing":
      return { title: say("title_source_failing", { source }), whatToDo: `cleancast source show ${subject}` };
    case "damaged data":
      return { title: say("title_unreadable", { what: damagedName(subject) }), whatToDo: repairOf(subject, host) };
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

/** Lists the channels whose last attempt failed; the key of a device begins with `push`. */
export const listFailedChannels = ({ notifications }: Alert) =>
  Object.entries(notifications).flatMap(([key, { error }]) =>
    error === null ? [] : [{ channel: key.startsWith("push ") ? "push" : key, error }],
  );

const headlines: Record<Phase, (title: string) => string> = {
  began: (title) => title,
  reminder: (title) => `still: ${title}`,
  over: (title) => `over: ${title}`,
  test: (title) => title,
};

const headlineOf = ({ phase, site, title }: Message) => english(`[Cleancast] ${site.host}: ${headlines[phase](title)}`);

/** `publicUrl` is the origin of the dashboard. */
function mailText(message: Message, publicUrl: string): string {
  const { phase, site, timeZone, text, whatToDo, page, beganAt, endedAt } = message;
  const lines = phase === "over" ? ["This alert is over. It was:", "", text] : [text, "", "What to do:", `  ${whatToDo}`];
  const times = [
    ...(phase === "test" ? [] : [`Noticed: ${timeText(beganAt, timeZone)}`]),
    ...(endedAt === null ? [] : [`Over:    ${timeText(endedAt, timeZone)}`]),
  ];
  return english([...lines, "", ...times, `Site:    ${site.host}`, `Page:    ${publicUrl}${page}`, ""].join("\n"));
}

/** The body that a webhook receives. Chat programs read `text`. */
function webhookBody(message: Message, publicUrl: string): string {
  const { phase, site, kind, subject, title, text, whatToDo, page, beganAt, endedAt } = message;
  const url = publicUrl + page;
  return toJson({
    type: phase,
    site,
    kind,
    subject,
    title,
    text: [headlineOf(message), text, ...(phase === "over" ? [] : [whatToDo]), url].join("\n"),
    what: text,
    whatToDo,
    url,
    beganAt: new Date(beganAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  });
}

/** What a device shows. Its push service has limits: 4,096 bytes, and 32 characters for the topic. */
export type PushMessage = { title: string; body: string; page: string; topic: string; isUrgent: boolean };

const maxTitleLength = 120;
const maxBodyLength = 600;

function pushMessage(message: Message): PushMessage {
  const { phase, site, kind, subject, text, page } = message;
  return {
    title: shorten(headlineOf(message), maxTitleLength),
    body: shorten(english(text), maxBodyLength),
    page,
    topic: hash("sha256", JSON.stringify([site.id, kind, subject]), "base64url").slice(0, 32),
    isUrgent: phase === "began",
  };
}

const shorten = (text: string, max: number) => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);

/** What a channel sends: a mail, the JSON that a webhook receives, or what a device shows. */
export type Notice = {
  subject: string;
  text: string;
  /** Made for mails alone. */
  attach?: () => Promise<Attachment[]>;
  json: string;
  /** Alerts alone go to devices. */
  push?: PushMessage;
};

/** `publicUrl` is the origin of the dashboard. */
export const noticeOf = (message: Message, publicUrl: string): Notice => ({
  subject: headlineOf(message),
  text: mailText(message, publicUrl),
  json: webhookBody(message, publicUrl),
  push: pushMessage(message),
});
