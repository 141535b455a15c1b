import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const linkedin: PlatformTexts = {
  description: "Zählt Conversions für Regeln im LinkedIn Campaign Manager, über die Conversions API.",
  settings: {
    access_token: {
      label: "Zugriffstoken",
      help: "Aus dem Campaign Manager (eine Direct-API-Quelle), oder durch die Anmeldung gefüllt.",
    },
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    ad_account_id: {
      label: "Werbekonto",
      help: "Die Nummer des Werbekontos im Campaign Manager.",
    },
    default_rule: {
      label: "Standard-Conversion-Regel",
      help: "Die Regel für Ereignisse ohne eigene; mehrere durch Kommas getrennt. Ohne Angabe werden nur Ereignisse mit eigener Regel gesendet.",
    },
    dedup_id: shared.settings.dedup_id,
    ip_address: {
      label: "IP-Adresse",
      help: "Sendet die IPv4-Adresse des Besuchers zum Abgleich: no, plain oder sha256. Nicht jedes Konto darf sie verwenden.",
    },
    api_version: {
      label: "API-Version",
      help: "Jahr und Monat der Version der LinkedIn-API. Ändern Sie sie nur, wenn LinkedIn die eingestellte abgeschaltet hat.",
    },
  },
  fields: {
    "conversionValue.amount": "Der Wert anstelle des Werts des Ereignisses: zum Beispiel ein fester für Leads.",
    "conversionValue.currencyCode": "Die Währung anstelle der des Ereignisses, drei Buchstaben.",
    "user.lead": "LinkedIns ID einer Antwort auf ein Lead-Gen-Formular: die URN, oder was auf ihren letzten Doppelpunkt folgt.",
    "user.externalIds": "Ihre eigene ID der Person, wie LinkedIn sie aus Ihren Daten hat.",
  },
  guide: {
    credentials: [
      "Öffnen Sie im Campaign Manager Messung und dann den Signals Manager, und fügen Sie eine Direct-API-Quelle hinzu.",
      "Erzeugen Sie dort ein Zugriffstoken, und fügen Sie es hier ein; oder melden Sie sich an, wenn Ihr Betreiber eine LinkedIn-App eingerichtet hat, die für die Conversions API zugelassen ist.",
      "Erstellen Sie für jedes Ereignis, das zählen soll, eine Conversion-Regel mit dieser Quelle, und fügen Sie sie Ihren Kampagnen hinzu.",
      "Geben Sie die ID jeder Regel ein: event.purchase=…, event.lead=…, oder eine Standardregel für alle Ereignisse.",
      "Die Nummer des Werbekontos steht in der URL des Campaign Manager und neben dem Namen des Kontos.",
    ],
    sends: {
      conversion: "die Regel, die die Verbindung für das Ereignis hat; bei mehreren ein Element für jede",
      conversionHappenedAt: "die Zeit der Conversion, in Millisekunden",
      eventId: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist",
      conversionValue: "Wert und Währung, beide oder keines",
      "user.userIds SHA256_EMAIL": "die gehashte E-Mail-Adresse",
      "user.userIds LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID": "li_fat_id des Klicks, sonst des Cookies",
      "user.lead, externalIds": "zugeordnete Felder: eine Antwort auf ein Lead-Gen-Formular, und Ihre eigene ID der Person",
      "user.userIds PLAINTEXT_IP_ADDRESS or SHA256_IP_ADDRESS": "die IPv4-Adresse des Besuchs, nur wenn eingeschaltet",
    },
    notSent: [
      "Namen: LinkedIn nimmt sie nur im Klartext, und das Relay speichert nur Hashes. Firma, Position und Land gehen nur zusammen mit Namen.",
      "Telefonnummer, User-Agent, Seite, UTM-Felder und Artikel: LinkedIn hat kein Feld dafür.",
      "Bestellnummern haben kein eigenes Feld; sie können als Ereignis-ID dienen.",
      "Eine li_fat_id, die keine UUID ist.",
    ],
    testMode: "LinkedIn hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
