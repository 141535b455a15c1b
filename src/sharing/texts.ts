// The texts of what outsiders read: the shared report, its PDF, the weekly message, the wall. The dashboard has its own catalogue; these
// are written where no browser is.

import type { ReportLanguage } from "../kernel/text.ts";
import type { Cause } from "./report.ts";

const causesEn: Record<Cause, string> = {
  never_received: "never received from the shop",
  rejected: "rejected by the platform",
  expired: "not accepted in time",
  waiting: "still being sent",
  needs_reconnection: "waiting: the account must be connected again",
  paused: "waiting: the connection is paused",
  bots: "filtered as bots",
  blocked: "filtered by a rule of the site",
  opted_out: "the person opted out",
  no_click_id: "nothing by which the platform finds the person",
  not_selected: "event not selected for the platform",
  too_old: "older than the platform takes",
  not_supported: "not for this platform",
  not_connected: "the platform was not connected at the time",
};

const causesDe: Record<Cause, string> = {
  never_received: "nie vom Shop empfangen",
  rejected: "von der Plattform abgelehnt",
  expired: "nicht rechtzeitig angenommen",
  waiting: "wird noch gesendet",
  needs_reconnection: "wartet: das Konto muss neu verbunden werden",
  paused: "wartet: die Verbindung ist pausiert",
  bots: "als Bots gefiltert",
  blocked: "durch eine Regel der Website gefiltert",
  opted_out: "die Person hat widersprochen",
  no_click_id: "nichts, woran die Plattform die Person erkennt",
  not_selected: "Ereignis für die Plattform nicht ausgewählt",
  too_old: "älter, als die Plattform annimmt",
  not_supported: "nicht für diese Plattform",
  not_connected: "die Plattform war damals nicht verbunden",
};

const en = {
  locale: "en-US",
  causes: causesEn,
  report: {
    title: "Where the orders went",
    titleOfEvents: "Where the conversions went",
    period: (from: string, to: string) => `${from} – ${to}`,
    orders: "Orders",
    received: "Received",
    conversions: "After filters",
    receivedHint: "of the shop's list of orders",
    worth: "Worth",
    platforms: "What each platform has",
    platform: "Platform",
    accepted: "Accepted",
    of: (accepted: string, deliverable: string) => `${accepted} of ${deliverable}`,
    money: "Value accepted",
    missed: "Never reached it",
    confirmed: (count: string) => `${count} counted by the platform`,
    losses: "Why conversions are missing",
    others: "Does not apply",
    nothingMissing: "Nothing is missing.",
    noPlatform: "No platform is connected.",
    nothing: "Nothing was received in this period.",
    pdf: "Download PDF",
    made: (time: string) => `As of ${time}. No personal data: this report holds counts, sums and causes alone.`,
    expires: (day: string) => `The link works until ${day}.`,
    page: (number: number, count: number) => `${number} / ${count}`,
    by: "Cleancast",
  },
  sentence: {
    orders: (orders: string, percent: string) => `${orders} orders, ${percent} received.`,
    events: (count: string) => `${count} conversions received.`,
    missed: (money: string, platform: string) => `${money} never reached ${platform}.`,
    accepted: (platform: string, percent: string, deliverable: string) => `${platform} accepted ${percent} of ${deliverable}.`,
    allThere: "Every platform has all that it should have.",
    causes: (list: string, count: number) => (count === 1 ? `One cause: ${list}.` : `Causes: ${list}.`),
    cause: (count: string, cause: string) => `${count} ${cause}`,
  },
  weekly: {
    subject: (host: string) => `${host}: weekly report`,
    attached: "The whole report is attached.",
    page: "Details, for members",
    stop: "This message comes once a week. Admins stop it on the page Shared links of the dashboard.",
  },
  open: {
    title: "Shared view",
    opening: "Opening …",
    ended: "This link is not valid, or no longer.",
    endedMore: "Ask the person who sent it to you for a new one.",
    password: "Password",
    passwordMore: "This link is protected.",
    wrong: "The password is wrong.",
    open: "Open",
    tooMany: "Too many attempts. Try again in a few minutes.",
    away: "The server does not answer. Trying again …",
    script: "This page needs JavaScript to open the link.",
  },
  wall: {
    title: "Wall",
    today: "Today",
    conversions: "Conversions",
    value: "Value",
    accepted: "Accepted by platforms",
    bots: "Bots removed",
    yesterday: "yesterday by this time",
    funnel: "Today's funnel",
    received: "Received",
    kept: "After filters",
    ticker: "Live",
    quiet: "Nothing yet today. The next conversion appears here.",
    away: "Reconnecting",
    states: {
      sent: "accepted",
      queued: "waiting",
      parked: "waiting",
      skipped: "not for it",
      rejected: "rejected",
      expired: "expired",
    },
    filtered: "filtered",
    noPlatform: "no platform",
  },
};

export type ReportTexts = typeof en;

const de: ReportTexts = {
  locale: "de-DE",
  causes: causesDe,
  report: {
    title: "Wohin die Bestellungen gingen",
    titleOfEvents: "Wohin die Conversions gingen",
    period: (from, to) => `${from} – ${to}`,
    orders: "Bestellungen",
    received: "Empfangen",
    conversions: "Nach Filtern",
    receivedHint: "laut Bestellliste des Shops",
    worth: "Wert",
    platforms: "Was jede Plattform hat",
    platform: "Plattform",
    accepted: "Angenommen",
    of: (accepted, deliverable) => `${accepted} von ${deliverable}`,
    money: "Angenommener Wert",
    missed: "Kam nie an",
    confirmed: (count) => `${count} von der Plattform gezählt`,
    losses: "Warum Conversions fehlen",
    others: "Betrifft sie nicht",
    nothingMissing: "Nichts fehlt.",
    noPlatform: "Keine Plattform ist verbunden.",
    nothing: "In diesem Zeitraum wurde nichts empfangen.",
    pdf: "PDF herunterladen",
    made: (time) => `Stand ${time}. Keine personenbezogenen Daten: Dieser Bericht enthält nur Anzahlen, Summen und Gründe.`,
    expires: (day) => `Der Link gilt bis ${day}.`,
    page: (number, count) => `${number} / ${count}`,
    by: "Cleancast",
  },
  sentence: {
    orders: (orders, percent) => `${orders} Bestellungen, ${percent} empfangen.`,
    events: (count) => `${count} Conversions empfangen.`,
    missed: (money, platform) => `${money} kamen nie bei ${platform} an.`,
    accepted: (platform, percent, deliverable) => `${platform} hat ${percent} von ${deliverable} angenommen.`,
    allThere: "Jede Plattform hat alles, was sie haben sollte.",
    causes: (list, count) => (count === 1 ? `Ein Grund: ${list}.` : `Gründe: ${list}.`),
    cause: (count, cause) => `${count} ${cause}`,
  },
  weekly: {
    subject: (host) => `${host}: Wochenbericht`,
    attached: "Der ganze Bericht hängt an.",
    page: "Einzelheiten, für Mitglieder",
    stop: "Diese Nachricht kommt einmal pro Woche. Admins beenden sie im Dashboard auf der Seite Geteilte Links.",
  },
  open: {
    title: "Geteilte Ansicht",
    opening: "Wird geöffnet …",
    ended: "Dieser Link ist nicht oder nicht mehr gültig.",
    endedMore: "Bitten Sie die Person, die ihn geschickt hat, um einen neuen.",
    password: "Passwort",
    passwordMore: "Dieser Link ist geschützt.",
    wrong: "Das Passwort ist falsch.",
    open: "Öffnen",
    tooMany: "Zu viele Versuche. Versuchen Sie es in einigen Minuten noch einmal.",
    away: "Der Server antwortet nicht. Neuer Versuch …",
    script: "Diese Seite braucht JavaScript, um den Link zu öffnen.",
  },
  wall: {
    title: "Wand",
    today: "Heute",
    conversions: "Conversions",
    value: "Wert",
    accepted: "Von Plattformen angenommen",
    bots: "Bots entfernt",
    yesterday: "gestern um diese Zeit",
    funnel: "Der Trichter von heute",
    received: "Empfangen",
    kept: "Nach Filtern",
    ticker: "Live",
    quiet: "Heute noch nichts. Die nächste Conversion erscheint hier.",
    away: "Verbindung wird gesucht",
    states: {
      sent: "angenommen",
      queued: "wartet",
      parked: "wartet",
      skipped: "nicht dafür",
      rejected: "abgelehnt",
      expired: "abgelaufen",
    },
    filtered: "gefiltert",
    noPlatform: "keine Plattform",
  },
};

const languages: Readonly<Record<ReportLanguage, ReportTexts>> = { en, de };

export const textsOf = (language: ReportLanguage): ReportTexts => languages[language];

/** The language of a reader, by the header of their browser. */
export function languageOf(header: string | undefined): ReportLanguage {
  const wanted = (header ?? "")
    .slice(0, 200)
    .split(",")
    .map((part) => {
      const [tag = "", ...rest] = part.trim().toLowerCase().split(";");
      const weight = /q=([\d.]+)/.exec(rest.join(";"))?.[1];
      return { language: tag.split("-", 1)[0], weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ language }) => language === "en" || language === "de")
    .toSorted((one, other) => other.weight - one.weight);
  return wanted[0]?.language === "de" ? "de" : "en";
}
