import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const tiktok: PlatformTexts = {
  description: "Sendet Conversions an ein TikTok-Pixel, oder Stufen von Leads an ein CRM-Ereignisset, über die Events API.",
  settings: {
    dedup_id: shared.settings.dedup_id,
    pixel_code: {
      label: "Pixel-ID",
      help: "Der Code aus Buchstaben und Ziffern unter dem Namen des Pixels im Events Manager von TikTok; oder die ID eines CRM-Ereignissets.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Aus dem Events Manager: das Pixel, Settings, Events API, Generate access token.",
    },
    expires_at: shared.settings.expires_at,
    test_event_code: shared.settings.test_event_code,
    event_source: {
      label: "Art der Ereignisse",
      help: "web: Ereignisse eines Pixels. crm: Stufen von Leads, für ein CRM-Ereignisset; geben Sie dessen ID anstelle der des Pixels ein.",
    },
    crm_name: {
      label: "Name des CRM",
      help: "Mit event_source=crm: das CRM, aus dem die Stufen kommen, wie HubSpot oder Salesforce.",
    },
    limited_data: shared.settings.limited_data,
    without_person: {
      label: "Ereignisse ohne Abgleichsdaten",
      help: "skip: Ereignisse ohne Abgleichsdaten, etwa von Personen, die abgelehnt haben, werden nicht gesendet. send: Sie werden ohne Personendaten gesendet; TikTok scheint sie anzunehmen, kann sie aber keiner Anzeige zuordnen.",
    },
    advertiser_id: {
      label: "ID des Werbekontos",
      help: "Nur, um die Pixel eines Werbekontos aufzulisten; nicht nötig, wenn Sie die Pixel-ID selbst eingeben.",
    },
  },
  fields: {
    "user.external_id": "Ihre eigene ID der Person, wie Ihr Pixel sie hat; wird vor dem Senden gehasht.",
    "user.zip_code": "Postleitzahl; wird vor dem Senden gehasht.",
    "user.city": "Ort; TikTok nimmt ihn ungehasht an.",
    "user.state": "Bundesland; TikTok nimmt es ungehasht an.",
    "user.country": "Land; TikTok nimmt es ungehasht an.",
    "lead.lead_id": "TikToks eigene ID eines Leads aus einem seiner Formulare.",
    "properties.content_type": "product oder product_group.",
    "properties.description": "Ein Text über das Ereignis.",
    "properties.query": shared.fields["properties.query"],
  },
  guide: {
    credentials: [
      "Öffnen Sie den TikTok Ads Manager als Admin oder Operator des Werbekontos, dann Tools und Events Manager.",
      "Wählen Sie das Pixel Ihrer Website, und kopieren Sie seine ID aus Buchstaben und Ziffern.",
      "Erzeugen Sie unter Settings, Events API ein Zugriffstoken, und kopieren Sie es. Es ist langlebig.",
      "Für Testereignisse: Kopieren Sie den Code auf der Seite „Test events“.",
    ],
    sends: {
      event: "das Ereignis, unter TikToks Standardnamen oder seinem eigenen",
      event_time: "die Zeit der Conversion, in Sekunden",
      event_id: "die Ereignis-ID; dieselbe wie die des Pixels, damit TikTok das Paar einmal zählt",
      "user.email, phone": "E-Mail-Adresse und Telefonnummer (mit Landesvorwahl und Plus), jeweils als SHA-256",
      "user.first_name, last_name": "Namen, jeweils als SHA-256",
      "user.ttclid": "ttclid des Klicks, unverändert",
      "user.ttp": "das Cookie _ttp",
      "user.ip, user_agent": "IP-Adresse und User-Agent des Besuchs",
      "properties.value, currency, order_id": "Wert, Währung und Bestellnummer",
      "properties.contents": "Artikel: content_id, content_name, content_category, brand, price und quantity",
      "properties.content_ids, content_type": "die IDs der Artikel, und product",
      "lead.lead_id, lead_event_source": "mit event_source=crm: die zugeordnete ID des Leads, und der Name des CRM",
      "page.url, referrer": "die Seite des Besuchs ohne Query, und die verweisende Website",
    },
    notSent: [
      "UTM-Felder, wenn Sie sie nicht zuordnen: TikTok hat kein Feld dafür.",
      "Erstattungen: TikTok kann einen Kauf nicht zurücknehmen.",
      "Ereignisse von Apps und Geschäften: Nur Web-Ereignisse und Stufen von Leads werden gesendet.",
    ],
    testMode:
      "Braucht den Testereignis-Code der Verbindung und erscheint auf der Seite „Test events“. Testereignisse teilen sich nie eine Anfrage mit Live-Ereignissen.",
  },
};
