import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";

export const outbrain: PlatformTexts = {
  description: "Meldet Conversions nach Klicks auf Outbrain-Anzeigen, durch Server-zu-Server-Tracking.",
  guide: {
    credentials: [
      "Öffnen Sie im Dashboard von Outbrain Pixels, Conversions, und fügen Sie für jedes Ereignis, das zählen soll, eine ereignisbasierte Conversion hinzu. Ihr Name muss genau der gesendete sein: purchase für einen Kauf, wenn Sie nicht mit event.purchase=NAME einen anderen wählen.",
      "Fügen Sie dem Tracking-Code Ihrer Kampagnen ob_click_id={{ob_click_id}} hinzu. Ohne das wird die dicbo verwendet, die Outbrain selbst anhängt.",
      "Es gibt nichts einzufügen: Outbrain findet das Konto durch die Klick-ID.",
    ],
    sends: {
      ob_click_id: "ob_click_id des Klicks, sonst seine dicbo, unverändert",
      name: "der übliche Name des Ereignisses, sonst sein eigener, oder der von der Verbindung gewählte",
      orderId: "Bestellnummer, ansonsten die Ereignis-ID",
      "orderValue, currency": "Wert mit den Stellen seiner Währung, und die Währung",
    },
    notSent: [
      "Conversions ohne Klick-ID: Outbrain zählt keine anderen.",
      "Die Zeit der Conversion: Outbrain hat kein Feld dafür und zählt eine Conversion, wenn sie eintrifft. Nachgesendet wird daher keine.",
      "Kontaktdaten, IP-Adresse, User-Agent, UTM-Felder und Artikel: Outbrain hat kein Feld dafür.",
      "Erstattungen: Outbrain kann eine Conversion nicht zurücknehmen.",
    ],
    testMode: "Outbrain hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
