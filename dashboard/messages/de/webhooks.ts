import type { Translation } from "../catalogue/catalogue.ts";
import { plural } from "../catalogue/plural.ts";
import type { webhooksText } from "../webhooks.ts";

export const webhooks: Translation<typeof webhooksText> = {
  title: "Webhooks",
  about: "Ein Webhook sendet Ihrem Server die Anzahl der Conversions und der entfernten Bot-Besuche und -Ereignisse.",
  add: "Webhook hinzufügen",
  minutes: (count) => plural(count, { one: "jede Minute", other: "alle # Minuten" }),
  seconds: (count) => plural(count, { one: "jede Sekunde", other: "alle # Sekunden" }),
  emptyTitle: "Noch keine Webhooks",
  empty: (period) => `Fügen Sie die URL Ihres Servers hinzu, um ${period} die Summen zu erhalten.`,
  emptyLoading: "Fügen Sie die URL Ihres Servers hinzu, um die Summen zu erhalten.",
  currentPeriod: "Der laufende Zeitabschnitt begann <start/> und endet <end/>.",
  currentPeriodEnds: "Der laufende Zeitabschnitt endet <end/>.",
  columns: {
    url: "URL",
    state: "Status",
    nextPush: "Nächster Push",
    waiting: "Wartende Abschnitte",
    lastPush: "Letzter Push",
  },
  secret: {
    title: "Geheimnis des Webhooks",
    about:
      "Jeder Push trägt es als <code>Authorization: Bearer</code> und ist damit signiert. Ihr Empfänger prüft beides; siehe <link>Ausgehender Webhook</link> (englisch), mit Beispielen für Node, Python und PHP.",
  },
  payload: {
    title: "Inhalt",
    about: (period) => `Ein POST ${period}, mit den Summen seit dem letzten.`,
    example: "Beispiel eines Pushs",
    conversions: "Angenommene Ereignisse, ohne Duplikate, gefilterte Ereignisse und Testereignisse.",
    removed: "Bot-Besuche und als Bots gefilterte Ereignisse.",
    delivery:
      "Jede Conversion ist in genau einem Push. Ein fehlgeschlagener Push wird mit derselben ID wiederholt, bis er zugestellt ist. <link>So prüfen Sie einen Push (englisch)</link>",
  },
  form: {
    title: "Webhook hinzufügen",
    aboutUrl: "HTTPS, und aus dem Internet erreichbar.",
    sendEmpty: "Auch leere Zeitabschnitte senden",
    aboutSendEmpty: "Dann bedeutet ein fehlender Push, dass etwas nicht stimmt.",
  },
  panel: {
    emptyPeriods: "Leere Abschnitte",
    pushed: "werden gesendet",
    notPushed: "werden nicht gesendet",
    added: "Hinzugefügt",
    id: "ID",
    pushes: "Pushs",
    thePushes: "Pushs",
    since: "seit <time/>",
    disabled: "Dieser Webhook ist deaktiviert",
    waiting: (periods) => plural(periods, { one: "# Abschnitt wartet.", other: "# Abschnitte warten." }),
    waitsUntilEnabled: "Seine Abschnitte warten, bis er aktiviert wird.",
    enable: "Aktivieren",
    enabled: "Webhook aktiviert.",
    enabledAndPushed: (periods) =>
      plural(periods, {
        one: "Webhook aktiviert. # Abschnitt wird jetzt gesendet.",
        other: "Webhook aktiviert. # Abschnitte werden jetzt gesendet, die ältesten zuerst.",
      }),
    disable: "Deaktivieren",
    disabledNotice: "Webhook deaktiviert. Seine Abschnitte warten.",
    rotate: "Geheimnis erneuern",
    rotateQuestion: "Geheimnis erneuern?",
    rotateConsequence:
      "Das neue Geheimnis wird einmal angezeigt und sofort verwendet. Das alte bleibt 24 Stunden gültig: Pushs werden mit beiden signiert, damit Ihr Empfänger wechseln kann. Eine zweite Erneuerung in dieser Zeit beendet das älteste Geheimnis.",
    delete: "Löschen",
    deleteQuestion: "Diesen Webhook löschen?",
    deleteConsequence: (periods) =>
      plural(periods, {
        one: "Er erhält keine Pushs mehr. Seine Warteschlange (# Abschnitt) und sein Protokoll werden gelöscht.",
        other: "Er erhält keine Pushs mehr. Seine Warteschlange (# Abschnitte) und sein Protokoll werden gelöscht.",
      }),
    deleted: "Webhook gelöscht.",
  },
  pushes: {
    emptyTitle: "Noch keine Pushs",
    empty: "Jeder Push erscheint hier mit seinen Summen und der Antwort.",
    delivered: "zugestellt",
    failed: "fehlgeschlagen",
    totals: (conversions, removed) =>
      plural(conversions, {
        one: `# Conversion, ${removed} entfernt`,
        other: `# Conversions, ${removed} entfernt`,
      }),
    noResponse: "keine Antwort",
    noResponseSentence: "Keine Antwort.",
    emptyResponse: "Leere Antwort.",
    period: (first, last) => `Zeitabschnitt: ${first} – ${last}`,
    response: "Antwort",
  },
  test: {
    send: "Test senden",
    delivered: "Test-Push zugestellt",
    failed: "Test-Push fehlgeschlagen",
    sent: "Gesendete Anfrage",
    body: "Inhalt",
    about: "Ein Test-Push enthält die Summen des laufenden Zeitabschnitts und wird nicht gezählt.",
  },
  replay: {
    open: "Erneut senden…",
    title: "Abgeschlossene Zeitabschnitte erneut senden?",
    about:
      "Alle abgeschlossenen Abschnitte dieser Tage werden mit denselben IDs und Summen erneut gesendet. Ein Empfänger, der sich die IDs merkt, zählt keinen doppelt.",
    submit: "Erneut senden",
    none: "Keine abgeschlossenen Abschnitte an diesen Tagen.",
    waiting: (periods) =>
      plural(periods, {
        one: "# Abschnitt wartet, bis der Webhook aktiviert wird.",
        other: "# Abschnitte warten, bis der Webhook aktiviert wird.",
      }),
    done: (periods) =>
      plural(periods, {
        one: "# Abschnitt wird erneut gesendet.",
        other: "# Abschnitte werden erneut gesendet.",
      }),
  },
};
