import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";

export const taboola: PlatformTexts = {
  description: "Meldet Conversions nach Klicks auf Taboola-Anzeigen, durch Server-zu-Server-Tracking.",
  settings: {
    account_id: {
      label: "Konto-ID",
      help: "Die Nummer des Kontos in Realize.",
    },
  },
  fields: {
    quantity: "Wie viele Artikel gekauft wurden: eine ganze Zahl größer als null.",
  },
  guide: {
    credentials: [
      "Kopieren Sie in Realize die Nummer des Kontos, oder die des Netzwerkkontos, wenn die Conversions zu mehreren gehören.",
      "Erstellen Sie unter Tracking für jedes Ereignis, das zählen soll, eine Conversion vom Typ EVENT. Ihr Event Name (nicht ihr Conversion Name) muss genau der gesendete Name sein: make_purchase für einen Kauf.",
      "Hat Ihre Definition einen anderen Namen, wählen Sie diesen: event.purchase=NAME.",
      "Lassen Sie Taboola seine Klick-ID unter dem üblichen Namen tblci an Ihre Zielseiten anhängen.",
    ],
    sends: {
      "click-id": "tblci des Klicks, unverändert",
      timestamp: "die Zeit der Conversion, in Millisekunden",
      name: "das Ereignis, unter dem in Realize üblichen Namen, sonst seinem eigenen",
      "revenue, currency":
        "Wert und Währung; Taboola nimmt AUD, BRL, CAD, CNY, EUR, GBP, HKD, ILS, INR, JPY, KRW, MXN, NZD, RUB, SGD, THB, TRY, USD, ZAR an",
      orderid: "Bestellnummer, ansonsten die Ereignis-ID",
      quantity: "die Stückzahl der Artikel",
    },
    notSent: [
      "Conversions ohne Klick-ID: Taboola zählt keine anderen.",
      "Werte in anderen Währungen; die Conversion wird ohne Wert gesendet.",
      "Kontaktdaten, IP-Adresse, User-Agent, UTM-Felder und die Artikel selbst: Taboola hat kein Feld dafür.",
      "Erstattungen: Taboola kann eine Conversion nicht zurücknehmen.",
    ],
    testMode: "Taboola hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
