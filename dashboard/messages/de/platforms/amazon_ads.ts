import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const amazon_ads: PlatformTexts = {
  description: "Sendet Conversions an einen Werbetreibenden von Amazon DSP, über die Events API (offene Beta).",
  settings: {
    advertiser_id: {
      label: "Advertiser-ID",
      help: "Die Nummer des Werbetreibenden in Amazon DSP (CFID).",
    },
    client_id: {
      label: "Client-ID",
      help: "Die Client-ID Ihres Profils für Login with Amazon, amzn1.application-oa2-client.…; die der App, die sich anmeldet.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Wird durch die Anmeldung gefüllt. Es läuft nach einer Stunde ab.",
    },
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    region: {
      label: "Region",
      help: "na (Nordamerika), eu (Europa) oder fe (Fernost): wo das Konto des Werbetreibenden ist.",
    },
    country: {
      label: "Land",
      help: "Wo Ihre Kunden sind, als zwei Buchstaben. Ordnen Sie countryCode zu, wenn es mehrere Länder sind.",
    },
    data_set: {
      label: "Datensatz",
      help: "Der Name des Ereignisdatensatzes, wenn Sie mehrere haben.",
    },
    event_source: {
      label: "Wo Conversions stattfinden",
      help: "Eines von WEBSITE, OFFLINE, ANDROID, IOS, FIRE_TV.",
    },
    dedup_id: shared.settings.dedup_id,
  },
  fields: {
    "match.ADDRESS": "Straße und Hausnummer; wird vor dem Senden gehasht.",
    "match.CITY": "Ort; wird vor dem Senden gehasht.",
    "match.STATE": "Bundesstaat oder Provinz; wird vor dem Senden gehasht.",
    "match.POSTAL": "Postleitzahl; wird vor dem Senden gehasht.",
    "consent.tcf": "Der IAB-TCF-Text der Person, wie Ihr Einwilligungsbanner ihn liefert.",
    "consent.gpp": "Der IAB-GPP-Text der Person, wie Ihr Einwilligungsbanner ihn liefert.",
    "match.MATCH_ID": "Ihre eigene ID der Person, wie das Amazon Ad Tag sie sendet.",
    countryCode: "Land der Conversion als zwei Buchstaben (US), statt des Lands der Verbindung.",
    unitsSold: "Wie viele Artikel gekauft wurden, bei einem Kauf: eine ganze Zahl größer als null.",
  },
  guide: {
    credentials: [
      "Legen Sie ein Sicherheitsprofil für Login with Amazon an, und beantragen Sie damit Zugang zur Amazon Ads API. Amazon genehmigt jeden Client; vorher funktioniert nichts.",
      "Kopieren Sie die Client-ID des Profils, und richten Sie die App mit ihrer ID und ihrem Secret ein; melden Sie sich dann als Nutzer des Werbetreibenden an.",
      "Kopieren Sie in Amazon DSP die Nummer des Werbetreibenden (seine CFID, nicht die Entity-ID).",
      "Wählen Sie die Region des Kontos und das Land Ihrer Kunden.",
    ],
    sends: {
      "eventDescription.name": "der eigene Name des Ereignisses",
      "eventDescription.conversionType": "Amazons Typ für das Ereignis, oder OTHER",
      eventTime: "die Zeit der Conversion, als ISO 8601 mit Millisekunden",
      countryCode: "das Land der Verbindung, oder ein zugeordnetes",
      "matchKeys EMAIL, PHONE, FIRST_NAME, LAST_NAME":
        "E-Mail-Adresse, Telefonnummer (nur Ziffern) und Namen, jeweils als SHA-256",
      "value, currencyCode":
        "Wert und Währung eines Kaufs; Amazon nimmt AED, AUD, BRL, CAD, CNY, DKK, EUR, GBP, INR, JPY, MXN, NOK, NZD, SAR, SEK, SGD, TRY, USD an",
      unitsSold: "die Stückzahl der Artikel eines Kaufs",
      eventId: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist",
      "consent.amazonConsent": "GRANTED, wenn die Person zugestimmt hat",
      "consent.tcf, consent.gpp": "die Texte Ihres Einwilligungsbanners, wenn eine Verbindung sie zuordnet",
      "consent.geo.ipAddress": "die IP-Adresse des Besuchs, wenn keine Entscheidung bekannt ist",
    },
    notSent: [
      "aref: Amazon nimmt Tokens an, die daraus gebildet werden, in einer nicht veröffentlichten Form. Sie wird für später erfasst.",
      "Werte in anderen Währungen, und Werte von Ereignissen, die keine Käufe sind: Amazon würde sie für Punktwerte halten.",
      "LIMITED_DATA_USE: Amazon verarbeitet ein solches Ereignis gar nicht.",
      "User-Agent, UTM-Felder und die Artikel selbst: Amazon hat kein Feld dafür.",
      "Erstattungen: Amazon kann einen Kauf nicht zurücknehmen.",
    ],
    testMode: "Amazon hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
