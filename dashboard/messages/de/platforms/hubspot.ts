import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";

export const hubspot: PlatformTexts = {
  description: "Zeichnet Conversions als benutzerdefinierte Ereignisse von Kontakten in einem HubSpot-Konto auf.",
  settings: {
    hub_id: {
      label: "Kontonummer",
      help: "Die Nummer des HubSpot-Kontos (Hub-ID), neben dem Namen des Kontos.",
    },
    access_token: {
      label: "Zugriffstoken",
      help: "Einer privaten App mit der Berechtigung analytics.behavioral_events.send.",
    },
    default_event: {
      label: "Standardereignis",
      help: "Der interne Name des benutzerdefinierten Ereignisses für Ereignisse ohne eigenes. Ohne Angabe werden nur Ereignisse mit eigenem gesendet.",
    },
    value_property: {
      label: "Eigenschaft für den Wert",
      help: "Der interne Name der Eigenschaft des Ereignisses für den Wert, vom Typ Zahl.",
    },
    currency_property: {
      label: "Eigenschaft für die Währung",
      help: "Der interne Name der Eigenschaft des Ereignisses für die Währung.",
    },
    order_property: {
      label: "Eigenschaft für die Bestellnummer",
      help: "Der interne Name der Eigenschaft des Ereignisses für die Bestellnummer.",
    },
    email_sha256_property: {
      label: "Eigenschaft für die gehashte E-Mail-Adresse",
      help: "Der interne Name der Eigenschaft des Ereignisses für den SHA-256 der E-Mail-Adresse, über den HubSpot Kontakte mit demselben Hash findet.",
    },
    default_properties: {
      label: "HubSpots eigene Eigenschaften",
      help: "yes sendet UTM-Felder, Seite und User-Agent in den hs_-Eigenschaften. no: für Ereignisse, die ohne diese definiert wurden.",
    },
  },
  fields: {
    objectId: "HubSpots ID des Kontakts, Ziffern.",
    "properties.hs_touchpoint_source":
      "Die Quelle der Interaktion, für Attributionsberichte: CONVERSATION, DIRECT_TRAFFIC, EMAIL_MARKETING, HUBSPOT_CRM, INTEGRATION, MARKETING_EVENT, OFFLINE, ORGANIC_SEARCH, OTHER_CAMPAIGNS, PAID_SEARCH, PAID_SOCIAL, REFERRALS, SALES, SOCIAL_MEDIA.",
    "properties.hs_campaign_id": "Die ID einer Kampagne in HubSpot.",
    "properties.hs_page_title": "Der Titel der Seite oder des Inhalts.",
    "properties.hs_asset_description": "Eine Beschreibung für Ihre Berichte.",
  },
  guide: {
    credentials: [
      "Benutzerdefinierte Ereignisse brauchen ein Enterprise-Abonnement. Öffnen Sie in HubSpot Data Management > Custom events, und erstellen Sie ein Ereignis für jede Art von Conversion, oder eines für alle; kopieren Sie seinen internen Namen, der mit pe und der Nummer des Kontos beginnt.",
      "Fügen Sie dem Ereignis Eigenschaften für Wert, Währung und Bestellnummer hinzu, und geben Sie ihre internen Namen hier ein: HubSpot hat dafür keine eigenen.",
      "Öffnen Sie Settings > Integrations > Private apps, erstellen Sie eine App mit der Berechtigung analytics.behavioral_events.send, und kopieren Sie ihr Zugriffstoken.",
      "Geben Sie den Namen jedes Ereignisses ein: event.purchase=pe…, event.lead=pe…, oder ein Standardereignis für alle.",
      "Sagen Sie, wie Kontakte gefunden werden: HubSpots Tracking-Code auf Ihren Seiten setzt das Cookie, das das Tag liest; Absender, die die ID des Kontakts kennen, ordnen ihr objectId zu.",
    ],
    sends: {
      eventName: "das benutzerdefinierte Ereignis, das die Verbindung für das Ereignis hat",
      occurredAt: "die Zeit der Conversion",
      uuid: "die Ereignis-ID",
      utk: "das Cookie hubspotutk, unverändert",
      objectId: "das zugeordnete Feld",
      "properties named in the settings":
        "Wert, Währung und Bestellnummer, jeweils als Text; die gehashte E-Mail-Adresse, wenn eine Eigenschaft dafür genannt ist",
      "properties.hs_utm_source, hs_utm_medium …": "UTM-Felder",
      "properties.hs_page_url, hs_referrer": "die Seite des Besuchs ohne Query, und die Herkunft der Seite davor",
      "properties.hs_user_agent": "User-Agent des Besuchs",
    },
    notSent: [
      "E-Mail-Adresse, Telefonnummer und Namen: HubSpot verlangt sie im Klartext, und das Relay behält nur Hashes.",
      "Artikel: HubSpots Ereignisse haben keine Listen.",
      "Erstattungen, wenn die Verbindung kein benutzerdefiniertes Ereignis dafür hat: Als Vorkommen eines anderen Ereignisses sähen sie wie ein Verkauf aus.",
      "Ereignisse ohne einen Kontakt, den HubSpot finden kann.",
    ],
    testMode: "HubSpot hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
