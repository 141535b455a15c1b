import type { Translation } from "../catalogue/catalogue.ts";
import { plural } from "../catalogue/plural.ts";
import type { reconciliationText } from "../reconciliation.ts";

export const reconciliation: Translation<typeof reconciliationText> = {
  title: "Abgleich",
  orders: "Bestellungen",
  about: "Vergleicht Ihre eigene Liste der Bestellungen mit den empfangenen Ereignissen und den Antworten jeder Plattform.",
  period: {
    label: "Verglichener Zeitraum",
    compared: (day) => `verglichen am ${day}`,
    states: { running: "läuft", done: "fertig", cancelled: "abgebrochen" },
    none: "Die Liste wurde noch nicht verglichen.",
    from: "Erster Tag",
    to: "Letzter Tag",
    compare: "Vergleichen",
    started: "Der Abgleich hat begonnen.",
    defaults: (days, hours) =>
      `Ohne Angabe: die ${days} Tage vor den letzten ${hours} Stunden, in denen noch Bestellungen und Antworten eintreffen können.`,
  },
  run: {
    cancelled: "Dieser Abgleich wurde abgebrochen. Die Zahlen gelten für die bis dahin verglichenen Bestellungen.",
    emptyTitle: "Keine Bestellungen in diesem Zeitraum",
    empty: "Wählen Sie andere Tage, oder laden Sie die Bestellungen dieses Zeitraums hoch.",
    progress: (orders) => plural(orders, { one: "# Bestellung bisher verglichen", other: "# Bestellungen bisher verglichen" }),
    running: "Der Abgleich läuft",
  },
  summary: {
    received: "Empfangen",
    missing: (count) => `${count} nie empfangen`,
    all: "alle",
    differing: "Mit Abweichungen empfangen",
    lowest: "Die meisten fehlen bei",
    parts: (accepted, deliverable, failed) =>
      `${accepted} von ${deliverable} angenommen${failed === "0" ? "" : `, ${failed} fehlgeschlagen`}`,
  },
  funnel: {
    label: "Trichter",
    title: (platform) => `Von Ihren Bestellungen zu ${platform}`,
    titleOfAll: "Von Ihren Bestellungen zu den Plattformen",
    about:
      "Wie viele Bestellungen jeden Schritt erreicht haben, und warum die anderen nicht. Jede Zahl führt zu ihren Bestellungen.",
    headline: (platform, accepted, deliverable, share) =>
      `${platform} hat ${accepted} von ${deliverable} zustellbaren Bestellungen, ${share}.`,
    connection: "Verbindung",
    all: "Alle Verbindungen",
    allAbout: "Bestellungen, die jeden Schritt erreicht haben, und der größte Verlust bei der Plattform.",
    largest: "Größter Verlust",
    noOrders: "Noch keine Bestellungen",
    noOrdersMore:
      "Der Trichter beginnt mit Ihrer eigenen Liste der Bestellungen. Fügen Sie sie hinzu, und jede Bestellung wird bis zu jeder Plattform verfolgt.",
    addOrders: "Bestellungen hinzufügen",
    lost: (step) => `Verloren vor ${step}:`,
    more: (count) => plural(count, { one: "# weiterer Grund", other: "# weitere Gründe" }),
    confirmations:
      "Es zählen die Bestätigungen, die beim Abgleich vorlagen. Eine Plattform, die mit Anzahlen antwortet, sagt nicht, welche Conversion einer Anfrage sie zählt: Diese Conversions sind hier unbekannt. Die Summen der Übersicht zählen sie mit und können daher höher sein.",
    steps: {
      orders: "Bestellungen in Ihrer Liste",
      received: "Empfangen",
      "not filtered": "Nicht gefiltert",
      attributed: "Mit Klick-ID",
      due: "Fällig bei der Plattform",
      accepted: "Angenommen",
      confirmed: "Bestätigt",
    },
    hints: {
      "not filtered": "kein Bot, keine Regel",
      attributed: "die meisten Plattformen brauchen keine",
      confirmed: "die Plattform zählt sie",
    },
  },
  acceptance: {
    title: "Angenommen von zustellbaren",
    about:
      "Wie viele der Bestellungen, die eine Plattform haben sollte, sie angenommen hat. Was nicht in Frage kommt, steht für sich: übersprungen, gefiltert oder aus der Zeit vor der Verbindung. <docs>Wie gezählt wird</docs>",
    table: "Angenommene Bestellungen jeder Verbindung",
    ofOnly: (deliverable) => `von ${deliverable}`,
    ofDeliverable: (accepted, deliverable) => `${accepted} von ${deliverable}`,
    later: "später verbunden",
    leftOut: "Ereignis nicht ausgewählt",
    notApplicable: "Kommt nicht in Frage",
    connection: "Verbindung",
    accepted: "Angenommen",
    skipped: "Übersprungen",
    waiting: "Wartend",
    failed: "Fehlgeschlagen",
    filtered: "Gefiltert",
    notReceived: "Nicht empfangen",
    notConnected: "Nicht verbunden",
    counts: {
      accepted: (count) => `${count} angenommen`,
      waiting: (count) => `${count} wartend`,
      failed: (count) => `${count} fehlgeschlagen`,
      notReceived: (count) => `${count} nicht empfangen`,
    },
  },
  differences: {
    title: "Bestellungen und Ereignisse",
    values: (listed, received) => `${listed} in der Liste, ${received} empfangen`,
    weak: (count) =>
      plural(count, {
        one: "# davon hat keine gemeinsame Bestellnummer: Sie wurde nach Person, Tag und Wert gefunden.",
        other: "# davon haben keine gemeinsame Bestellnummer: Sie wurden nach Person, Tag und Wert gefunden.",
      }),
  },
  repair: {
    send: "Jetzt senden",
    sendQuestion: (orders) =>
      plural(orders, {
        one: "# Bestellung an alle Plattformen senden?",
        other: "# Bestellungen an alle Plattformen senden?",
      }),
    sendConsequence:
      "Jede Bestellung mit einer E-Mail-Adresse wird zu einer Conversion und an alle Verbindungen zugestellt. Bestellungen ohne E-Mail-Adresse werden ausgelassen, ebenso die, die seitdem eingetroffen sind oder zu denen ein Ereignis derselben Person mit gleichem Tag und Wert gehören kann. Plattformen nehmen Conversions nur bis zu einem bestimmten Alter an.",
    sendAbout: "Sendet diese Bestellungen als Conversions. Oder laden Sie sie in der Form herunter, die der Import liest.",
    csv: "CSV für den Import",
    sent: (orders) => plural(orders, { one: "# Bestellung gesendet", other: "# Bestellungen gesendet" }),
    compareAgain: "Sie werden zugestellt. Vergleichen Sie erneut, um zu sehen, was aus ihnen wurde.",
    withoutEmail: (orders) =>
      plural(orders, {
        one: "# Bestellung ohne E-Mail-Adresse wurde ausgelassen",
        other: "# Bestellungen ohne E-Mail-Adresse wurden ausgelassen",
      }),
    receivedSince: (orders) =>
      plural(orders, {
        one: "# Bestellung ist seitdem eingetroffen und wurde nicht noch einmal gesendet",
        other: "# Bestellungen sind seitdem eingetroffen und wurden nicht noch einmal gesendet",
      }),
    similar: (orders) =>
      plural(orders, {
        one: "# Bestellung wurde ausgelassen: Ein Ereignis derselben Person mit gleichem Tag und Wert ist schon hier",
        other: "# Bestellungen wurden ausgelassen: Ereignisse derselben Person mit gleichem Tag und Wert sind schon hier",
      }),
    filtered: (orders) => plural(orders, { one: "# Bestellung wurde gefiltert", other: "# Bestellungen wurden gefiltert" }),
    refused: (orders) => plural(orders, { one: "# Bestellung wurde abgelehnt", other: "# Bestellungen wurden abgelehnt" }),
    correct: { status_changed: "Zurücknehmen", value_differs: "Werte korrigieren" },
    correctQuestion: {
      status_changed: (orders) =>
        plural(orders, {
          one: "Conversions von # Bestellung zurücknehmen?",
          other: "Conversions von # Bestellungen zurücknehmen?",
        }),
      value_differs: (orders) =>
        plural(orders, {
          one: "Conversions von # Bestellung korrigieren?",
          other: "Conversions von # Bestellungen korrigieren?",
        }),
    },
    correctConsequence:
      "Google Ads und Offline-Conversions von Microsoft werden auf das korrigiert, was Ihre Liste sagt. Andere Plattformen können eine angenommene Conversion nicht mehr ändern.",
    correctAbout: {
      status_changed: "Nimmt die Conversions bei Plattformen zurück, die das können.",
      value_differs: "Sendet den Wert Ihrer Liste an Plattformen, die eine Conversion korrigieren können.",
    },
    correctOff: {
      status_changed:
        "Conversions dieser Bestellungen können bei Google Ads und Microsoft zurückgenommen werden. <quality>Schalten Sie zuerst Korrekturen ein</quality>.",
      value_differs:
        "Die Werte dieser Bestellungen können bei Google Ads und Microsoft korrigiert werden. <quality>Schalten Sie zuerst Korrekturen ein</quality>.",
    },
    corrected: (orders) =>
      plural(orders, {
        one: "# Bestellung mit einer Korrektur",
        other: "# Bestellungen mit einer Korrektur",
      }),
    counted: (count, state) => `${count} ${state}`,
    left: (orders) =>
      plural(orders, {
        one: "# Bestellung bleibt, wie sie ist: Keine Plattform hat sie, oder die Liste hat sich geändert",
        other: "# Bestellungen bleiben, wie sie sind: Keine Plattform hat sie, oder die Liste hat sich geändert",
      }),
  },
  classes: {
    matched: "Stimmt überein",
    value_differs: "Anderer Wert",
    currency_differs: "Andere Währung",
    duplicate: "Mehrmals empfangen",
    status_changed: "Erstattet oder storniert",
    missing_here: "Nie empfangen",
    not_due: "Nicht fällig",
    extra_here: "Nicht in der Liste",
  },
  aboutClasses: {
    matched: "Mit gleichem Wert und gleicher Währung empfangen.",
    value_differs: "Mit einem anderen Wert empfangen, als die Liste hat.",
    currency_differs: "Mit einer anderen Währung empfangen.",
    duplicate: "Mehrere Ereignisse der Bestellung wurden angenommen.",
    status_changed: "Empfangen, und seitdem nicht mehr gültig.",
    missing_here: "Bezahlte Bestellungen ohne Ereignis.",
    not_due: "Nicht bezahlt und nie empfangen. Zählt nicht.",
    extra_here: "Ereignisse ohne Bestellung in der Liste. Zählen nicht.",
  },
  differing: {
    value_differs: (count) => `${count} mit anderem Wert`,
    currency_differs: (count) => `${count} in anderer Währung`,
    duplicate: (count) => `${count} mehrmals`,
    status_changed: (count) => `${count} erstattet oder storniert`,
  },
  list: {
    title: "Ihre Liste der Bestellungen",
    empty:
      "Noch keine Bestellungen. Fügen Sie die Bestellungen Ihres Shops oder CRM hinzu, und vergleichen Sie sie dann mit dem, was empfangen und zugestellt wurde.",
    about: (orders, first, last) =>
      plural(orders, {
        one: `# Bestellung (${first} bis ${last}). Eine erneut gelistete Bestellung ersetzt die frühere.`,
        other: `# Bestellungen (${first} bis ${last}). Eine erneut gelistete Bestellung ersetzt die frühere.`,
      }),
    aboutMany: (orders, first, last) =>
      `Mehr als ${orders} Bestellungen (${first} bis ${last}). Eine erneut gelistete Bestellung ersetzt die frühere.`,
    upload: "CSV oder NDJSON hochladen",
    columns: "Bestellnummer, Zeit, Wert, Währung, Status. <docs>Spalten</docs>",
    progress: "Hochladen",
    written: (orders) => plural(orders, { one: "# Bestellung gespeichert", other: "# Bestellungen gespeichert" }),
    refused: (rows) => plural(rows, { one: "# Zeile abgelehnt", other: "# Zeilen abgelehnt" }),
    reason: (count, reason) => `${count} × ${reason}`,
    lines: (lines) => `(Zeile ${lines})`,
  },
  feed: {
    label: "Oder täglich abrufen von",
    header: "Name des Headers",
    headerValue: "Wert des Headers",
    saved: "Die Liste wird innerhalb einer Minute abgerufen und danach täglich.",
    fetchSoon: "Die Liste wird innerhalb einer Minute abgerufen.",
    fetch: "Jetzt abrufen",
    remove: "Entfernen",
    question: "Die Liste nicht mehr abrufen?",
    consequence: "Die Bestellungen bleiben. Sie können Listen hochladen oder erneut eine Adresse angeben.",
    fetched: "Täglich abgerufen von <url/>. Letzter Abruf: <time/>",
  },
  rows: {
    title: "Bestellungen",
    csv: "diese Bestellungen",
    searchMore: "Keine Treffer unter diesen Bestellungen. Weiter suchen",
    emptyTitle: "Keine Bestellungen",
    empty: "Keine Bestellung passt.",
    time: "Zeit",
    order: "Bestellung",
    event: "Ereignis",
    class: "Klasse",
    foundBy: "Gefunden nach",
    listed: "Gelistet",
    received: "Empfangen",
    deliveries: "Zustellungen",
    filtered: (reason) => `gefiltert: ${reason}`,
    withClickId: "mit Klick-ID",
    withoutClickId: "ohne Klick-ID",
    cannotAsk: "die Plattform kann nicht gefragt werden",
    outcome: (platform, state) => `${platform}: ${state}`,
    correctedTo: (money) => `auf ${money} korrigiert`,
  },
  states: {
    sent: "angenommen",
    skipped: "übersprungen",
    queued: "in der Warteschlange",
    parked: "zurückgestellt",
    rejected: "abgelehnt",
    expired: "abgelaufen",
    waiting: "wartend",
    failed: "fehlgeschlagen",
    none: "damals nicht verbunden",
  },
  foundBy: {
    exact: "genau",
    "other spelling": "andere Schreibweise",
    weak: "Person, Tag, Wert",
  },
  corrections: {
    waiting: "Korrektur wartet",
    rejected: "Korrektur abgelehnt",
    applied: "mit dem korrigierten Wert gesendet",
    "nothing to correct": "nichts zu korrigieren",
    "cannot be taken back": "kann nicht zurückgenommen werden",
  },
  confirmations: { confirmed: "bestätigt", "not counted": "nicht gezählt", unknown: "unbekannt" },
  leads: {
    title: "Lead-Stufen",
    about: "Wie viele Leads jede Stufe erreicht haben, nach ihrer Quelle, und wie lange sie von der Stufe davor brauchten.",
    bySource: "Nach Quelle",
    learn: "Über Lead-Stufen",
    period: "Zeitraum",
    days: (days: number) => plural(days, { one: "Letzter Tag", other: "Letzte # Tage" }),
    stages: "Stufen, von der ersten bis zur letzten",
    source: "Quelle",
    noSource: "Unbekannte Quelle",
    after: (span: string) => `${span} später`,
    wentBack: "Zurückgegangen",
    none: "Noch keine Lead-Stufen",
    noneMore: "Senden Sie für jede Stufe eines Leads ein Ereignis: lead, qualified_lead, closed_won, oder die Namen Ihres CRM.",
    incomplete: "Es gibt mehr Stufen, als auf einmal gelesen werden können. Nur die neuesten sind gezählt.",
    backTitle: "Zurückgegangene Leads",
    backAbout:
      "Eine Stufe, die ein Lead noch einmal erreicht, wird nicht noch einmal gesendet, wenn das Ereignis die ID des Leads hat.",
    backFrom: "Von",
    backTo: "Zurück auf",
    backTime: "Zeit",
  },
};
