import type { Translation } from "../catalogue/catalogue.ts";
import { plural } from "../catalogue/plural.ts";
import type { sitesText } from "../sites.ts";

export const sites: Translation<typeof sitesText> = {
  title: "Websites",
  about: "Jede Website hat eigene Schlüssel, Verbindungen und Daten. 24 Stunden sind die laufende Stunde und die 23 davor.",
  site: "Website",
  conversions: "Conversions, 24 h",
  bots: "Entfernte Bots, 24 h",
  connections: "Verbindungen",
  waiting: "Wartend",
  lastEvent: "Letztes Ereignis",
  noEvent: "noch keines",
  alerts: "Warnungen",
  alertCount: (count) => plural(count, { one: "# Warnung", other: "# Warnungen" }),
  moreHosts: (first, more) => plural(more, { one: `${first} und # weitere`, other: `${first} und # weitere` }),
  needReconnection: (count) => plural(count, { one: "# muss neu verbunden werden", other: "# müssen neu verbunden werden" }),
  active: (count) => plural(count, { other: "# aktiv" }),
  paused: (count) => plural(count, { other: "# pausiert" }),
  emptyTitle: "Noch keine Website",
  emptyAdmin: "Fügen Sie die Domain hinzu, auf der Menschen konvertieren, um hier Schlüssel, Plattformen und Zahlen zu sehen.",
  emptyViewer: "Sie haben noch keinen Zugang zu einer Website. Bitten Sie einen Inhaber um eine Einladung.",
  add: {
    title: "Website hinzufügen",
    submit: "Hinzufügen",
    added: (name) => `${name} wurde hinzugefügt.`,
    domain: "Domain",
    about: "Die Domain, auf der Menschen konvertieren. Weitere können Sie später hinzufügen.",
  },
};
