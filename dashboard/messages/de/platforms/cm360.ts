import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const cm360: PlatformTexts = {
  description:
    "Sendet Conversions über die Data Manager API an Floodlight-Aktivitäten von Campaign Manager 360, die auch Display & Video 360 und Search Ads 360 verwenden.",
  settings: {
    floodlight_configuration: {
      label: "ID der Floodlight-Konfiguration",
      help: "Die ID des Werbetreibenden in Campaign Manager 360 oder des ihm übergeordneten.",
    },
    access_token: shared.settings.access_token,
    refresh_token: shared.settings.refresh_token,
    expires_at: shared.settings.expires_at,
    activity: {
      label: "Floodlight-Aktivität",
      help: "Die Nummer der Floodlight-Aktivität für alle Ereignisse ohne eigene; mehrere durch Kommas getrennt.",
    },
    event_source: shared.settings.event_source,
    numeric_order_ids: shared.settings.numeric_order_ids,
  },
  guide: {
    credentials: [
      "Legen Sie in der Google Cloud Console ein Projekt an, aktivieren Sie darin die Data Manager API, und erstellen Sie einen OAuth-Client vom Typ Webanwendung. Der von Google Ads kann für beide dienen.",
      "Öffnen Sie in Campaign Manager 360 Verwaltung > Nutzerprofile: Das Profil des Google-Kontos, das sich anmeldet, braucht Zugriff auf den Werbetreibenden und eine Rolle mit der Berechtigung „Insert offline conversions“.",
      "Hinterlegen Sie ID und Secret des Clients (cleancast oauth app set cm360 client_id=… client_secret=@file), und melden Sie sich mit diesem Konto an (cleancast sign-in SITE cm360).",
      "Kopieren Sie die ID des Werbetreibenden: Sie ist die ID der Floodlight-Konfiguration. Gehört der Werbetreibende zu einem übergeordneten, kopieren Sie dessen ID.",
      "Öffnen Sie Floodlight > Aktivitäten, und erstellen Sie für jede Art von Conversion eine Aktivität. Ihre Nummer steht neben ihrem Namen.",
    ],
    sends: {
      productDestinationId: "die für das Ereignis gewählten Floodlight-Aktivitäten, sonst die für alle Ereignisse",
      eventTimestamp: "die Zeit des Ereignisses",
      transactionId: "Bestellnummer, sonst die Ereignis-ID",
      "conversionValue, currency": "Wert und Währung",
      "adIdentifiers.dclid": "die neueste dclid",
      "adIdentifiers.gclid":
        "wenn es keine dclid gibt: die neueste gclid oder die aus dem Cookie _gcl_aw, aus den letzten 60 Tagen",
      consent: "granted oder denied, wie die Person entschieden hat; weggelassen, solange unbekannt",
    },
    notSent: [
      "Ereignisse ohne dclid oder gclid: Campaign Manager 360 findet damit die Anzeige.",
      "wbraid und gbraid: Campaign Manager 360 führt sie nicht unter seinen Kennungen auf.",
      "Kontaktdaten: Sie sind für erweiterte Conversions, die Googles Bedingungen für Kundendaten brauchen. Die Klick-ID genügt.",
      "IP-Adresse und User-Agent: Google verbietet die IP-Adresse für Personen in Europa, und der Ort der Person ist unbekannt.",
      "Artikel und eigene Floodlight-Variablen (u1, u2 …): Ihre Form für Floodlight war in der Dokumentation nicht zu finden.",
      "UTM-Felder: Google hat kein Feld dafür.",
      "Erstattungen, außer wenn für das Ereignis refund eine Aktivität gewählt ist: Google zählt jedes Ereignis als Umsatz.",
      "Bestellnummern, die eine E-Mail-Adresse enthalten: Stattdessen wird die Ereignis-ID gesendet.",
    ],
    testMode: "Wird mit validateOnly gesendet: Google prüft die Anfrage und speichert nichts.",
  },
};
