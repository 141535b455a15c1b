import type { Translation } from "../catalogue.ts";
import type { repairsText } from "../repairs.ts";

export const repairs: Translation<typeof repairsText> = {
  repair: {
    resume: "Fortsetzen",
    testCode: "Testcode eintragen",
    conversionAction: "Conversion-Aktion wählen",
    conversionRule: "Conversion-Regel wählen",
    eventTag: "Ereignis-Tag wählen",
    events: "Ereignisse wählen",
    tag: "Tag prüfen",
  },
  test: {
    title: "Testereignis",
    connectFirst: (platform) =>
      `Verbinden Sie zuerst ${platform}. Die Vorschau zeigt, was die Plattform erhalten würde.`,
    about: "Sendet ein Beispielereignis. Es wird nie gezählt und berührt keine echten Conversions.",
    usesSaved: "Der Test verwendet die gespeicherten Einstellungen, ohne Ihre ungespeicherten Änderungen.",
    name: "Name des Ereignisses",
    send: "Testereignis senden",
    saveAndSend: "Code speichern und senden",
    log: "Ereignisse von Testschlüsseln",
    aboutLog: (platform) =>
      `Ereignisse, die mit einem Testschlüssel kommen, durchlaufen alles, und ${platform} erhält sie in seinem eigenen Testmodus. Sie werden nie gezählt.`,
    createKey: "Testschlüssel erstellen",
    viewLog: "Testzustellungen ansehen",
    adminsOnly: "Nur Admins können Testereignisse senden.",
    skipped: "Nicht gesendet: Es würde übersprungen",
    accepted: (platform) => `${platform} hat es angenommen`,
    rejected: (platform) => `${platform} hat es abgelehnt`,
    unauthorized: (platform) => `${platform} hat die Zugangsdaten nicht akzeptiert`,
    signInAgain: "Melden Sie sich erneut an, oder geben Sie unter Verbindung ein neues Token ein.",
    unavailable: (platform) => `${platform} ist vorübergehend nicht verfügbar`,
    retried: "Eine echte Conversion würde automatisch erneut gesendet.",
    answer: (platform) => `Antwort von ${platform}`,
    sent: "Gesendete Anfrage",
    response: "Antwort",
    request: "Anfrage",
  },
};
