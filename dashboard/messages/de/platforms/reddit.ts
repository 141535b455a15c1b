import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const reddit: PlatformTexts = {
  description: "Sendet Conversions an ein Pixel von Reddit Ads, über die Conversions API.",
  settings: {
    access_token: {
      label: "Conversion-Zugriffstoken",
      help: "Aus dem Events Manager, Conversions API; oder durch die Anmeldung gefüllt.",
    },
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    ad_account_id: {
      label: "Werbekonto",
      help: "Die ID des Werbekontos; nur nötig, um das Pixel aus einer Liste zu wählen.",
    },
    pixel_id: {
      label: "Pixel-ID",
      help: "Die ID des Pixels im Events Manager, oft dieselbe wie die des Werbekontos.",
    },
    test_id: {
      label: "Test-ID",
      help: "Aus Event Testing im Events Manager; Ereignisse von Testschlüsseln werden damit gesendet und erscheinen dort.",
    },
    action_source: {
      label: "Wo Conversions stattfinden",
      help: "WEBSITE, APP, PHYSICAL_STORE oder OTHER. Reddit berichtet sie getrennt und vergleicht nur WEBSITE mit seinem Pixel.",
    },
    dedup_id: shared.settings.dedup_id,
    uuid_form: {
      label: "Form der Browser-ID",
      help: "Die Quellen widersprechen sich, wie Reddit das Cookie _rdt_uuid erwartet: id (was nach dem Punkt folgt) oder cookie (der ganze Wert).",
    },
    unmatched: {
      label: "Ereignisse ohne Abgleichsdaten",
      help: "skip, oder send: Reddit kann sie zählen oder ablehnen. Das schließt Ereignisse von Personen ein, die abgelehnt haben.",
    },
    limited_data: shared.settings.limited_data,
    limited_data_region: {
      label: "Region der eingeschränkten Datennutzung",
      help: "Land und Region, deren Gesetz die eingeschränkte Datennutzung verlangt, wie US-CA; wird mit eingeschränkten Ereignissen gesendet.",
    },
  },
  fields: {
    "metadata.item_count":
      "Wie viele Artikel: eine ganze Zahl. Wird mit Käufen, Warenkörben, Wunschlisten und eigenen Ereignissen gesendet.",
    "user.external_id": "Ihre eigene ID der Person; wird vor dem Senden gehasht.",
  },
  guide: {
    credentials: [
      "Öffnen Sie in Reddit Ads den Events Manager, und kopieren Sie die ID des Pixels; sie beginnt oft mit a2_ oder t2_.",
      "Erzeugen Sie unter Conversions API ein Conversion-Zugriffstoken, und fügen Sie es hier ein. Es wird einmal angezeigt, läuft nie ab, und ein Unternehmen darf fünf haben.",
      "Oder melden Sie sich an, wenn Ihr Betreiber eine Reddit-App mit den Berechtigungen adsconversions und adsread eingerichtet hat; dann lässt sich das Pixel aus einer Liste wählen.",
      "Öffnen Sie für Testereignisse im Events Manager Event Testing, und kopieren Sie die Test-ID.",
    ],
    sends: {
      event_at: "die Zeit der Conversion, in Millisekunden",
      type: "das Ereignis: eines von Reddit, sonst CUSTOM mit dem Namen des Ereignisses; für jedes eines, wenn mehrere gewählt sind",
      action_source: "WEBSITE, wenn die Verbindung nichts anderes einstellt",
      event_source_url: "die Seite des Besuchs, nur bei WEBSITE",
      click_id: "rdt_cid des Klicks",
      "user.email": "die gehashte E-Mail-Adresse, nach Reddits Regeln normalisiert, sonst wie vom Absender gehasht",
      "user.phone_number": "die gehashte Telefonnummer, mit Pluszeichen",
      "user.uuid": "_rdt_uuid, das Cookie von Reddits Pixel",
      "user.ip_address and user.user_agent": "des Besuchs",
      "metadata.conversion_id": "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist",
      "metadata.value and currency": "Wert und Währung; nicht bei Besuchen, Ansichten und Suchen",
      "metadata.products": "Artikel: id, name, category, item_price und quantity",
      "metadata.item_count": "die Stückzahl der Artikel; bei Käufen, Warenkörben, Wunschlisten und eigenen Ereignissen",
    },
    notSent: [
      "Namen und UTM-Felder: Reddit hat kein Feld dafür.",
      "Bestellnummern haben kein eigenes Feld; sie können als Conversion-ID dienen.",
      "Ein Cookie _rdt_uuid ohne UUID.",
      "Marken von Artikeln: Reddit hat kein Feld dafür.",
      "Klick-ID, Cookie, IP-Adresse und User-Agent bei Conversions in einem Geschäft: Reddit nimmt dort nur Kontaktdaten an.",
    ],
    testMode:
      "Wird mit der Test-ID der Verbindung an Event Testing gesendet, ein Ereignis pro Anfrage; ohne Test-ID wird es übersprungen.",
  },
};
