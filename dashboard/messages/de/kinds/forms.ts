import type { KindTexts } from "../../../scenes/sources/kinds.ts";

const secret = (help: string) => ({ signing_secret: { label: "Signaturgeheimnis", help } });

export const forms: Readonly<Record<string, KindTexts>> = {
  typeform: {
    about: "Antworten eines Formulars.",
    settings: secret("Das Geheimnis, das Sie beim Webhook des Formulars eintragen."),
    steps: [
      "Öffnen Sie das Formular in Typeform, dann *Connect*, *Webhooks* und *Add a webhook* mit der Adresse ADDRESS.",
      "Bearbeiten Sie ihn, und tragen Sie das Geheimnis der Quelle ein. Schalten Sie den Webhook ein.",
      "Um Anzeigen zuzuordnen, fügen Sie `gclid` und `fbclid` als verborgene Felder des Formulars hinzu: Der Einbettungscode füllt sie aus der Adresse der Seite.",
    ],
    retries: ["Typeform wiederholt fehlgeschlagene Anfragen mehrere Stunden lang und schaltet den Webhook bei 404 oder 410 ab."],
  },
  tally: {
    about: "Antworten eines Formulars.",
    settings: secret("Das Signaturgeheimnis des Webhooks. Ohne eines ist die Adresse allein das Geheimnis."),
    steps: [
      "Öffnen Sie das Formular in Tally, dann *Integrations*, *Webhooks*, und verbinden Sie ADDRESS.",
      "Fügen Sie ein Signaturgeheimnis hinzu, und geben Sie dasselbe in der Quelle ein.",
      "Um Anzeigen zuzuordnen, fügen Sie `gclid` und `fbclid` als verborgene Felder des Formulars hinzu.",
    ],
    retries: ["Tally wiederholt eine fehlgeschlagene Anfrage nach 5 Minuten, 30 Minuten, 1 Stunde, 6 Stunden und 24 Stunden."],
  },
  jotform: {
    about: "Antworten eines Formulars.",
    steps: [
      "Öffnen Sie das Formular in Jotform, dann *Settings*, *Integrations*, *WebHooks*, und fügen Sie ADDRESS hinzu.",
      "Um Anzeigen zuzuordnen, fügen Sie verborgene Felder mit den Namen `gclid` und `fbclid` hinzu.",
    ],
    retries: [
      "Jotform signiert nichts: Halten Sie die Adresse geheim. Ob Jotform fehlgeschlagene Anfragen wiederholt, ist nicht bekannt.",
    ],
  },
  webflow: {
    about: "Abgesendete Formulare.",
    settings: secret(
      "Das Geheimnis eines Webhooks, den die API erstellt hat, oder das Client-Secret einer App. Webhooks des Dashboards signieren nichts: Lassen Sie es weg.",
    ),
    steps: [
      "Öffnen Sie *Site settings*, *Apps & integrations*, *Webhooks* in Webflow, und fügen Sie einen für *Form submission* mit der Adresse ADDRESS hinzu.",
      "Um Anzeigen zuzuordnen, fügen Sie dem Formular verborgene Felder mit den Namen `gclid` und `fbclid` hinzu.",
    ],
    retries: ["Webflow versucht es dreimal, im Abstand von zehn Minuten."],
  },
};
