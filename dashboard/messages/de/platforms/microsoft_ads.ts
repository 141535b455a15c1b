import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const microsoft_ads: PlatformTexts = {
  description: "Sendet Conversions an ein UET-Tag, und späte an ein Ziel für Offline-Conversions.",
  settings: {
    dedup_id: shared.settings.dedup_id,
    tag_id: {
      label: "ID des UET-Tags",
      help: "Die Nummer des UET-Tags, zu dem die Ziele gehören: Conversions > UET-Tag.",
    },
    tag_token: {
      label: "Token des UET-Tags",
      help: "Das Token dieses Tags für die Conversions API: Tag bearbeiten, dann „Use Conversions API“. Für Ereignisse der letzten 7 Tage.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Wird durch die Anmeldung gefüllt. Nur Offline-Conversions brauchen es: Ereignisse, die älter als 7 Tage sind, oder alle ohne Token des Tags.",
    },
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    developer_token: {
      label: "Entwicklertoken",
      help: "Aus dem Entwicklerportal von Microsoft Advertising. Nur Offline-Conversions brauchen es.",
    },
    account_id: {
      label: "ID des Werbekontos",
      help: "Die Nummer des Werbekontos, dem das Offline-Ziel gehört: aid in der URL seiner Seiten.",
    },
    customer_id: {
      label: "ID des Verwaltungskontos",
      help: "Die Nummer des Verwaltungskontos: cid in der URL seiner Seiten. Microsoft verlangt sie bei den meisten Nutzern.",
    },
    offline_goal: {
      label: "Offline-Ziel",
      help: "Der genaue Name des Ziels für Offline-Conversions, für alle Ereignisse ohne eigenes. Es muss mindestens zwei Stunden alt sein.",
    },
    offline_goals: {
      label: "Offline-Ziele pro Ereignis",
      help: 'Ein JSON-Objekt aus Ereignisnamen und Zielnamen: {"lead": "Offline lead"}.',
    },
    msclkid_form: {
      label: "Form der msclkid",
      help: "with_dashes schreibt die Klick-ID als UUID für die Conversions API, die eine verlangt; in URLs hat sie oft keine Bindestriche. as_captured sendet sie unverändert.",
    },
  },
  fields: {
    "customData.eventCategory": "Die Kategorie, auf die ein Ziel passt.",
    "customData.eventLabel": "Das Label, auf das ein Ziel passt.",
    "customData.eventValue": "Der Wert, auf den ein Ziel passt; nicht der Umsatz.",
    "customData.searchTerm": "Wonach die Person gesucht hat.",
    "customData.pageType": "Für Remarketing: cart, category, home, other, product, purchase, searchresults.",
    "customData.ecommCategory": "Für Remarketing: die ID der Kategorie.",
    "customData.ecommTotalValue": "Für Remarketing: die Summe des Warenkorbs.",
  },
  guide: {
    credentials: [
      "Öffnen Sie in Microsoft Advertising Conversions > UET-Tag. Notieren Sie die Nummer des Tags, bearbeiten Sie das Tag, gehen Sie zur nächsten Seite, wählen Sie „Use Conversions API“, und kopieren Sie das Token. Es kann 15 Minuten dauern, bis das Token gilt.",
      "Erstellen Sie zu diesem Tag ein Ereignisziel, dessen Aktion dem Namen gleicht, unter dem das Ereignis gesendet wird.",
      "Für Ereignisse, die älter als 7 Tage sind, erstellen Sie auch ein Ziel für Offline-Conversions. Geben Sie hier seinen genauen Namen ein, dazu die Nummern von Werbekonto und Verwaltungskonto.",
      "Dafür brauchen Sie auch ein Entwicklertoken aus dem Entwicklerportal und eine Webanwendung in Microsoft Entra. Hinterlegen Sie deren ID und Secret (cleancast oauth app set microsoft_ads client_id=… client_secret=@file), und melden Sie sich an (cleancast sign-in SITE microsoft_ads).",
      "Bietet Ihr Konto „Use Conversions API“ noch nicht an, lassen Sie das Token des Tags leer: Dann wird jedes Ereignis als Offline-Conversion gesendet.",
    ],
    sends: {
      eventName: "das Ereignis, unter dem dafür gewählten Namen",
      eventId: "die Ereignis-ID",
      "eventTime, or ConversionTime": "die Zeit des Ereignisses",
      "userData.msclkid, or MicrosoftClickId": "die neueste msclkid",
      "userData.anonymousId": "die Besucher-ID im Cookie _uetvid",
      "userData.em, or HashedEmailAddress": "gehashte E-Mail-Adresse, nach Microsofts Regeln normalisiert",
      "userData.ph, or HashedPhoneNumber": "gehashte Telefonnummer, mit Pluszeichen",
      "userData.clientUserAgent, .clientIpAddress": "IP-Adresse und User-Agent des Besuchs",
      eventSourceUrl: "die Seite des Besuchs, ohne Query",
      "customData.transactionId": "Bestellnummer",
      "customData.value, .currency, or ConversionValue, ConversionCurrencyCode": "Wert und Währung",
      "customData.items": "Artikel: id, name, price und quantity",
      "customData.itemIds, .pageType":
        "die IDs der Artikel, und purchase, cart oder product bei einem solchen Ereignis mit Artikeln",
      adStorageConsent: "G oder D, wie die Person entschieden hat; weggelassen, solange unbekannt",
    },
    notSent: [
      "Namen und UTM-Felder: Microsoft hat keine Felder dafür.",
      "Bestellnummer, Ereignis-ID und Artikel von Offline-Conversions: Es gibt keine Felder dafür.",
      "Kategorie und Marke von Artikeln: Microsoft hat keine Felder dafür.",
      "Eine Klick-ID, die keine UUID ist: Sie würde das Ereignis ungültig machen.",
      "Erstattungen, wenn für das Ereignis refund kein Name gewählt ist: Jedes Ereignis zählt als Umsatz. Mit der Einstellung corrections der Website ändert eine Erstattung stattdessen eine Offline-Conversion oder nimmt sie zurück.",
      "Seitenaufrufe: Die meldet schon das Tag im Browser.",
    ],
    testMode: "Microsoft Advertising hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
