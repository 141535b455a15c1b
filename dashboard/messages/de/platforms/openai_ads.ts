import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const openai_ads: PlatformTexts = {
  description: "Sendet Conversions an ein Pixel von OpenAI Ads (Anzeigen in ChatGPT), über die Conversions API.",
  settings: {
    pixel_id: {
      label: "Pixel-ID",
      help: "Die ID des Pixels auf dem Reiter Conversions des Ads Manager.",
    },
    api_key: {
      label: "Conversions-API-Schlüssel",
      help: "Vom Reiter Conversions des Ads Manager. Er wird einmal angezeigt und ist nicht der Schlüssel der Advertiser API.",
    },
    action_source: {
      label: "Wo Conversions stattfinden",
      help: "Eines von web, mobile_app, offline, physical_store, phone_call, email, other. OpenAI vergleicht nur Web-Ereignisse mit seinem Pixel.",
    },
    site_url: {
      label: "URL der Website",
      help: "OpenAI verlangt zu jedem Web-Ereignis eine Seite. Ist die Seite des Besuchs unbekannt, wird diese URL gesendet; ohne sie wird ein solches Ereignis mit der action_source other gesendet.",
    },
    dedup_id: shared.settings.dedup_id,
    limited_data: shared.settings.limited_data,
  },
  fields: {
    "user.external_ids_sha256": "Ihre eigene ID der Person, wie Ihr Pixel sie hat; wird vor dem Senden gehasht.",
    "user.countries": "Land als zwei Buchstaben (DE).",
    "user.regions": "Bundesland oder Region; OpenAI nimmt es ungehasht an.",
    "user.cities": "Ort; OpenAI nimmt ihn ungehasht an.",
    "user.postal_codes": "Postleitzahl; OpenAI nimmt sie ungehasht an.",
  },
  guide: {
    credentials: [
      "Öffnen Sie im Ads Manager von OpenAI den Reiter Conversions, und kopieren Sie die ID des Pixels.",
      "Erstellen Sie auf demselben Reiter einen Conversions-API-Schlüssel; er wird einmal angezeigt. Ein Schlüssel der Advertiser API oder der OpenAI-Plattform funktioniert hier nicht.",
      "Erstellen Sie für jeden Ereignistyp, den Sie senden (order_created, lead_created …), eine Einstellung für Conversion-Ereignisse, und verbinden Sie sie mit Ihren Kampagnen: OpenAI zählt keine anderen Ereignisse.",
    ],
    sends: {
      id: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist; das Pixel sendet dieselbe als event_id",
      type: "das Ereignis: eines von OpenAI, sonst custom mit custom_event_name",
      timestamp_ms: "die Zeit der Conversion, in Millisekunden",
      action_source: "web, wenn eine Seite bekannt ist, sonst other, falls die Verbindung nichts anderes einstellt",
      source_url: "die Seite des Besuchs ohne Query, oder die URL der Website",
      oppref: "oppref des Klicks oder des Cookies __oppref, unverändert",
      "user.obref": "das Cookie __obref, unverändert",
      "user.emails_sha256, phone_numbers_sha256": "E-Mail-Adresse und Telefonnummer (nur Ziffern), jeweils als SHA-256",
      "user.first_names_sha256, last_names_sha256": "Namen, jeweils als SHA-256",
      "user.ip_address, user_agent": "IP-Adresse und User-Agent des Besuchs",
      "data.amount, currency": "Wert in der kleinsten Einheit (4990 für 49.90 EUR), und seine Währung",
      "data.contents":
        "Artikel: id, name, quantity, amount und currency, mit dem content_type product; bei Ereignistypen mit contents",
      opt_out: "true bei Ereignissen mit eingeschränkter Datennutzung, sonst false",
    },
    notSent: [
      "Erstattungen: OpenAI kann eine Bestellung nicht zurücknehmen.",
      "UTM-Felder: OpenAI hat kein Feld dafür.",
      "Artikel von Leads, Registrierungen, Abos und eigenen Ereignissen, und Kategorie und Marke von Artikeln: OpenAI hat kein Feld dafür.",
      "Bestellnummern haben kein eigenes Feld; sie können als ID dienen.",
      "Eine Klick-ID oder ein Cookie mit Leerzeichen oder mit mehr als 2048 Zeichen.",
    ],
    testMode: "Wird mit validate_only gesendet: OpenAI prüft das Ereignis und speichert nichts.",
  },
};
