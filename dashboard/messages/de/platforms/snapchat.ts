import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const snapchat: PlatformTexts = {
  description: "Sendet Conversions an ein Snap Pixel, über die Conversions API.",
  settings: {
    dedup_id: shared.settings.dedup_id,
    pixel_id: {
      label: "Pixel-ID",
      help: "Die ID des Snap Pixels im Ads Manager, unter Events Manager.",
    },
    access_token: {
      label: "Conversions-API-Token",
      help: "Aus dem Business Manager: Business details, Conversions API tokens. Es ist langlebig.",
    },
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    site_url: {
      label: "URL der Website",
      help: "Snapchat verlangt zu jedem Web-Ereignis eine Seite. Ist die Seite des Besuchs unbekannt, wird diese URL gesendet; ohne sie wird ein solches Ereignis als Offline-Ereignis gesendet.",
    },
    limited_data: shared.settings.limited_data,
    ad_account_id: {
      label: "ID des Werbekontos",
      help: "Nur, um die Pixel eines Werbekontos aufzulisten; nicht nötig, wenn Sie die Pixel-ID selbst eingeben.",
    },
  },
  fields: {
    "user_data.external_id": shared.fields["user_data.external_id"],
    "user_data.ct": shared.fields["user_data.ct"],
    "user_data.st": shared.fields["user_data.st"],
    "user_data.zp": shared.fields["user_data.zp"],
    "user_data.country": shared.fields["user_data.country"],
    "custom_data.content_ids": shared.fields["custom_data.content_ids"],
    "custom_data.content_category": "Kategorien der Produkte, durch Kommas getrennt.",
    "custom_data.num_items": shared.fields["custom_data.num_items"],
    "custom_data.search_string": shared.fields["custom_data.search_string"],
  },
  guide: {
    credentials: [
      "Öffnen Sie den Ads Manager unter ads.snapchat.com, dann den Events Manager, und kopieren Sie die ID Ihres Snap Pixels.",
      "Öffnen Sie als Admin der Organisation die Business details, erzeugen Sie ein Conversions-API-Token, und kopieren Sie es.",
      "Pixel und Token müssen zur selben Organisation gehören.",
    ],
    sends: {
      event_name: "das Ereignis, unter Snapchats Namen dafür",
      event_time: "die Zeit der Conversion, in Sekunden",
      event_id: "die Ereignis-ID; dieselbe wie client_dedup_id des Pixels, damit Snapchat das Paar einmal zählt",
      action_source: "WEB, wenn eine Seite bekannt ist, sonst OFFLINE",
      event_source_url: "die Seite des Besuchs ohne Query, oder die URL der Website",
      "user_data.em, ph, fn, ln": "E-Mail-Adresse, Telefonnummer (nur Ziffern) und Namen, jeweils als SHA-256",
      "user_data.sc_click_id": "ScCid des Klicks, unverändert",
      "user_data.sc_cookie1": "das Cookie _scid",
      "user_data.client_ip_address, client_user_agent": "IP-Adresse und User-Agent des Besuchs",
      "custom_data.value, currency, order_id": "Wert, Währung und Bestellnummer",
      "custom_data.contents": "Artikel: id, quantity, item_price und brand",
      "custom_data.content_ids, num_items": "die IDs der Artikel, und ihre Stückzahl",
    },
    notSent: [
      "Eigene Ereignisnamen: Ereignisse, für die Snapchat keinen Namen hat, werden als CUSTOM_EVENT_1 gesendet; für einige können Sie CUSTOM_EVENT_2 bis CUSTOM_EVENT_5 wählen.",
      "Erstattungen: Snapchat kann einen Kauf nicht zurücknehmen.",
      "Ein Kauf ohne Wert, weil Snapchat die ganze Anfrage ablehnt.",
      "UTM-Felder: Snapchat hat kein Feld dafür.",
      "Name und Kategorie von Artikeln: Snapchat hat in einem Artikel kein Feld dafür.",
    ],
    testMode: "Wird an Snapchats Prüfendpunkt gesendet: geprüft, nie gezählt.",
  },
};
