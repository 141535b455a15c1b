// Payments and shops.

import type { KindTexts } from "../../../scenes/sources/kinds.ts";

const secret = (help: string) => ({ signing_secret: { label: "Signaturgeheimnis", help } });

export const payments: Readonly<Record<string, KindTexts>> = {
  stripe: {
    about: "Zahlungen aus Checkout und Payment Links, Abonnements und Erstattungen.",
    settings: {
      ...secret("Das Signaturgeheimnis des Endpunkts, `whsec_…`. Sandbox und Live-Modus haben je eines."),
      invoices: {
        label: "Rechnungen",
        help: "`subscriptions`: die erste Rechnung eines Abonnements, die mit ihrem Checkout einmal zählt. `renewals`: auch spätere. `all`: auch Rechnungen, die Sie von Hand senden. `none`: nur Checkouts.",
      },
    },
    steps: [
      "Öffnen Sie Workbench im Stripe-Dashboard, dann *Webhooks* und *Add destination*.",
      "Wählen Sie die Ereignisse `checkout.session.completed`, `checkout.session.async_payment_succeeded`, `invoice.paid`, `charge.refunded`, `customer.created` und `customer.updated`.",
      "Wählen Sie *Webhook endpoint*, und tragen Sie ADDRESS ein.",
      "Kopieren Sie das Signaturgeheimnis des neuen Endpunkts, `whsec_…`, in die Quelle.",
    ],
    retries: [
      "Stripe wiederholt eine Live-Anfrage bis zu drei Tage lang, eine der Sandbox dreimal.",
      "Ereignisse einer Sandbox sind Testereignisse, welchen Modus die Quelle auch hat.",
    ],
    notes: [
      "Eine Erstattung findet ihre Bestellung durch den Payment Intent, den sich das Relay mit der Bestellung merkt.",
      "Checkout sendet mit dem Ereignis keine Positionen, daher werden keine weitergegeben.",
    ],
  },
  shopify: {
    about: "Bezahlte Bestellungen, Erstattungen und Stornierungen.",
    settings: secret("Der Text unter der Liste der Webhooks im Admin-Bereich oder das Client-Secret Ihrer App."),
    steps: [
      "Öffnen Sie *Einstellungen*, *Benachrichtigungen*, *Webhooks* im Shopify-Admin.",
      "Erstellen Sie einen Webhook für *Bestellzahlung*, Format JSON, mit der Adresse ADDRESS. Wiederholen Sie das für *Rückerstattung erstellen* und *Bestellstornierung*.",
      "Kopieren Sie den Text unter der Liste, mit dem Ihre Webhooks signiert werden, in die Quelle.",
    ],
    retries: [
      "Shopify wiederholt eine fehlgeschlagene Anfrage achtmal innerhalb von vier Stunden.",
      "Es erwartet eine Antwort binnen fünf Sekunden und entfernt Webhooks einer App nach acht Fehlern in Folge.",
    ],
    notes: [
      "Erstattungen nennen keine E-Mail: Sie finden ihre Bestellung durch die Nummer, die sich das Relay von der bezahlten Bestellung merkt.",
    ],
  },
  woocommerce: {
    about: "Bezahlte Bestellungen und Erstattungen, für Shops, die das Plugin nicht installieren können.",
    settings: secret("Das Geheimnis, das Sie beim Webhook eintragen."),
    steps: [
      "Öffnen Sie *WooCommerce*, *Einstellungen*, *Erweitert*, *Webhooks* und *Webhook hinzufügen*.",
      "Wählen Sie den Status *Aktiv*, das Thema *Bestellung aktualisiert*, und tragen Sie ADDRESS als Auslieferungs-URL ein.",
      "Tragen Sie dort das Geheimnis der Quelle ein.",
    ],
    retries: [
      "WooCommerce wiederholt nie eine Anfrage und deaktiviert den Webhook nach mehr als fünf Fehlern in Folge.",
      "Das Plugin dieses Projekts wiederholt Anfragen und liest die Einwilligung: Verwenden Sie es, wo Sie können.",
    ],
  },
  paddle: {
    about: "Abgeschlossene Transaktionen und Erstattungen.",
    settings: secret("Der geheime Schlüssel des Benachrichtigungsziels."),
    steps: [
      "Öffnen Sie *Developer tools*, *Notifications* in Paddle, und erstellen Sie ein Ziel vom Typ URL mit ADDRESS.",
      "Wählen Sie `transaction.completed`, `customer.created`, `customer.updated`, `adjustment.created` und `adjustment.updated`.",
      "Kopieren Sie den geheimen Schlüssel des Ziels in die Quelle.",
      "Für ein Sandbox-Konto setzen Sie den Modus der Quelle auf test.",
    ],
    retries: ["Paddle wiederholt eine Live-Anfrage 60-mal in drei Tagen. Es erwartet genau 200 binnen fünf Sekunden."],
    notes: ["Transaktionen nennen nur eine Kunden-ID: Das Relay merkt sich die E-Mail aus dem Ereignis des Kunden."],
  },
  lemonsqueezy: {
    about: "Bestellungen, Verlängerungen und Erstattungen.",
    settings: secret("Das Signaturgeheimnis, das Sie beim Webhook eintragen, 6 bis 40 Zeichen."),
    steps: [
      "Öffnen Sie *Settings*, *Webhooks* in Lemon Squeezy, und fügen Sie einen mit der Callback-URL ADDRESS hinzu.",
      "Tragen Sie dort das Signaturgeheimnis der Quelle ein.",
      "Wählen Sie `order_created`, `order_refunded`, `subscription_payment_success` und `subscription_payment_refunded`.",
    ],
    retries: [
      "Lemon Squeezy wiederholt eine fehlgeschlagene Anfrage dreimal, nach etwa 5, 25 und 125 Sekunden. Es erwartet genau 200.",
    ],
    notes: ["Um Anzeigen zuzuordnen, geben Sie `checkout[custom][gclid]` in der Adresse des Checkouts an."],
  },
  chargebee: {
    about: "Zahlungen von Rechnungen und Erstattungen.",
    steps: [
      "Öffnen Sie *Settings*, *Configure Chargebee*, *Webhooks*, und fügen Sie einen mit der Adresse ADDRESS und der API-Version 2 hinzu.",
      "Schützen Sie ihn mit Basic Authentication, und tragen Sie Benutzername und Passwort der Quelle ein.",
      "Wählen Sie die Ereignisse *Payment Succeeded*, *Payment Refunded*, *Customer Created* und *Customer Changed*.",
      "Für eine Test-Site setzen Sie den Modus der Quelle auf test.",
    ],
    retries: ["Chargebee wiederholt eine fehlgeschlagene Anfrage siebenmal, nach zwei Minuten bis zwei Tagen."],
  },
};
