import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const segment: PlatformTexts = {
  description: "Sendet Conversions als Track-Aufrufe an eine Segment-Quelle oder eine Data Plane von RudderStack.",
  settings: {
    source: {
      label: "Quelle",
      help: "Workspace und Quelle, wie in der URL der Seite der Quelle: acme/website. Unterscheidet Ihre Verbindungen.",
    },
    write_key: {
      label: "Write Key",
      help: "Segment: Quelle > Settings > API keys. RudderStack: Quelle > Setup.",
    },
    region: {
      label: "Region",
      help: "us, oder eu für Workspaces in der Europäischen Union. In der falschen Region gehen Ereignisse ohne Fehler verloren.",
    },
    base_url: {
      label: "URL der Data Plane",
      help: "Nur für RudderStack und Proxys: die URL vor /v1, wie https://example.dataplane.rudderstack.com.",
    },
    consent_categories: {
      label: "Einwilligungskategorien",
      help: "Die IDs der Einwilligungskategorien, für die die Entscheidung einer Person gilt, durch Kommas getrennt: C0002,C0004.",
    },
  },
  fields: {
    userId: "Ihre eigene ID der Person.",
    anonymousId: "Die ID, die das Segment-Skript Ihrer Website dem Browser gegeben hat.",
    "context.groupId": "Das Konto, zu dem die Person gehört.",
    "properties.affiliation": "Das Geschäft oder der Partner, der verkauft hat.",
    "properties.coupon": "Der Gutschein der Bestellung.",
    "properties.shipping": "Die Versandkosten.",
    "properties.tax": "Die Steuer der Bestellung.",
    "properties.discount": "Der Rabatt der Bestellung.",
    "properties.revenue": "Der Wert der Bestellung ohne Versand und Steuer.",
    "properties.category": "Eine Kategorie für Ihre Berichte.",
    "properties.label": "Ein Label für Ihre Berichte.",
    "properties.plan": "Der gekaufte Tarif.",
    "properties.query": shared.fields["properties.query"],
  },
  guide: {
    credentials: [
      "Öffnen Sie in Segment Connections > Sources, und fügen Sie eine HTTP-API-Quelle hinzu, oder wählen Sie eine vorhandene.",
      "Kopieren Sie den Write Key unter Settings > API keys der Quelle, und Workspace und Quelle aus der URL der Seite.",
      "Wählen Sie die Region Ihres Workspace. Ereignisse für einen europäischen Workspace gehen verloren, wenn sie an den US-Host gehen.",
      "Geben Sie für RudderStack die URL Ihrer Data Plane und den Write Key einer HTTP-Quelle ein.",
    ],
    sends: {
      messageId: "die Ereignis-ID, mit einem Präfix dieser Verbindung",
      event: "das Ereignis, unter dem Namen aus Segments Spezifikation oder dem gewählten",
      "timestamp, sentAt": "die Zeit des Ereignisses, und die des Versuchs",
      anonymousId:
        "ein Pseudonym aus der gehashten E-Mail-Adresse, sonst aus der Ereignis-ID; wenn userId oder anonymousId nicht zugeordnet ist",
      "properties.order_id, .event_id": "Bestellnummer und die Ereignis-ID",
      "properties.total and .revenue, or .value; .currency": "Wert und Währung",
      "properties.products":
        "Artikel: product_id, name, category, brand, price und quantity; bei einem Ereignis zu einem Produkt, wie Product Added, direkt in properties",
      "properties.gclid, .fbclid, .msclkid …": "die neueste Klick-ID jeder Art",
      "context.traits.email_sha256, .phone_sha256": "gehashte E-Mail-Adresse und Telefonnummer",
      "context.campaign": "UTM-Felder; utm_campaign als name",
      "context.ip, .userAgent, .page": "IP-Adresse, User-Agent und Seite des Besuchs",
      "context.consent.categoryPreferences": "die Entscheidung der Person für die Einwilligungskategorien",
    },
    notSent: [
      "E-Mail-Adresse, Telefonnummer und Namen: Segment erwartet sie im Klartext, und das Relay hat nur Hashes. Ziele würden sie unter diesen Namen noch einmal hashen.",
      "Browser-IDs: Segment hat keine Felder dafür.",
      "Name, Kategorie und Marke von Artikeln, die zusammen länger als 24 KB sind; die Artikel selbst, wenn schon ihre IDs es sind.",
    ],
    testMode:
      "Segment hat keinen Testmodus: Testereignisse werden übersprungen. Sehen Sie nach einem Live-Ereignis in den Debugger der Quelle.",
  },
};
