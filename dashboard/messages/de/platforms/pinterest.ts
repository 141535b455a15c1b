import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const pinterest: PlatformTexts = {
  description: "Sendet Conversions an ein Werbekonto von Pinterest, über die Conversions API.",
  settings: {
    dedup_id: shared.settings.dedup_id,
    ad_account_id: {
      label: "ID des Werbekontos",
      help: "Die Nummer des Werbekontos im Ads Manager von Pinterest. Sie ist nicht die ID des Tags.",
    },
    access_token: {
      label: "Conversion-Token",
      help: "Aus dem Ads Manager: Conversions, Set up API, Generate new token. Es ist langlebig.",
    },
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    limited_data: shared.settings.limited_data,
  },
  fields: {
    "user_data.external_id": shared.fields["user_data.external_id"],
    "user_data.ct": shared.fields["user_data.ct"],
    "user_data.st": shared.fields["user_data.st"],
    "user_data.zp": shared.fields["user_data.zp"],
    "user_data.country": shared.fields["user_data.country"],
    "custom_data.content_name": shared.fields["custom_data.content_name"],
    "custom_data.content_category": shared.fields["custom_data.content_category"],
    "custom_data.content_brand": "Marke des Produkts.",
    "custom_data.content_ids": shared.fields["custom_data.content_ids"],
    "custom_data.num_items": shared.fields["custom_data.num_items"],
    "custom_data.search_string": shared.fields["custom_data.search_string"],
  },
  guide: {
    credentials: [
      "Öffnen Sie den Ads Manager von Pinterest als Owner, Admin, Analyst oder mit Rechten für Zielgruppen oder Kampagnen.",
      "Kopieren Sie die Nummer des Werbekontos: Sie steht in der URL des Ads Manager nach advertiser.",
      "Richten Sie unter Conversions die API ein, erzeugen Sie ein Conversion-Token, und kopieren Sie es.",
    ],
    sends: {
      event_name: "das Ereignis, unter Pinterests Namen dafür, oder custom",
      event_time: "die Zeit der Conversion, in Sekunden",
      event_id: "die Ereignis-ID; dieselbe wie die des Tags, damit Pinterest das Paar einmal zählt",
      event_source_url: "die Seite des Besuchs, ohne Query",
      "user_data.em, ph, fn, ln": "E-Mail-Adresse, Telefonnummer (nur Ziffern) und Namen, jeweils als SHA-256",
      "user_data.click_id": "epik des Klicks oder das Cookie _epik, unverändert",
      "user_data.client_ip_address, client_user_agent": "IP-Adresse und User-Agent des Besuchs",
      "custom_data.value, currency, order_id": "Wert als Text mit den Stellen seiner Währung, Währung, Bestellnummer",
      "custom_data.contents": "Artikel: id, item_name, item_category, item_brand, quantity, und item_price als Text",
      "custom_data.content_ids, num_items": "die IDs der Artikel, und ihre Stückzahl",
      opt_out: "true nach einer Ablehnung, sonst false",
    },
    notSent: [
      "Eigene Ereignisnamen: Pinterest nimmt dafür nur custom an.",
      "Erstattungen: Pinterest kann einen Checkout nicht zurücknehmen.",
      "UTM-Felder und eigene Felder: Pinterest lehnt eine Anfrage mit einem unbekannten Schlüssel ab.",
    ],
    testMode: "Wird mit test=true gesendet: Pinterest prüft das Ereignis und erfasst nichts.",
  },
};
