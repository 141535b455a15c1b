import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const meta: PlatformTexts = {
  description: "Sendet Conversions an ein Dataset (Pixel) von Meta für Anzeigen auf Facebook und Instagram.",
  settings: {
    pixel_id: {
      label: "Dataset-ID (Pixel-ID)",
      help: "Die Nummer des Datasets im Events Manager von Meta, unter Einstellungen.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Aus dem Events Manager: das Dataset, Einstellungen, Conversions API, Zugriffstoken erzeugen.",
    },
    expires_at: shared.settings.expires_at,
    test_event_code: shared.settings.test_event_code,
    action_source: {
      label: "Wo Conversions stattfinden",
      help: "website: auf der Website; ist der Besuch unbekannt, wird system_generated gesendet. Oder immer eines von system_generated, email, phone_call, chat, other.",
    },
    limited_data: shared.settings.limited_data,
    api_version: {
      label: "Version der Graph API",
      help: "Die Version der Graph API von Meta. Ändern Sie sie nur, wenn Meta die eingestellte abgeschaltet hat.",
    },
    ad_account_id: {
      label: "Werbekonto",
      help: "Die Nummer eines Werbekontos; nur nötig, um das Dataset aus einer Liste zu wählen.",
    },
  },
  fields: {
    "user_data.external_id": shared.fields["user_data.external_id"],
    "user_data.ct": shared.fields["user_data.ct"],
    "user_data.st": shared.fields["user_data.st"],
    "user_data.zp": shared.fields["user_data.zp"],
    "user_data.country": shared.fields["user_data.country"],
    "user_data.lead_id": "Die ID eines Leads aus einem Formular auf Facebook oder Instagram, wie Meta sie vergeben hat: Ziffern.",
    "custom_data.content_name": shared.fields["custom_data.content_name"],
    "custom_data.content_category": shared.fields["custom_data.content_category"],
    "custom_data.content_type": "product oder product_group.",
    "custom_data.content_ids": shared.fields["custom_data.content_ids"],
    "custom_data.num_items": shared.fields["custom_data.num_items"],
    "custom_data.predicted_ltv": "Der erwartete Wert des Kunden.",
    "custom_data.search_string": shared.fields["custom_data.search_string"],
    "custom_data.status": "Der Status einer Registrierung.",
    "custom_data.lead_event_source": "Der Name des CRM, aus dem das Ereignis kommt.",
    "custom_data.event_source": "crm, wenn das Ereignis aus einem CRM kommt.",
    "custom_data.utm_source": "Eine eigene Eigenschaft, gedacht für utm_source.",
    "custom_data.utm_medium": "Eine eigene Eigenschaft, gedacht für utm_medium.",
    "custom_data.utm_campaign": "Eine eigene Eigenschaft, gedacht für utm_campaign.",
    "custom_data.utm_term": "Eine eigene Eigenschaft, gedacht für utm_term.",
    "custom_data.utm_content": "Eine eigene Eigenschaft, gedacht für utm_content.",
  },
  guide: {
    credentials: [
      "Öffnen Sie den Events Manager unter business.facebook.com/events_manager, und wählen Sie das Dataset (Pixel) Ihrer Website.",
      "Kopieren Sie unter Einstellungen die Dataset-ID.",
      "Wählen Sie weiter unten bei Conversions API die Einrichtung mit direkter Integration, und erzeugen Sie ein Zugriffstoken; kopieren Sie es sofort, es wird nur dort angezeigt. Ein solches Token läuft nicht ab und braucht keine App-Prüfung.",
      "Für Testereignisse: Kopieren Sie den Code auf der Seite „Test events“.",
    ],
    sends: {
      event_name: "das Ereignis, unter Metas Standardnamen oder seinem eigenen",
      event_time: "die Zeit der Conversion, in Sekunden",
      event_id: "die Ereignis-ID; dieselbe wie die des Pixels, damit Meta das Paar einmal zählt",
      action_source: "website, wenn der Besuch bekannt ist, sonst system_generated",
      event_source_url: "die Seite des Besuchs, ohne Query",
      "user_data.em, ph, fn, ln": "E-Mail-Adresse, Telefonnummer (nur Ziffern) und Namen, jeweils als SHA-256",
      "user_data.fbc": "das Cookie _fbc, oder fbclid mit der Zeit des Klicks",
      "user_data.fbp": "das Cookie _fbp",
      "user_data.client_ip_address, client_user_agent": "IP-Adresse und User-Agent des Besuchs",
      "custom_data.value, currency, order_id": "Wert, Währung und Bestellnummer",
      "custom_data.contents": "Artikel: id, quantity und item_price",
      "custom_data.content_ids, content_type": "die IDs der Artikel, und product",
      "custom_data.num_items": "die Stückzahl der Artikel, bei Purchase und InitiateCheckout",
    },
    notSent: [
      "UTM-Felder, wenn Sie sie nicht zuordnen: Meta hat kein Feld dafür.",
      "Erstattungen: Meta kann einen Kauf nicht zurücknehmen.",
      "Ein Kauf ohne Wert, weil Meta die ganze Anfrage ablehnt.",
      "Name, Kategorie und Marke von Artikeln, wenn Sie sie nicht zuordnen: Meta hat einen Namen und eine Kategorie für das ganze Ereignis.",
      "Cookies _fbc und _fbp, die nicht die Form fb.1.MILLISEKUNDEN.ID haben, und Klick-IDs mit ungültigen Zeichen.",
    ],
    testMode:
      "Braucht den Testereignis-Code der Verbindung und erscheint auf der Seite „Test events“. Verwenden Sie erfundene Personen: Meta zählt Testereignisse womöglich auch.",
  },
};
