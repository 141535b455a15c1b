// CRM systems, meetings and calls.

import type { KindTexts } from "../../../scenes/sources/kinds.ts";

export const crm: Readonly<Record<string, KindTexts>> = {
  hubspot: {
    about: "Deals und Kontakte, die eine Phase erreichen, aus einem Workflow oder einer App.",
    settings: {
      signing_secret: {
        label: "Signaturgeheimnis",
        help: "Das Client-Secret Ihrer App, falls der Workflow oder die App Anfragen signiert. Ohne es ist die Adresse allein das Geheimnis.",
      },
      stages: {
        label: "Deal-Phasen",
        help: "Welche Deal-Phase welches Ereignis ist: `closedwon=purchase, qualifiedtobuy=qualified_lead`. Verwenden Sie die internen Namen der Phasen.",
      },
      lifecycle_stages: {
        label: "Lifecycle-Phasen",
        help: "Dasselbe für Kontakte: `lead=lead, marketingqualifiedlead=qualified_lead`.",
      },
      currency: { label: "Währung", help: "Die Währung von Deals, die keine nennen, etwa EUR." },
    },
    steps: [
      "Erstellen Sie einen Workflow für Deals oder Kontakte, der beim Erreichen der Phase startet, und fügen Sie *Webhook senden* mit POST und der Adresse ADDRESS hinzu.",
      "Ein Deal hat keine E-Mail: Wählen Sie *Anfragetext anpassen*, und fügen Sie `email` aus dem zugehörigen Kontakt hinzu, mit `dealstage`, `amount`, `deal_currency_code` und `hs_object_id`.",
      "Wenn der Workflow Anfragen mit einer App signiert, kopieren Sie das Client-Secret der App in die Quelle.",
      "Tragen Sie in der Quelle ein, welche Phasen zählen.",
    ],
    retries: ["HubSpot wiederholt Anfragen von Workflows drei Tage lang, außer nach einem Status von 400 bis 499 ungleich 429."],
    notes: [
      "Webhooks einer App nennen nur das geänderte Feld, nicht die Person: Sie stehen als ignoriert in der Liste. Verwenden Sie einen Workflow.",
      "HubSpot signiert auch die Adresse: Sie muss über einen Host der Website aufgerufen werden.",
    ],
  },
  pipedrive: {
    about: "Deals, die gewonnen werden oder eine Phase erreichen.",
    settings: {
      stages: {
        label: "Phasen",
        help: "Welche Phase eines Deals welches Ereignis ist, nach den Nummern der Phasen: `3=qualified_lead, 5=lead`. Gewonnene Deals zählen auch ohne das.",
      },
    },
    steps: [
      "Öffnen Sie *Einstellungen*, *Tools und Apps*, *Webhooks* in Pipedrive, und erstellen Sie einen Webhook mit der Version 2.0.",
      "Wählen Sie *Alle* Aktionen des Objekts *Deal*, und tragen Sie ADDRESS sowie Benutzername und Passwort der Quelle ein.",
      "Erstellen Sie ebenso einen zweiten Webhook für das Objekt *Person*: Deals nennen nur die Nummer einer Person, und das Relay merkt sich die E-Mail.",
    ],
    retries: [
      "Pipedrive wiederholt eine fehlgeschlagene Anfrage nach 3, 30 und 150 Sekunden.",
      "Zehn Anfragen, die zunächst fehlschlagen, sperren den Webhook für 30 Minuten, und was inzwischen geschieht, ist verloren. Drei Tage ohne Erfolg löschen ihn.",
    ],
    notes: [
      "Ein Deal einer Person, die das Relay noch nicht gesehen hat, wartet drei Tage: Bearbeiten Sie die Person einmal in Pipedrive, und der Deal zählt.",
    ],
  },
  salesforce: {
    about: "Outbound Messages von Leads und Opportunities.",
    settings: {
      organization_id: {
        label: "Organisations-ID",
        help: "Die ID Ihrer Organisation, 15 oder 18 Zeichen. Nachrichten einer anderen werden ignoriert.",
      },
      stages: {
        label: "Phasen",
        help: "Welche Phase einer Opportunity welches Ereignis ist: `Closed Won=purchase`. Nachrichten ohne Phase haben das Ereignis oben.",
      },
    },
    steps: [
      "Öffnen Sie *Setup*, *Outbound Messages*, und erstellen Sie eine für das Objekt, mit dem Endpunkt ADDRESS und den Feldern, die Sie senden möchten. Senden Sie keine Sitzungs-ID.",
      "Eine Opportunity hat keine E-Mail: Fügen Sie ein Formelfeld `Email__c` hinzu, das sie aus dem Kontakt liest.",
      "Starten Sie sie aus einem Flow oder einer Workflow-Regel, wenn der Lead oder die Opportunity die Phase erreicht.",
      "Tragen Sie die ID Ihrer Organisation in der Quelle ein (*Setup*, *Company Information*).",
    ],
    retries: ["Salesforce wiederholt eine Nachricht, die nicht bestätigt wurde, 24 Stunden lang."],
    notes: ["Eine wiederholte Nachricht hat die neuesten Werte, nicht die vom ersten Mal."],
  },
  gohighlevel: {
    about: "Kontakte eines Workflows und gewonnene Opportunities einer App.",
    settings: {
      sender: {
        label: "Absender",
        help: "`workflow`: die Aktion *Webhook*, die nichts signiert. `app`: Ereignisse einer Marketplace-App, die signiert sind.",
      },
      won_event: {
        label: "Ereignis gewonnener Opportunities",
        help: "Der Name, unter dem gewonnene Opportunities gesendet werden.",
      },
    },
    steps: [
      "Fügen Sie einem Workflow die Aktion *Webhook* hinzu, mit der Methode POST und der Adresse ADDRESS.",
      "Fügen Sie bei Bedarf eigene Daten hinzu: `event`, `value`, `currency`, `order_id`.",
    ],
    retries: ["GoHighLevel wiederholt nur Anfragen, die mit 429 beantwortet wurden: sechsmal, im Abstand von zehn Minuten."],
  },
  calendly: {
    about: "Gebuchte Termine. Ein verschobener zählt einmal.",
    settings: {
      signing_secret: {
        label: "Signaturgeheimnis",
        help: "Der `signing_key`, den Sie beim Erstellen des Abonnements angeben.",
      },
    },
    steps: [
      "Erstellen Sie in Calendly unter *Integrations*, *API and webhooks* ein persönliches Zugriffstoken. Dafür ist ein bezahlter Tarif nötig.",
      "Erstellen Sie ein Abonnement mit `POST https://api.calendly.com/webhook_subscriptions`: `url` ist ADDRESS, `events` sind `invitee.created` und `invitee.canceled`, `signing_key` ist das Signaturgeheimnis der Quelle.",
    ],
    retries: [
      "Calendly wiederholt Anfragen 24 Stunden lang und deaktiviert dann das Abonnement ohne Nachricht: Es muss neu erstellt werden.",
    ],
  },
  calcom: {
    about: "Gebuchte Termine. Ein verschobener zählt einmal.",
    settings: {
      signing_secret: {
        label: "Signaturgeheimnis",
        help: "Das Geheimnis, das Sie beim Webhook eintragen. Ohne eines ist die Adresse allein das Geheimnis.",
      },
      count: { label: "Zählt", help: "`booked`: wenn der Termin gebucht ist. `paid`: wenn er bezahlt ist." },
    },
    steps: [
      "Öffnen Sie *Settings*, *Developer*, *Webhooks* in Cal.com, und erstellen Sie einen mit der Subscriber-URL ADDRESS.",
      "Wählen Sie die Auslöser *Booking created* und, für bezahlte Termine, *Booking paid*. Lassen Sie die Payload-Vorlage, wie sie ist.",
      "Tragen Sie dort ein langes zufälliges Geheimnis ein und dasselbe in der Quelle.",
    ],
    retries: ["Cal.com wiederholt eine fehlgeschlagene Anfrage möglicherweise nicht."],
  },
  callrail: {
    about: "Angenommene Anrufe und abgesendete Formulare, mit den Klick-IDs des Besuchs.",
    settings: {
      signing_secret: {
        label: "Signaturgeheimnis",
        help: "Der Signaturschlüssel der Firma, auf der Seite der Webhooks.",
      },
      form_event: { label: "Ereignis von Formularen", help: "Der Name, unter dem abgesendete Formulare weitergegeben werden." },
      min_seconds: { label: "Kürzester Anruf", help: "Kürzere Anrufe zählen nicht, in Sekunden." },
      good_leads: {
        label: "Nur gute Leads",
        help: "`yes` zählt einen Anruf, wenn er in CallRail als guter Lead markiert ist.",
      },
    },
    steps: [
      "Öffnen Sie *Settings*, *Integrations*, *Webhooks* der Firma in CallRail.",
      "Tragen Sie ADDRESS für *Post-call* ein, für *Call modified*, wenn Sie gute Leads markieren, und für *Form submitted*.",
      "Kopieren Sie den Signaturschlüssel dieser Seite in die Quelle.",
      "Anrufe haben keine E-Mail: Schalten Sie in den Einstellungen der Website *Conversions ohne E-Mail* ein.",
    ],
    retries: ["CallRail wiederholt eine fehlgeschlagene Anfrage möglicherweise nicht."],
  },
};
