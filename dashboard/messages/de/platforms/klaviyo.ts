import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import * as shared from "./shared.ts";

export const klaviyo: PlatformTexts = {
  description: "Zeichnet Conversions als Ereignisse an Profilen eines Klaviyo-Kontos auf, für Segmente, Flows und Berichte.",
  settings: {
    account_id: {
      label: "Konto-ID",
      help: "Der öffentliche API-Schlüssel des Kontos, sechs Zeichen: Settings > API keys.",
    },
    api_key: {
      label: "Privater API-Schlüssel",
      help: "Unter Settings > API keys, mit den Berechtigungen events:write und accounts:read.",
    },
    external_id: {
      label: "Externe ID",
      help: "mapped: das Feld, dem profile.external_id zugeordnet ist, falls es eines gibt. email_sha256: die gehashte E-Mail-Adresse, wenn nichts zugeordnet ist; für Konten, deren Profile diesen Hash als externe ID haben.",
    },
    flows_within_hours: {
      label: "Flows auslösen innerhalb von",
      help: "Stunden. Ein Ereignis, das länger zurückliegt, wird aufgezeichnet, ohne Flows auszulösen.",
    },
    dedup_id: shared.settings.dedup_id,
  },
  fields: {
    "profile.id": "Klaviyos eigene ID des Profils.",
    "profile.external_id": "Ihre eigene ID der Person, wie das Profil in Klaviyo sie hat.",
    "properties.DiscountCode": "Der Gutschein der Bestellung.",
    "properties.DiscountValue": "Der Rabatt der Bestellung.",
    "properties.Source": "Woher das Ereignis kommt: ein Shop, ein CRM.",
    "properties.Stage": "Die Stufe eines Deals oder Leads, für Segmente und Flows.",
  },
  guide: {
    credentials: [
      "Öffnen Sie in Klaviyo Settings > API keys. Der öffentliche API-Schlüssel oben, sechs Zeichen, ist die Konto-ID.",
      "Erstellen Sie einen privaten API-Schlüssel mit den Berechtigungen Events: Full Access und Accounts: Read Access, und kopieren Sie ihn.",
      "Sagen Sie, wie Personen gefunden werden: Ordnen Sie profile.external_id Ihre eigene Kundennummer zu, wenn die Profile in Klaviyo sie haben, oder setzen Sie external_id=email_sha256.",
    ],
    sends: {
      metric: "das Ereignis, unter Klaviyos Namen dafür oder dem des Absenders",
      time: "die Zeit der Conversion",
      "value, value_currency": "Wert und Währung",
      unique_id: "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist",
      backfill: "true bei späten Ereignissen, die dann keine Flows auslösen",
      "profile _kx": "_kx eines Links in einer Nachricht von Klaviyo, unverändert",
      "profile external_id": "das zugeordnete Feld, oder die gehashte E-Mail-Adresse, wenn die Verbindung so eingestellt ist",
      "profile id": "das zugeordnete Feld",
      "properties.OrderId": "Bestellnummer",
      "properties.utm_source, utm_medium …": "UTM-Felder",
      "properties.page_url": "die Seite des Besuchs, ohne Query",
      "properties.Items":
        "Artikel: ProductID, ProductName, Quantity, ItemPrice, RowTotal, ProductCategories und Brand; alle Namen, Kategorien und Marken auch in ItemNames, Categories und Brands",
    },
    notSent: [
      "E-Mail-Adresse, Telefonnummer und Namen: Klaviyo verlangt sie im Klartext, und das Relay behält nur Hashes.",
      "Klaviyos Cookie __kla_id: Es kann die E-Mail-Adresse im Klartext enthalten, darum liest das Tag es nicht.",
      "Klick-IDs anderer Plattformen: Klaviyo hat kein Feld dafür.",
    ],
    testMode: "Klaviyo hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  },
};
