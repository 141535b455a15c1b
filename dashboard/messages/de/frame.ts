import type { Translation } from "../catalogue.ts";
import type { frameText } from "../frame.ts";
import { plural } from "../plural.ts";

export const frame: Translation<typeof frameText> = {
  sections: {
    label: "Bereiche",
    overview: "Übersicht",
    events: "Ereignisse",
    integrations: "Integrationen",
    configuration: "Konfiguration",
    settings: "Einstellungen",
  },
  pages: {
    overview: "Übersicht",
    events: "Ereignisse",
    integrations: "Integrationen",
    "integrations/log": "Übertragungsprotokoll",
    "integrations/webhooks": "Webhooks",
    "configuration/keys": "Eingangsschlüssel",
    "configuration/tag": "Tag",
    "configuration/domains": "Domains",
    "configuration/traffic": "Traffic-Filter",
    "configuration/consent": "Einwilligung & Datenschutz",
    "configuration/deduplication": "Deduplizierung",
    "settings/api-keys": "API-Schlüssel",
    "settings/members": "Mitglieder",
    "settings/alerts": "Warnungen",
    "settings/oauth-apps": "OAuth-Apps",
    "settings/audit": "Änderungsprotokoll",
  },
  skip: "Zum Inhalt springen",
  openNavigation: "Navigation öffnen",
  closeNavigation: "Navigation schließen",
  allSites: "Alle Websites",
  switchSite: (name) => `Website: ${name}. Wechseln`,
  search: "Suchen und springen",
  jumpTo: "Gehe zu…",
  menu: {
    about: ": Konto und Darstellung",
    account: "Konto",
    documentation: "Dokumentation",
    light: "Hell",
    dark: "Dunkel",
    system: "System",
    signOut: "Abmelden",
  },
  alerts: {
    count: (count) =>
      plural(count, { one: "# Problem braucht Aufmerksamkeit", other: "# Probleme brauchen Aufmerksamkeit" }),
    view: (count) => plural(count, { one: "Problem ansehen", other: "Probleme ansehen" }),
    hint: "Was passiert ist und was zu tun ist",
  },
  unreachable: (time) => `Das Relay ist nicht erreichbar. Diese Seite zeigt den Stand von ${time}.`,
  notFound: {
    title: "Seite nicht gefunden",
    about: "Der Link ist unvollständig, oder die Seite wurde entfernt.",
    action: "Zu Ihren Websites",
  },
  broken: {
    title: "Diese Seite konnte nicht angezeigt werden",
    about: "Möglicherweise wurde das Relay inzwischen aktualisiert. Es ging nichts verloren.",
    action: "Neu laden",
  },
  jump: {
    label: "Gehe zu",
    hint: "Seite, Website, Schlüssel, Bestellnummer oder E-Mail",
    nothing: "Nichts gefunden. Versuchen Sie eine Seite, eine Website, eine Bestellnummer oder eine E-Mail.",
    site: "Website",
    event: "Ereignis",
    key: (prefix) => `Eingangsschlüssel ${prefix}…`,
    account: "Passwort, Zwei-Faktor-Anmeldung, Sitzungen",
  },
};
