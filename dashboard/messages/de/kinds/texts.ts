// The German texts of kinds of sources, by the kind's id. They are many, and loaded only with the pages of sources.

import type { KindTexts } from "../../../scenes/sources/kinds.ts";
import { crm } from "./crm.ts";
import { forms } from "./forms.ts";
import { mappingSettings, rules, settings } from "./shared.ts";
import { payments } from "./payments.ts";

const kinds: Readonly<Record<string, KindTexts>> = {
  ...payments,
  ...crm,
  ...forms,
  standard_webhooks: {
    about: "Jeder Absender, der wie Standard Webhooks oder Svix signiert; Sie ordnen die Felder zu.",
    settings: {
      ...mappingSettings,
      signing_secret: { label: "Signaturgeheimnis", help: "Das Geheimnis des Endpunkts beim Absender, `whsec_…`." },
    },
    steps: [
      "Fügen Sie beim Absender einen Webhook-Endpunkt mit der Adresse ADDRESS hinzu.",
      "Kopieren Sie sein Signaturgeheimnis, `whsec_…`, in die Quelle.",
      "Senden Sie eine Testanfrage, und wählen Sie die Felder daraus.",
    ],
    retries: ["Die meisten Absender dieses Verfahrens wiederholen fehlgeschlagene Anfragen einen Tag oder länger."],
  },
  custom: {
    name: "Eigene Quelle",
    about: "Jeder Absender von JSON oder Formularen; Sie sagen, wie er signiert, und ordnen die Felder zu.",
    settings: {
      ...mappingSettings,
      verification: {
        label: "Prüfung",
        help: "Wie eine Anfrage ihren Absender beweist. `address`: allein durch die geheime Adresse. `hmac hex` und `hmac base64`: Ein Header enthält den HMAC-SHA256 des Inhalts. `header`: Ein Header enthält das Geheimnis selbst.",
      },
      signature_header: { label: "Header", help: "Der Header mit der Signatur oder dem Geheimnis." },
      signing_secret: { label: "Geheimnis", help: "Das Geheimnis, das signiert oder das der Header enthält." },
    },
    steps: [
      "Tragen Sie ADDRESS beim Absender als Adresse seines Webhooks ein.",
      "Wählen Sie, wie seine Anfragen geprüft werden, und geben Sie das Geheimnis ein.",
      "Senden Sie eine Testanfrage, und wählen Sie die Felder daraus.",
    ],
    retries: [
      "Andere Antworten als 200 soll der Absender wiederholen: 503, wenn die Anfrage nicht gespeichert werden konnte, 401 bei falscher Signatur.",
    ],
  },
};

export const kindTexts = { kinds, settings, rules };
