import type { Translation } from "../catalogue/catalogue.ts";
import type { overviewText } from "../overview.ts";
import { plural } from "../catalogue/plural.ts";

export const overview: Translation<typeof overviewText> = {
  title: "Übersicht",
  about: (period, before, timeZone) => `${period}, verglichen mit ${before} (Zeitzone ${timeZone})`,
  earlier: "Früherer Zeitraum",
  siteAdded: "Website hinzugefügt",
  range: "Zeitraum",
  events: "Ereignisse",
  visits: "Besuche",
  periods: {
    today: "Heute",
    yesterday: "Gestern",
    "24h": "Letzte 24 Stunden",
    "7d": "Letzte 7 Tage",
    "30d": "Letzte 30 Tage",
    "90d": "Letzte 90 Tage",
    month: "Dieser Monat",
    lastMonth: "Letzter Monat",
    "12m": "Letzte 12 Monate",
  },
  filter: {
    event: (name) => `Nur das Ereignis ${name}`,
    source: (name) => `Nur die Quelle ${name}`,
    campaign: (name) => `Nur die Kampagne ${name}`,
    platform: (name) => `Nur Conversions für ${name}`,
    about: "Bots, Duplikate und der Live-Feed gelten für die ganze Website und werden nicht angezeigt.",
    clear: "Filter aufheben",
    hint: "Seite filtern",
  },
  noName: "keine",
  otherNames: "weitere",
  noConversions: "Keine Conversions in diesem Zeitraum.",
  feed: {
    title: "Live",
    testTitle: "Neueste Ereignisse",
    about: "Die neuesten Ereignisse, sobald sie eintreffen.",
    new: (event) => `Neues Ereignis: ${event}`,
    emptyTitle: "Warten auf das erste Ereignis",
    empty: "Es erscheint hier, sobald es eintrifft.",
    states: { connecting: "verbindet", live: "verbunden", reconnecting: "verbindet erneut" },
    stateLabel: (state) => `Live-Ansicht: ${state}`,
  },
  conversions: {
    title: "Conversions",
    about: {
      day: "Angenommene Live-Ereignisse pro Tag, ohne Duplikate, gefilterte und Testereignisse.",
      hour: "Angenommene Live-Ereignisse pro Stunde, ohne Duplikate, gefilterte und Testereignisse.",
    },
    chart: { day: "Conversions pro Tag", hour: "Conversions pro Stunde" },
  },
  value: {
    title: "Wert",
    about: {
      day: "Wert dieser Conversions pro Tag, ohne Erstattungen. Währungen werden nie addiert.",
      hour: "Wert dieser Conversions pro Stunde, ohne Erstattungen. Währungen werden nie addiert.",
    },
    currency: "Währung",
    series: (currency) => `Wert in ${currency}`,
    none: "Keine Conversions mit Wert in diesem Zeitraum.",
    refunded: (amount) => `${amount} erstattet`,
  },
  tiles: {
    matchRate: "Trefferquote",
    matched: (matched, all) =>
      plural(all, {
        one: `${matched} von # Conversion mit Klick-ID`,
        other: `${matched} von # Conversions mit Klick-ID`,
      }),
    delivered: "Zugestellt",
    deliveredOf: (sent, all) =>
      plural(all, {
        one: `${sent} von # Zustellung, ohne übersprungene`,
        other: `${sent} von # Zustellungen, ohne übersprungene`,
      }),
    botVisits: (count) => plural(count, { one: "# Besuch", other: "# Besuche" }),
    botEvents: (count) => plural(count, { one: "# Ereignis", other: "# Ereignisse" }),
    valueAnd: (currencies) => `Wert (auch ${currencies.join(", ")})`,
    noComparison: "kein Vergleich",
    noChange: "unverändert",
    from: (before) => `ggü. ${before}`,
    change: (percent, before) => `${percent} ggü. ${before}`,
    points: (points, before) => plural(points, { other: `# Pp. ggü. ${before}` }),
    more: "gestiegen",
    less: "gesunken",
  },
  deliveries: {
    title: "Zustellungen nach Plattform",
    about: "Aktueller Zustellstatus dieser Conversions. Übersprungene Zustellungen betrafen die Plattform nicht.",
    log: "Zustellprotokoll",
    none: "Keine Zustellungen in diesem Zeitraum.",
    platforms: "Plattformen",
    share: (percent) => `${percent} zugestellt`,
    state: (count, state) => `${count} ${state}`,
  },
  match: {
    title: "Trefferquote nach Klick-ID",
    about: "Conversions mit jeder Klick-ID. Eine Conversion kann mehrere haben.",
    chart: "Conversions nach Klick-ID",
    none: "keine Klick-ID",
    identified: (identified, all) => `${identified} von ${all} hatten einen Identitätsdatensatz.`,
    withheld: (count) =>
      plural(count, {
        one: "# wurde mangels Einwilligung ohne Kennungen gesendet.",
        other: "# wurden mangels Einwilligung ohne Kennungen gesendet.",
      }),
    checkTag: "Tag prüfen",
  },
  bySource: {
    title: "Woher Conversions kommen",
    by: "Nach Quelle oder Kampagne",
    source: "Quelle",
    campaign: "Kampagne",
    about: {
      source: "Nach utm_source, sonst nach dem Netzwerk der Klick-ID. Wert ohne Erstattungen.",
      campaign: "Nach utm_campaign. Wert ohne Erstattungen.",
    },
    model: "Welche Besuche eine Conversion erhalten",
    models: { last: "Letzter", first: "Erster", linear: "Linear" },
    aboutModel: {
      last: "Eine Conversion zählt für den letzten Besuch mit Kampagne oder Klick.",
      first: "Eine Conversion zählt für den ersten Besuch mit Kampagne oder Klick.",
      linear: "Eine Conversion zählt zu gleichen Teilen für jeden Besuch mit Kampagne oder Klick.",
    },
    label: { source: "Conversions nach Quelle", campaign: "Conversions nach Kampagne" },
  },
  byEvent: {
    title: "Conversions nach Ereignis",
    about: "Nach dem Ereignisnamen, den Ihre Server senden, mit ihrem Wert.",
  },
  bots: {
    title: "Entfernte Bots",
    about: {
      day: "Bot-Besuche und als Bots gefilterte Ereignisse pro Tag. Sie werden nie an eine Plattform gesendet.",
      hour: "Bot-Besuche und als Bots gefilterte Ereignisse pro Stunde. Sie werden nie an eine Plattform gesendet.",
    },
    chart: { day: "Entfernte Bots pro Tag", hour: "Entfernte Bots pro Stunde" },
    rows: "Gefilterte Ereignisse",
    noVisits: "Keine Besuche in diesem Zeitraum.",
    none: (visits) =>
      plural(visits, {
        one: "Keine Bots: # Besuch in diesem Zeitraum.",
        other: "Keine Bots unter # Besuchen in diesem Zeitraum.",
      }),
  },
  reasons: {
    title: "Entfernt nach Grund",
    about: "Das stärkste Merkmal jedes Bot-Besuchs und warum Ereignisse gefiltert wurden: als Bots oder durch Ihre Regeln.",
    rows: "Traffic-Filter",
    none: "In diesem Zeitraum wurde nichts entfernt.",
    visits: "Entfernte Besuche nach Grund",
    events: "Entfernte Ereignisse nach Grund",
    showAll: (count) => plural(count, { other: "Alle # anzeigen" }),
  },
  duplicates: {
    title: "Duplikate",
    about: {
      day: "Duplikate pro Tag: erneut empfangen und nicht noch einmal gesendet.",
      hour: "Duplikate pro Stunde: erneut empfangen und nicht noch einmal gesendet.",
    },
    chart: { day: "Duplikate pro Tag", hour: "Duplikate pro Stunde" },
    none: "Keine Duplikate in diesem Zeitraum.",
    how: "Wie Duplikate erkannt werden",
  },
};
