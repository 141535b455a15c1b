import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const nextdoor: PlatformTexts = {
  description: "Sendet Conversions an ein Pixel des Nextdoor Ads Manager, über die Conversion API.",
  settings: {
    data_source_id: {
      label: "ID der Datenquelle",
      help: "Die ID des Pixels im Ads Manager, unter Assets, Pixels.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Von der Kontoseite des Nextdoor Ads Manager.",
    },
    partner_id: {
      label: "Partner-ID",
      help: "Nur wenn Nextdoor Ihnen eine gegeben hat: Sie wird mit jedem Ereignis gesendet.",
    },
    action_source: {
      label: "Wo Conversions stattfinden",
      help: "Eines von website, email, phone_call, chat, physical_store, system_generated, other.",
    },
    site_url: {
      label: "URL der Website",
      help: "Nextdoor verlangt zu jedem Web-Ereignis eine Seite. Ist die Seite des Besuchs unbekannt, wird diese URL gesendet; ohne sie wird ein solches Ereignis als system_generated gesendet.",
    },
    phone_form: {
      label: "Form von Telefonnummern",
      help: "Die Quellen widersprechen sich: Nextdoors Referenz verlangt E.164, die eigenen Konnektoren senden zehn Ziffern. none lässt Telefonnummern weg, plus hasht die E.164-Nummer mit Pluszeichen.",
    },
    dedup_id: shared.settings.dedup_id,
    limited_data: shared.settings.limited_data,
  },
  fields: {
    "customer.external_id": "Ihre eigene ID der Person, wie Ihr Pixel sie hat; wird vor dem Senden gehasht.",
    "customer.street_address": "Straße und Hausnummer; wird vor dem Senden gehasht.",
    "customer.city": "Ort; wird vor dem Senden gehasht.",
    "customer.state": "Bundesstaat oder Provinz; wird vor dem Senden gehasht.",
    "customer.zip_code": "Postleitzahl; wird vor dem Senden gehasht.",
    "customer.country": "Land; wird vor dem Senden gehasht.",
    "custom.delivery_category": "in_store, curbside oder home_delivery.",
  },
  guide: {
    credentials: [
      "Öffnen Sie im Nextdoor Ads Manager Assets, Pixels, und kopieren Sie die ID Ihres Pixels: Sie ist die ID der Datenquelle.",
      "Öffnen Sie die Kontoseite des Ads Manager, erzeugen Sie ein Zugriffstoken für die Conversion API, und kopieren Sie es.",
      "Bestätigen Sie die Domain Ihrer Website im Ads Manager: Ereignisse mit Seiten anderer Domains werden abgelehnt.",
      "Wenn Nextdoor Ihnen eine Partner-ID gegeben hat, geben Sie auch diese ein.",
    ],
    sends: {
      event_name: "das Ereignis, unter Nextdoors Namen dafür, oder eine seiner zehn eigenen Conversions",
      event_id: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist; das Pixel sendet dieselbe",
      event_time_epoch: "die Zeit der Conversion, in Sekunden",
      action_source:
        "website, wenn eine Seite bekannt ist, sonst system_generated, falls die Verbindung nichts anderes einstellt",
      action_source_url: "die Seite des Besuchs ohne Query, oder die URL der Website",
      "customer.email, first_name, last_name": "E-Mail-Adresse und Namen, jeweils als SHA-256",
      "customer.phone_number": "Telefonnummer mit Pluszeichen als SHA-256, wenn die Verbindung so eingestellt ist",
      "customer.click_id": "ndclid des Klicks oder das Cookie _ndclid, unverändert",
      "customer.client_ip_address, client_user_agent": "IP-Adresse und User-Agent des Besuchs",
      "custom.order_value": "Währung und Wert als ein Text: EUR49.90",
      "custom.order_id": "Bestellnummer",
      "custom.product_context": "Artikel: id, quantity und item_price",
      restricted_data_usage: "1 bei Ereignissen mit eingeschränkter Datennutzung, sonst weggelassen",
    },
    notSent: [
      "Telefonnummern, wenn die Verbindung nicht so eingestellt ist: Die Quellen widersprechen sich, welche Form Nextdoor erwartet.",
      "Eigene Ereignisnamen: Nextdoor hat stattdessen zehn nummerierte eigene Conversions.",
      "Erstattungen: Nextdoor kann einen Kauf nicht zurücknehmen.",
      "Ein Kauf ohne Wert, weil Nextdoor ihn ablehnt.",
      "UTM-Felder: Nextdoor hat kein Feld dafür.",
      "Name, Kategorie und Marke von Artikeln: Nextdoor hat kein Feld dafür.",
    ],
    testMode: "Wird mit test_event gesendet.",
  },
};
