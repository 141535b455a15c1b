import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const google_ads: PlatformTexts = {
  description: "Sendet Conversions an Conversion-Aktionen von Google Ads, über die Data Manager API.",
  settings: {
    customer_id: {
      label: "Kundennummer",
      help: "Das Google-Ads-Konto, dem die Conversion-Aktionen gehören, wie 123-456-7890. Nicht sein Verwaltungskonto.",
    },
    access_token: shared.settings.access_token,
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    conversion_action: {
      label: "Conversion-Aktion",
      help: "Die Nummer der Conversion-Aktion für alle Ereignisse ohne eigene; mehrere durch Kommas getrennt.",
    },
    login_customer_id: {
      label: "Verwaltungskonto",
      help: "Das Verwaltungskonto, über das Sie auf das Konto zugreifen. Leer, wenn Sie direkt zugreifen.",
    },
    enhanced_conversions_for_leads: {
      label: "Erweiterte Conversions für Leads",
      help: "on sendet gehashte E-Mail-Adresse und Telefonnummer, auch für Ereignisse ohne Klick-ID. Schalten Sie es zuerst in Google Ads ein und akzeptieren Sie dort die Bedingungen für Kundendaten: Sonst lehnt Google die Ereignisse ab.",
    },
    tag_conversions: {
      label: "Zusätzliche Daten für das Google-Tag",
      help: "on ergänzt Conversions, die das Google-Tag meldet, über die Bestellnummer: Wählen Sie Conversion-Aktionen vom Typ Website, und schalten Sie dort erweiterte Conversions ein. Bestellnummern werden gesendet, wie sie sind, und Ereignisse ohne eine übersprungen.",
    },
    visit_data: {
      label: "Daten des Besuchs",
      help: "session sendet die Parameter des Anzeigenklicks, Seite, Referrer und User-Agent des Besuchs; session_and_ip auch seine IP-Adresse, was Google für Personen in Europa verbietet; none sendet nur die Klick-ID.",
    },
    custom_variable_1: {
      label: "Benutzerdefinierte Variable 1",
      help: "Das Tag einer benutzerdefinierten Variablen des Kontos, wie unter Zielvorhaben > Conversions > Benutzerdefinierte Variablen. Ordnen Sie ihren Wert customVariables.1 zu.",
    },
    custom_variable_2: {
      label: "Benutzerdefinierte Variable 2",
      help: "Das Tag einer benutzerdefinierten Variablen des Kontos, wie unter Zielvorhaben > Conversions > Benutzerdefinierte Variablen. Ordnen Sie ihren Wert customVariables.2 zu.",
    },
    custom_variable_3: {
      label: "Benutzerdefinierte Variable 3",
      help: "Das Tag einer benutzerdefinierten Variablen des Kontos, wie unter Zielvorhaben > Conversions > Benutzerdefinierte Variablen. Ordnen Sie ihren Wert customVariables.3 zu.",
    },
    event_source: shared.settings.event_source,
    numeric_order_ids: shared.settings.numeric_order_ids,
    merchant_id: {
      label: "Merchant-Center-Konto",
      help: "Die Nummer des Merchant-Center-Kontos mit Ihren Artikeln. Nur für Berichte nach Produkt nötig.",
    },
    feed_label: {
      label: "Feed-Label des Merchant Center",
      help: "Das Label des Feeds mit Ihren Artikeln, zum Beispiel US.",
    },
    feed_language: {
      label: "Feed-Sprache des Merchant Center",
      help: "Die Sprache des Feeds mit Ihren Artikeln, als zwei Buchstaben.",
    },
    developer_token: {
      label: "Entwicklertoken",
      help: "Nur für Listen von Konten und Conversion-Aktionen zur Auswahl. Conversions brauchen es nicht.",
    },
  },
  fields: {
    conversionValue: "Der Wert, anstelle des Werts des Ereignisses.",
    eventSource: "Wo es stattfand: WEB, APP, IN_STORE, PHONE, MESSAGE, OTHER.",
    "userProperties.customerType": "Die Art des Kunden: NEW, RETURNING, REENGAGED.",
    "customVariables.1":
      "Der Wert der benutzerdefinierten Variablen, die custom_variable_1 nennt; keine personenbezogenen Daten.",
    "customVariables.2":
      "Der Wert der benutzerdefinierten Variablen, die custom_variable_2 nennt; keine personenbezogenen Daten.",
    "customVariables.3":
      "Der Wert der benutzerdefinierten Variablen, die custom_variable_3 nennt; keine personenbezogenen Daten.",
  },
  guide: {
    credentials: [
      "Legen Sie in der Google Cloud Console ein Projekt an, aktivieren Sie darin die Data Manager API, und erstellen Sie einen OAuth-Client vom Typ Webanwendung.",
      "Hinterlegen Sie ID und Secret des Clients (cleancast oauth app set google_ads client_id=… client_secret=@file), und melden Sie sich an (cleancast sign-in SITE google_ads), mit einem Google-Konto, das das Google-Ads-Konto bearbeiten darf.",
      "Öffnen Sie in Google Ads Zielvorhaben > Conversions, und erstellen Sie eine Conversion-Aktion, die aus Klicks importiert. Ihre Nummer steht als ctId in der URL der Seite.",
      "Geben Sie die Kundennummer des Kontos ein, dem die Aktion gehört. Wenn Sie über ein Verwaltungskonto zugreifen, geben Sie auch dessen Nummer ein.",
    ],
    sends: {
      productDestinationId: "die für das Ereignis gewählten Conversion-Aktionen, sonst die für alle Ereignisse",
      eventTimestamp: "die Zeit des Ereignisses",
      transactionId: "Bestellnummer, sonst die Ereignis-ID",
      "conversionValue, currency": "Wert und Währung",
      "adIdentifiers.gclid": "die neueste gclid, oder die im Cookie _gcl_aw",
      "adIdentifiers.wbraid, .gbraid": "die neueste wbraid, sonst gbraid, wenn es keine gclid gibt",
      "adIdentifiers.sessionAttributes":
        "gad_source und gad_campaignid des Klicks mit seiner Zeit, Seite und Referrer des Besuchs und sein User-Agent; außer mit visit_data=none",
      "adIdentifiers.landingPageDeviceInfo":
        "User-Agent des Besuchs, außer mit visit_data=none; seine IP-Adresse mit visit_data=session_and_ip",
      "userData.userIdentifiers":
        "gehashte E-Mail-Adresse und Telefonnummer, wenn erweiterte Conversions für Leads oder tag_conversions an ist und der Klick keine wbraid oder gbraid hat",
      consent: "granted oder denied, wie die Person entschieden hat; weggelassen, solange unbekannt",
      "cartData.items": "Artikel: merchantProductId, quantity und unitPrice, wenn jeder Artikel einen Preis hat",
      "cartData.merchantId, merchantFeedLabel, merchantFeedLanguageCode": "das Merchant-Center-Konto der Verbindung",
      customVariables: "zugeordnete Felder, unter den Namen, die die Verbindung für sie hat",
    },
    notSent: [
      "Namen: Google nimmt sie nur mit Land und Postleitzahl an, und die haben Ereignisse nicht.",
      "Die IP-Adresse, außer mit visit_data=session_and_ip: Google verbietet sie für Personen im Europäischen Wirtschaftsraum, im Vereinigten Königreich und in der Schweiz.",
      "UTM-Felder, wenn Sie sie nicht benutzerdefinierten Variablen zuordnen: Google hat kein Feld dafür.",
      "Erstattungen, wenn für das Ereignis refund keine Conversion-Aktion gewählt ist: Google zählt jedes Ereignis als Umsatz. Mit der Einstellung corrections der Website ändert eine Erstattung stattdessen den Wert des Kaufs.",
      "Bestellnummern, die eine E-Mail-Adresse enthalten: Stattdessen wird die Ereignis-ID gesendet.",
      "Klick-IDs mit Leerzeichen oder anderen ungültigen Zeichen.",
      "Artikel eines Klicks mit wbraid oder gbraid, die Google ignoriert; Name, Kategorie und Marke von Artikeln, die Google aus dem Merchant Center nimmt.",
    ],
    testMode: "Wird mit validateOnly gesendet: Google prüft die Anfrage und speichert nichts.",
  },
};
