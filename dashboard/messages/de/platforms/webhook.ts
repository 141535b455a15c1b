import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";

export const webhook: PlatformTexts = {
  description: "Sendet jede Conversion an Ihren eigenen HTTPS-Endpunkt.",
  settings: {
    url: {
      label: "URL",
      help: "Die HTTPS-URL, die jede Conversion erhält. Sie muss aus dem Internet erreichbar sein.",
    },
    method: {
      label: "Methode",
      help: "POST, PUT oder PATCH.",
    },
    headers: {
      label: "Header",
      help: 'Ein JSON-Objekt aus Header-Namen und Werten, zum Beispiel {"Authorization": "Bearer …"}.',
    },
    signing_secret: {
      label: "Signaturgeheimnis",
      help: "Signiert jede Anfrage nach Standard Webhooks. Lassen Sie es weg, erzeugt das Relay eines und zeigt es einmal.",
    },
    template: {
      label: "Vorlage des Inhalts",
      help: 'Der JSON-Inhalt, mit Feldern der Conversion in doppelten geschweiften Klammern: {"order": "{{orderId}}", "total": "{{value}}"}. Ohne Vorlage wird die ganze Conversion gesendet.',
    },
    success: {
      label: "Erfolgsregel",
      help: "Die Antworten, die „angenommen“ bedeuten: Status (2xx, 200-204, 409) und Bedingungen an den JSON-Inhalt (ok=true).",
    },
  },
};
