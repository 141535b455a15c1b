import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const quora: PlatformTexts = {
  description: "Sendet Conversions an ein Konto von Quora Ads, über die Conversion API.",
  settings: {
    account_id: {
      label: "ID des Werbekontos",
      help: "Die Nummer des Werbekontos im Quora Ads Manager.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Aus dem Quora Ads Manager: Der Abschnitt Conversion API erzeugt es.",
    },
    currency: {
      label: "Währung des Werbekontos",
      help: "ISO-4217-Code. Werte in anderen Währungen werden weggelassen, weil Quora sie in dieser lesen würde.",
    },
    dedup_id: shared.settings.dedup_id,
  },
  fields: {
    "user.country": "Land; Quora nimmt es ungehasht an.",
    "user.region": "Bundesland oder Region; Quora nimmt es ungehasht an.",
    "user.city": "Ort; Quora nimmt ihn ungehasht an.",
    "device.language": "Sprache des Browsers, wie en-US.",
  },
  guide: {
    credentials: [
      "Kopieren Sie im Quora Ads Manager die Nummer des Werbekontos.",
      "Öffnen Sie den Abschnitt Conversion API, erzeugen Sie ein Zugriffstoken, und kopieren Sie es.",
      "Geben Sie die Währung des Werbekontos ein: Quora liest jeden Wert in ihr.",
    ],
    sends: {
      "conversion.event_name": "das Ereignis, unter Quoras Namen dafür, oder Generic",
      "conversion.timestamp": "die Zeit der Conversion, in Mikrosekunden",
      "conversion.click_id": "qclid des Klicks oder das Cookie quora_qclid, unverändert",
      "conversion.event_id": "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist",
      "conversion.value": "Wert, wenn seine Währung die des Werbekontos ist",
      "user.ip": "IP-Adresse des Besuchs",
      "device.user_agent, referer": "User-Agent des Besuchs, und der Ursprung der Seite davor",
    },
    notSent: [
      "E-Mail-Adresse, Telefonnummer und Namen: Quora will sie im Klartext, und das Relay behält nur Hashes. Zugeordnet wird durch die Klick-ID.",
      "Werte in einer anderen Währung als der des Werbekontos: Quora hat kein Feld für die Währung. Die Conversion wird ohne Wert gesendet.",
      "Werte über 214.748,36: Quora lehnt eine Conversion mit einem solchen Wert ab, deshalb wird sie ohne ihn gesendet.",
      "Eigene Ereignisnamen: Quora nimmt dafür nur Generic an.",
      "Bestellnummern haben kein eigenes Feld; sie können als Ereignis-ID dienen.",
      "UTM-Felder und Artikel: Quora hat kein Feld dafür.",
      "Erstattungen: Quora kann einen Kauf nicht zurücknehmen.",
    ],
    testMode: "Quora hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
