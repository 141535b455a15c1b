import type { Translation } from "../catalogue.ts";
import type { eventsText } from "../events.ts";
import { plural } from "../plural.ts";

export const events: Translation<typeof eventsText> = {
  title: "Ereignisse",
  about:
    "Ereignisse Ihrer Server und ihr Zustellstatus. Öffnen Sie eines, um seinen ganzen Verlauf zu sehen.",
  search: "Ereignisse suchen",
  status: "Status",
  statuses: { all: "Jeder Status", accepted: "Angenommen", filtered: "Gefiltert" },
  columns: {
    event: "Ereignis",
    value: "Wert",
    orderId: "Bestellnummer",
    received: "Empfangen",
    match: "Zuordnung",
  },
  filters: {
    names: {
      event: "Ereignis",
      clickId: "Klick-ID",
      source: "Quelle",
      campaign: "Kampagne",
      minValue: "Mindestwert",
      maxValue: "Höchstwert",
      currency: "Währung",
      confirmation: "Bestätigung",
    },
    platform: "Plattform",
    allPlatforms: "Alle Plattformen",
    any: "Beliebig",
    more: "Weitere Filter",
    clear: "Filter entfernen",
    noClickId: "Keine Klick-ID",
    remove: (filter) => `${filter}. Diesen Filter entfernen`,
  },
  showNew: (count) =>
    plural(count, { one: "# neues Ereignis anzeigen", other: "# neue Ereignisse anzeigen" }),
  showAll: "Alle Ereignisse anzeigen",
  nothingFound: {
    title: "Keine passenden Ereignisse",
    search:
      "Geben Sie die vollständige Bestellnummer, Ereignis-ID oder E-Mail-Adresse ein. Teile davon werden nicht gefunden.",
    filter: "Versuchen Sie einen längeren Zeitraum oder einen anderen Status.",
  },
  nothingYet: {
    title: "Noch keine Ereignisse",
    about: "Ereignisse, die Ihre Server an diese Website senden, erscheinen hier mit ihrem Zustellstatus.",
    createKey: "Eingangsschlüssel erstellen",
    import: "Frühere Conversions importieren",
    samples: "Senden Sie ein erstes Ereignis mit einem Ihrer Eingangsschlüssel:",
    testSamples: "Senden Sie ein erstes Ereignis mit einem Ihrer Testschlüssel:",
  },
  copy: {
    orderId: "Bestellnummer kopieren",
    keyId: "Schlüssel-ID kopieren",
    eventId: "Ereignis-ID kopieren",
    platformEventId: "Ereignis-ID der Plattformen kopieren",
    email: "Gehashte E-Mail-Adresse kopieren",
    value: (name) => `${name} kopieren`,
  },
  trace: {
    ofOrder: "Alle Ereignisse dieser Bestellung",
    ofPerson: "Alle Ereignisse dieser Person",
    notFound: "Ereignis nicht gefunden",
    aboutNotFound:
      "Es gehört vielleicht zu einer anderen Website oder ist älter, als diese Website Ereignisse aufbewahrt. Die ID war <id/>.",
  },
  received: {
    key: "Eingangsschlüssel",
    happened: "Geschehen",
    platformEventId: "Ereignis-ID der Plattformen",
    eventId: "Ereignis-ID",
    test: "Mit einem Testschlüssel gesendet: Plattformen erhalten es in ihrem eigenen Testmodus. Testereignisse werden nie gezählt.",
  },
  items: { title: "Artikel", item: "Artikel", quantity: "Menge", price: "Preis" },
  duplicates: {
    title: "Duplikatprüfung",
    state: "kein Duplikat",
    withOrder: "Kein früheres Ereignis hat denselben Namen, dieselbe Bestellnummer und E-Mail-Adresse.",
    withoutOrder:
      "Es hat keine Bestellnummer. Kein früheres Ereignis hat Namen, E-Mail-Adresse, Wert, Währung und Zeit mit ihm gemeinsam.",
    about: "Duplikate werden bestätigt und gezählt, aber nicht noch einmal gesendet.",
    settings: "Einstellungen zur Deduplizierung",
  },
  filter: {
    title: "Traffic-Filter",
    passed: "bestanden",
    noSignals: "Keine Bot-Merkmale gefunden.",
    released: "Freigegeben <time/> und dann zugestellt.",
    held: "Es ist gespeichert, wurde aber an keine Plattform gesendet.",
    settings: "Traffic-Filter",
    release: "Freigeben",
    question: "Dieses Ereignis freigeben?",
    consequence:
      "Damit gilt es nicht mehr als Bot. Es wird jetzt an alle verbundenen Plattformen gesendet und zählt als Conversion. Ereignisse dieser Person werden nicht mehr gefiltert. Gesendete Conversions lassen sich nicht zurückholen.",
    done: (deliveries) =>
      plural(deliveries, {
        one: "Freigegeben: # Zustellung wird gesendet.",
        other: "Freigegeben: # Zustellungen werden gesendet.",
      }),
  },
  identity: {
    title: "Identität",
    withClickId: "gefunden, mit Klick-ID",
    withoutClickId: "gefunden, ohne Klick-ID",
    aboutWithClickId: "Das Tag hat diese Person schon gesehen. Diese IDs kennzeichnen den Anzeigenklick:",
    aboutWithoutClickId: "Das Tag hat diese Person schon gesehen, aber ohne Anzeigenklick in letzter Zeit.",
    aboutNone:
      "Das Tag hat diese Person nicht gesehen. Das Ereignis wird nur mit gehashten Kontaktdaten gesendet.",
    aboutUnreadable:
      "Der Identitätsdatensatz war in diesem Moment nicht lesbar. Das Ereignis wurde ohne Klick-IDs gesendet.",
    checkTag: "Tag prüfen",
    clicked: (age) => `${age} vorher geklickt`,
    page: "Seite",
    referrer: "Referrer",
    email: "E-Mail, gehasht",
    contact: "Kontaktdaten",
    allHashed: (names) => `${names}, alles gehasht`,
  },
  contact: {
    emailSha256: "E-Mail",
    phoneSha256: "Telefon",
    firstNameSha256: "Vorname",
    lastNameSha256: "Nachname",
  },
  consent: {
    title: "Einwilligung",
    settings: "Einwilligung & Datenschutz",
    states: {
      granted: "Einwilligung erteilt: Kennungen werden verwendet.",
      denied: "Einwilligung abgelehnt.",
      unknown: "Keine Entscheidung gespeichert.",
      unreadable: "Die Entscheidung war nicht lesbar; das gilt als Ablehnung.",
    },
    optOut: "Diese Website verwendet Kennungen, solange eine Person nicht widerspricht.",
    withheld: (reason) =>
      `Klick-IDs, Browser-IDs und Kontaktdaten wurden zurückgehalten (${reason}); die Plattformen wurden informiert.`,
  },
  platforms: {
    title: "Plattformen",
    held: "Gefilterte Ereignisse werden nicht an Plattformen gesendet.",
    noneConnected: "Beim Empfang war keine Plattform verbunden.",
    connect: "Plattform verbinden",
    nextAttempt: "Nächster Versuch <time/>",
    noAttempt: "Noch kein Versuch.",
    noRequest: "Es wurde keine Anfrage gesendet.",
    attempt: (number) => `Versuch ${number}`,
    noResponse: "keine Antwort",
    request: "Anfrage",
    response: "Antwort",
    aboutRequest: "Anfrage. Geheimnisse sind geschwärzt.",
    aboutBatch: (count) =>
      plural(count, {
        other: "Anfrage mit # Ereignissen, dieses ist eines davon. Geheimnisse sind geschwärzt.",
      }),
    noResponseSentence: "Keine Antwort.",
    emptyResponse: "Leere Antwort.",
  },
  replay: {
    label: "Erneut senden",
    question: (platform) => `Erneut an ${platform} senden?`,
    done: (platform) => `Erneut an ${platform} gesendet.`,
    nothing: "Es wurde nichts erneut gesendet.",
    wouldDoNothing: (reason) => `Es würde nichts gesendet: ${reason}.`,
    hasChanged: "der Status hat sich inzwischen geändert",
    now: "Eine Zustellung wird jetzt gesendet.",
    whenActive: (state) =>
      `Eine Zustellung wird gesendet, sobald die Verbindung wieder aktiv ist. Ihr Status: ${state}.`,
    duplicate: (platform) =>
      `${platform} hat sie schon. Die Ereignis-ID der Plattformen ist dieselbe, das Duplikat ist also erkennbar.`,
    sameId: "Sie hat dieselbe Ereignis-ID der Plattformen wie zuvor und zählt deshalb einmal.",
  },
};
