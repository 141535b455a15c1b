import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const axon: PlatformTexts = {
  description: "Sendet Conversions einer Website an AppLovin Axon, über die Conversion API.",
  settings: {
    event_key: {
      label: "Ereignisschlüssel",
      help: "Von der Seite Keys im AppLovin-Dashboard; der Schlüssel, mit dem Ihr Pixel eingebaut ist.",
    },
    api_key: {
      label: "Conversion-API-Schlüssel",
      help: "Von der Seite Keys im AppLovin-Dashboard oder vom Support von AppLovin. Er ist nicht der Ereignisschlüssel.",
    },
    website: {
      label: "Art der Website",
      help: "shop, leads oder restricted_leads: so, wie AppLovin Ihr Pixel eingerichtet hat. Davon hängt ab, welche Ereignisse und Felder Axon annimmt.",
    },
    default_event: {
      label: "Standardereignis",
      help: "Das Axon-Ereignis für Ereignisse, für die Axon keinen Namen hat. Ohne Angabe werden diese übersprungen.",
    },
    lead_value: {
      label: "Wert eines Leads",
      help: "Der Wert von Leads, die keinen haben, in der Währung des Ereignisses (sonst USD).",
    },
    dedup_id: shared.settings.dedup_id,
  },
  fields: {
    "user_data.user_id": "Ihre eigene ID der Person, wie Ihr Pixel sie hat; mindestens sechs Zeichen.",
    "user_data.country_code": "Land als zwei Buchstaben (US).",
    "user_data.zip": "Postleitzahl; bei einer in den USA die ersten fünf Ziffern.",
    "data.shipping": "Die Versandkosten eines Kaufs.",
    "data.tax": "Die Steuer eines Kaufs.",
  },
  guide: {
    credentials: [
      "Öffnen Sie im AppLovin-Dashboard die Seite Keys, und kopieren Sie den Ereignisschlüssel: Ihr Pixel hat denselben.",
      "Kopieren Sie von derselben Seite den Conversion-API-Schlüssel; fehlt er, fragen Sie Ihren Ansprechpartner oder den Support von AppLovin.",
      "Setzen Sie die Art der Website auf leads oder restricted_leads, wenn AppLovin Ihr Pixel für Leads eingerichtet hat.",
    ],
    sends: {
      name: "das Ereignis, unter Axons Namen dafür",
      event_time: "die Zeit der Conversion, in Millisekunden",
      event_source_url: "die Seite des Besuchs ohne Query; bei eingeschränkten Websites nur der Ursprung",
      dedupe_id: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist; das Pixel sendet dieselbe",
      "user_data.client_ip_address, client_user_agent": "IP-Adresse und User-Agent des Besuchs",
      "user_data.aleid": "aleid des Klicks oder das Cookie _axeid oder axeid, unverändert",
      "user_data.alart": "alart des Klicks oder das Cookie _axart oder axart, unverändert",
      "user_data.axwrt": "das Cookie _axwrt oder axwrt, unverändert",
      "user_data.email, phone":
        "E-Mail-Adresse und Telefonnummer (nur Ziffern), jeweils als SHA-256; nicht bei eingeschränkten Websites",
      "data.value, currency": "Wert, oder der Preis der Artikel, wenn es keinen gibt, und Währung",
      "data.items":
        "Artikel: item_id, item_name (die ID, wenn es keinen Namen gibt), item_brand, price und quantity. Ohne Artikel, oder wenn sie nicht den Wert ergeben: die Bestellung als ein Artikel mit ihrem Wert",
      "data.transaction_id": "Bestellnummer eines Kaufs, sonst die Ereignis-ID",
    },
    notSent: [
      "Ereignisse von Personen ohne Besuch: Axon verlangt Seite, IP-Adresse und User-Agent.",
      "Ereignisse, für die Axon keinen Namen hat, bis Sie einen oder einen Standard wählen: Axon hat keine eigenen Ereignisse.",
      "Eine Ansicht, ein Warenkorb, ein Checkout oder ein Kauf ohne Wert und ohne Preise der Artikel, weil Axon die ganze Anfrage ablehnt.",
      "Namen und UTM-Felder: Axon hat kein Feld dafür.",
      "Kategorien von Artikeln: Axon nimmt Nummern aus Googles Produkttaxonomie.",
      "Erstattungen: Axon kann einen Kauf nicht zurücknehmen.",
    ],
    testMode: "Axon hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
