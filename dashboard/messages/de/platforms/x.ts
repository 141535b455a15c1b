import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const x: PlatformTexts = {
  description: "Zählt Conversions für Ereignis-Tags von X Ads, über die Conversion API.",
  settings: {
    pixel_id: {
      label: "Pixel-ID",
      help: "Die ID des Pixels im Events Manager, einige Buchstaben und Ziffern.",
    },
    access_token: {
      label: "Pixel-Token",
      help: "Das Token, das der Events Manager für die Conversion API dieses Pixels erzeugt.",
    },
    consumer_key: {
      label: "Consumer Key",
      help: "Nur ohne Pixel-Token: einer der vier Schlüssel einer App, die für die X Ads API zugelassen ist.",
    },
    consumer_secret: {
      label: "Consumer Secret",
      help: "Nur ohne Pixel-Token: einer der vier Schlüssel einer App, die für die X Ads API zugelassen ist.",
    },
    oauth_token: {
      label: "OAuth-1.0a-Access-Token",
      help: "Nur ohne Pixel-Token: einer der vier Schlüssel einer App, die für die X Ads API zugelassen ist.",
    },
    oauth_token_secret: {
      label: "OAuth-1.0a-Token-Secret",
      help: "Nur ohne Pixel-Token: einer der vier Schlüssel einer App, die für die X Ads API zugelassen ist.",
    },
    default_event: {
      label: "Standard-Ereignis-Tag",
      help: "Das Tag für Ereignisse ohne eigenes; mehrere durch Kommas getrennt. Ohne Angabe werden nur Ereignisse mit eigenem Tag gesendet.",
    },
    dedup_id: shared.settings.dedup_id,
  },
  fields: {
    number_items: "Wie viele Artikel gekauft wurden: eine ganze Zahl größer als null.",
    search_string: "Wonach gesucht wurde.",
    description: "Alles andere über die Conversion, zum Beispiel die Bestellnummer.",
  },
  guide: {
    credentials: [
      "Öffnen Sie in X Ads den Events Manager, und wählen Sie Ihr Pixel; seine ID steht neben dem Namen.",
      "Wählen Sie die manuelle Installation mit der Conversion API, und erzeugen Sie ein Zugriffstoken: Das ist das Pixel-Token, das Sie hier einfügen.",
      "Ohne Pixel-Token fügen Sie die vier OAuth-1.0a-Schlüssel einer App mit Zugang zur Ads API ein: Consumer Key und Secret, Access Token und Secret eines Nutzers, der das Werbekonto verwaltet. Erstellen Sie das Access Token, nachdem die App genehmigt wurde.",
      "Erstellen Sie für jedes Ereignis, das zählen soll, ein Tag für ein einzelnes Ereignis, und geben Sie seine ID ein: event.purchase=tw-…, oder ein Standard-Tag für alle Ereignisse.",
    ],
    sends: {
      event_id: "das Ereignis-Tag, das die Verbindung für das Ereignis hat; bei mehreren eine Conversion für jedes",
      conversion_time: "die Zeit der Conversion, als ISO 8601 mit Millisekunden",
      conversion_id: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist",
      "identifiers.twclid": "twclid des Klicks, sonst des Cookies des Pixels",
      "identifiers.hashed_email": "die gehashte E-Mail-Adresse",
      "identifiers.hashed_phone_number": "die gehashte Telefonnummer, mit Pluszeichen",
      "identifiers.ip_address and user_agent":
        "IPv4-Adresse und Browser des Besuchs; ohne IPv4-Adresse geht der Browser mit einer anderen Kennung",
      "value and price_currency": "Wert und Währung, mit zwei Nachkommastellen",
      contents: "Artikel: content_id, content_name, content_price und num_items",
      number_items: "die Stückzahl der Artikel",
    },
    notSent: [
      "Namen, Seite und UTM-Felder: X hat kein Feld dafür.",
      "Bestellnummern haben kein eigenes Feld; sie können als Conversion-ID dienen oder der Beschreibung zugeordnet werden.",
      "IPv6-Adressen: X nimmt nur IPv4 an.",
      "Eine dritte Nachkommastelle von Währungen, die eine haben: X nimmt bekanntermaßen zwei an.",
      "Klick-IDs mit ungültigen Zeichen.",
      "Kategorie und Marke von Artikeln: X hat kein Feld für die Marke und sagt nicht, was content_type sein darf.",
    ],
    testMode: "X hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
