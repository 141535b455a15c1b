import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const ga4: PlatformTexts = {
  description: "Sendet Conversions als Ereignisse an einen Web-Stream einer Google-Analytics-4-Property.",
  settings: {
    measurement_id: {
      label: "Mess-ID",
      help: "G- und einige Buchstaben und Ziffern: Verwaltung > Datenstreams > Ihr Stream. Nicht die Stream-ID, die eine Zahl ist.",
    },
    api_secret: {
      label: "API-Secret",
      help: "Verwaltung > Datenstreams > Ihr Stream > Measurement Protocol API secrets > Erstellen.",
    },
    region: {
      label: "Region",
      help: "global, oder eu, wenn die Daten in der Europäischen Union erfasst werden müssen. Testereignisse prüft der globale Server.",
    },
    without_client_id: {
      label: "Ereignisse ohne Client-ID",
      help: "pseudonym sendet Ereignisse von Personen, deren _ga-Cookie nicht bekannt ist, unter einer erzeugten Client-ID; sie zählt als neuer Nutzer. skip sendet sie nicht.",
    },
    user_data: {
      label: "Gehashte Kontaktdaten",
      help: "on sendet gehashte E-Mail-Adresse und Telefonnummer; die Property verwendet sie, sobald dort die Erfassung von Nutzerdaten eingeschaltet ist. off lässt sie weg.",
    },
    property_id: {
      label: "Property-ID",
      help: "Eine Zahl, unter Verwaltung > Property-Details. Damit und mit einer Anmeldung wird Google gefragt, welche Käufe gezählt wurden. Zum Senden nicht nötig.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Wird durch die Anmeldung gefüllt; liest, welche Käufe gezählt wurden. Zum Senden nicht nötig.",
    },
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
  },
  fields: {
    user_id: "Ihre eigene ID der Person; sie darf die Person nicht erkennbar machen.",
    "params.affiliation": "Das Geschäft oder der Partner, der verkauft hat.",
    "params.coupon": "Der Gutschein der Bestellung.",
    "params.shipping": "Die Versandkosten.",
    "params.tax": "Die Steuer der Bestellung.",
    "params.method": "Wie sich die Person registriert hat.",
    "params.lead_source": "Woher ein Lead kam.",
    "params.search_term": "Wonach die Person gesucht hat.",
    "params.customer_type": "Die Art des Kunden: new oder returning.",
    "params.page_location": "Die URL der Seite.",
    "params.page_referrer": "Die Seite davor.",
    "params.page_title": "Der Titel der Seite.",
    "params.campaign": "Ein eigener Parameter für die Kampagne.",
    "params.source": "Ein eigener Parameter für die Quelle.",
    "params.medium": "Ein eigener Parameter für das Medium.",
  },
  guide: {
    credentials: [
      "Öffnen Sie in Google Analytics Verwaltung > Datenstreams, und wählen Sie Ihren Web-Stream. Kopieren Sie die Mess-ID, die mit G- beginnt.",
      "Öffnen Sie auf derselben Seite „Measurement Protocol API secrets“, akzeptieren Sie gegebenenfalls die Bedingungen, erstellen Sie ein Secret, und kopieren Sie seinen Wert.",
      "Markieren Sie die Ereignisse, auf die es ankommt, unter Verwaltung > Ereignisse als Schlüsselereignisse.",
      "Optional: Um zu erfahren, welche Käufe Google gezählt hat, hinterlegen Sie eine OAuth-App (cleancast oauth app set ga4 client_id=… client_secret=@file) in einem Cloud-Projekt mit der Google Analytics Data API, melden Sie sich mit einem Konto an, das die Property lesen darf (cleancast sign-in SITE ga4), und setzen Sie property_id.",
    ],
    sends: {
      client_id: "das Cookie _ga, sonst ein Pseudonym aus der gehashten E-Mail-Adresse, sonst aus der Ereignis-ID",
      timestamp_micros: "die Zeit des Ereignisses",
      "events[0].name": "das Ereignis, unter Googles Namen dafür oder dem gewählten",
      "params.transaction_id": "Bestellnummer; bei Käufen und Erstattungen ohne sie die Ereignis-ID",
      "params.event_id": "die Ereignis-ID",
      "params.value, .currency": "Wert und Währung",
      "params.items":
        "Artikel: item_id, item_name, item_category, item_brand, price und quantity, bei den Ereignissen, für die Google sie beschreibt; auch bei Erstattungen",
      "params.session_id": "das Cookie _ga_ dieser Property",
      "user_data.sha256_email_address": "gehashte E-Mail-Adresse, nach Googles Regeln normalisiert",
      "user_data.sha256_phone_number": "gehashte Telefonnummer, mit Pluszeichen",
      consent: "granted oder denied, wie die Person entschieden hat; weggelassen, solange unbekannt",
    },
    notSent: [
      "Klick-IDs und UTM-Felder: Google Analytics hat kein Feld dafür und nimmt die Quelle aus der Sitzung. Eine Zuordnung kann UTM-Felder in eigene Parameter schreiben.",
      "IP-Adresse, Standort und Gerät: Ereignisse werden dem Besuch durch Client-ID und Sitzung zugeordnet.",
      "Namen: Google hasht sie mit ihren Leerzeichen, und das Relay hat keinen solchen Hash.",
      "Bestellnummern mit mehr als 100 Zeichen: Google würde sie verwerfen. Texte von Artikeln werden auf 100 gekürzt.",
      "Artikel anderer Ereignisse, zum Beispiel von Leads und eigenen: Google verwirft ein Ereignis mit einer unerwarteten Liste.",
    ],
    testMode: "Wird an Googles Prüfserver gesendet, der Fehler meldet und nichts erfasst. Er prüft das API-Secret nicht.",
  },
};
