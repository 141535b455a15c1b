import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const spotify: PlatformTexts = {
  description: "Sendet Conversions an eine Verbindung des Spotify Ads Manager, über die Conversions API.",
  settings: {
    connection_id: {
      label: "Verbindungs-ID",
      help: "Aus dem Ads Manager: Events, View Conversions API instructions. Sie gehört zum selben Unternehmen wie das Token.",
    },
    access_token: {
      label: "Conversions-API-Token",
      help: "Wird im Ads Manager neben der Verbindungs-ID erzeugt. Es ist kein Token der Ads API.",
    },
    action_source: {
      label: "Wo Conversions stattfinden",
      help: "WEB, APP oder OFFLINE.",
    },
    phone_form: {
      label: "Form von Telefonnummern",
      help: "Spotify sagt nicht, ob das Pluszeichen einer Nummer gehasht wird: plus (mit), digits (ohne) oder none.",
    },
    dedup_id: shared.settings.dedup_id,
    limited_data: shared.settings.limited_data,
  },
  fields: {
    "event_details.content_name": "Name des Produkts oder der Seite.",
  },
  guide: {
    credentials: [
      "Öffnen Sie im Spotify Ads Manager als Business-Admin Events, verbinden Sie eine Datenquelle, und wählen Sie Conversions API.",
      "Legen Sie sie in dasselbe Dataset wie Ihr Spotify Pixel, falls Sie eines haben: Sonst werden beide gezählt.",
      "Wählen Sie die Werbekonten, und wählen Sie das Dataset als Messquelle Ihrer Kampagnen: Sonst ordnet Spotify nichts zu.",
      "Kopieren Sie unter „View Conversions API instructions“ die Verbindungs-ID, und erzeugen Sie ein Token; bis zu drei können aktiv sein, und sie laufen nicht ab.",
    ],
    sends: {
      event_name: "das Ereignis, unter Spotifys Namen dafür, oder eines seiner fünf eigenen Ereignisse",
      event_id: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist; das Pixel sendet dieselbe",
      event_time: "die Zeit der Conversion, als ISO 8601 mit Millisekunden",
      "user_data.ip_address": "IP-Adresse des Besuchs",
      "user_data.device_id": "das Cookie __spdt von Spotifys Pixel",
      "user_data.hashed_emails": "E-Mail-Adresse als SHA-256",
      "user_data.hashed_phone_number": "Telefonnummer als SHA-256, mit Pluszeichen, wenn die Verbindung nichts anderes einstellt",
      "event_details.amount, currency": "Wert und Währung",
      event_source_url: "die Seite des Besuchs ohne Query",
      opt_out_targeting: "true bei Ereignissen mit eingeschränkter Datennutzung, sonst false",
    },
    notSent: [
      "spclid: Sie ist für das Pixel; die API hat kein Feld für Klick-IDs.",
      "Eigene Ereignisnamen: Spotify hat stattdessen fünf nummerierte eigene Ereignisse.",
      "Kategorien von Inhalten: Spotify lehnt alles ab, was nicht in Googles Produkttaxonomie steht.",
      "Ein Kauf ohne Wert, weil Spotify einen verlangt.",
      "Namen, User-Agent, UTM-Felder und Artikel: Spotify hat kein Feld dafür. Es hat eines für den Namen des Inhalts, das zugeordnet werden kann (items.name).",
      "Erstattungen: Spotify kann einen Kauf nicht zurücknehmen.",
    ],
    testMode: "Spotify hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
