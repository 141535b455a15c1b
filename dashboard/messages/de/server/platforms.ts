// Why a platform skips an event or is not proven.

import type { ServerTexts } from "../../server.ts";

export const platforms: ServerTexts = {
  "the ad account has no offline goal {1}": "das Werbekonto hat kein Offline-Ziel {1}",
  "{1} has no test mode": "{1} hat keinen Testmodus",
  "{1} takes no refunds": "{1} nimmt keine Erstattungen an",
  "{1} requires a value with {2}": "{1} verlangt bei {2} einen Wert",
  "no email, phone or name": "keine E-Mail-Adresse, Telefonnummer und kein Name",
  "Amazon requires a recorded consent or an IP address in Europe":
    "Amazon verlangt in Europa eine gespeicherte Einwilligung oder eine IP-Adresse",
  "the token may use no advertising profile in this region": "das Token darf in dieser Region kein Werbeprofil verwenden",
  "{1} has no name for this event; choose one in the connection":
    "{1} hat keinen Namen für dieses Ereignis; wählen Sie einen in der Verbindung",
  "a pixel for lead generation takes only {1}": "ein Pixel für Leads nimmt nur {1} an",
  "no visit with its page, IP address and user agent": "kein Besuch mit Seite, IP-Adresse und User-Agent",
  "no aleid, alart or axwrt": "keine aleid, alart oder axwrt",
  "no aleid, alart, axwrt, email or phone": "keine aleid, alart, axwrt, E-Mail-Adresse oder Telefonnummer",
  "no Google Analytics client id": "keine Client-ID von Google Analytics",
  "no gclid, wbraid or gbraid": "keine gclid, wbraid oder gbraid",
  "no conversion action for this event": "keine Conversion-Aktion für dieses Ereignis",
  "no conversion rule for this event": "keine Conversion-Regel für dieses Ereignis",
  "no email or li_fat_id": "keine E-Mail-Adresse oder li_fat_id",
  "a chosen conversion rule is not among the first 100 enabled Conversions API rules of the ad account":
    "eine gewählte Conversion-Regel ist nicht unter den ersten 100 aktiven Regeln der Conversions API des Werbekontos",
  "no email, phone, fbclid, _fbc or _fbp": "keine E-Mail-Adresse, Telefonnummer, fbclid, _fbc oder _fbp",
  "Meta's answer about the dataset could not be read": "Metas Antwort zum Dataset war nicht lesbar",
  "permission to send": "Berechtigung zum Senden",
  "no UET tag token, and offline conversions are not set up for this event":
    "kein Token des UET-Tags, und Offline-Conversions sind für dieses Ereignis nicht eingerichtet",
  "older than 7 days, and offline conversions are not set up for this event":
    "älter als 7 Tage, und Offline-Conversions sind für dieses Ereignis nicht eingerichtet",
  "no msclkid, hashed email or phone": "keine msclkid, gehashte E-Mail-Adresse oder Telefonnummer",
  "Microsoft's answer to an empty request could not be read": "Microsofts Antwort auf eine leere Anfrage war nicht lesbar",
  "the ad account has no UET tag with this tag_id": "das Werbekonto hat kein UET-Tag mit dieser tag_id",
  "no email, click id, IP address or user agent": "keine E-Mail-Adresse, Klick-ID, IP-Adresse und kein User-Agent",
  "Nextdoor's answer about the account could not be read": "Nextdoors Antwort zum Konto war nicht lesbar",
  "no oppref, browser id, email or phone": "keine oppref, Browser-ID, E-Mail-Adresse oder Telefonnummer",
  "no ob_click_id or dicbo": "keine ob_click_id oder dicbo",
  "no email, or IP address with user agent": "keine E-Mail-Adresse, oder IP-Adresse mit User-Agent",
  "no qclid, or IP address with user agent": "keine qclid, oder IP-Adresse mit User-Agent",
  "test event, but the connection has no test id": "Testereignis, aber die Verbindung hat keine Test-ID",
  "test event, but the connection has no test event code": "Testereignis, aber die Verbindung hat keinen Testereignis-Code",
  "no email or phone": "keine E-Mail-Adresse oder Telefonnummer",
  "no click id, email, phone, browser id, or IP address with user agent":
    "keine Klick-ID, E-Mail-Adresse, Telefonnummer, Browser-ID, oder IP-Adresse mit User-Agent",
  "Reddit can only be asked with test_id, or with ad_account_id and a token that may read it":
    "Reddit lässt sich nur mit test_id fragen, oder mit ad_account_id und einem Token, das sie lesen darf",
  "the ad account has no pixel with this pixel_id": "das Werbekonto hat kein Pixel mit dieser pixel_id",
  "a data plane of your own has no call that checks a write key; look at its live events":
    "eine eigene Data Plane bietet keine Prüfung des Write Key; sehen Sie in ihre Live-Ereignisse",
  "Segment's answer about the source could not be read": "Segments Antwort zur Quelle war nicht lesbar",
  "no email, phone, or IP address with user agent": "keine E-Mail-Adresse, Telefonnummer, oder IP-Adresse mit User-Agent",
  "no email, phone, device id or IP address": "keine E-Mail-Adresse, Telefonnummer, Geräte-ID oder IP-Adresse",
  "no email, phone, ttclid or _ttp": "keine E-Mail-Adresse, Telefonnummer, ttclid oder _ttp",
  "no tblci": "keine tblci",
  "TikTok can only be asked with test_event_code, or with advertiser_id and a token that may read it":
    "TikTok lässt sich nur mit test_event_code fragen, oder mit advertiser_id und einem Token, das sie lesen darf",
  "the ad account has no pixel with this pixel_code among its first 20":
    "das Werbekonto hat unter seinen ersten 20 kein Pixel mit diesem pixel_code",
  "your endpoint would take any call for a conversion; send it a test event":
    "Ihr Endpunkt würde jeden Aufruf für eine Conversion halten; senden Sie ihm ein Testereignis",
  "no event tag for this event": "kein Ereignis-Tag für dieses Ereignis",
  "no twclid, email, phone, or IPv4 address with user agent":
    "keine twclid, E-Mail-Adresse, Telefonnummer, oder IPv4-Adresse mit User-Agent",
  "X has no call that checks a pixel token; the first accepted conversion proves it":
    "X bietet keine Prüfung eines Pixel-Tokens; die erste angenommene Conversion bestätigt es",
  "the keys may use no ad account of X": "die Schlüssel dürfen kein Werbekonto von X verwenden",
  // names of events
  "{1} has no name for {2}, and the connection chooses none.": "{1} hat keinen Namen für {2}, und die Verbindung wählt keinen.",
  "{1} is sent as {2}: {3}.": "{1} wird als {2} gesendet: {3}.",
  "the connection's choice for {1}": "die Wahl der Verbindung für {1}",
  "the connection's choice": "die Wahl der Verbindung",
  "{1}'s name for {2}": "der Name von {1} für {2}",
  "{1}'s name for it": "der Name von {1} dafür",
  "the connection's default": "der Standard der Verbindung",
  "a custom event, because {1} has no name for it": "ein eigenes Ereignis, weil {1} keinen Namen dafür hat",
  "its usual name, because {1} has none of its own": "sein üblicher Name, weil {1} keinen eigenen hat",
  "no dclid or gclid": "keine dclid oder gclid",
  "Campaign Manager 360 takes no refunds": "Campaign Manager 360 nimmt keine Erstattungen an",
  "no Floodlight activity for this event": "keine Floodlight-Aktivität für dieses Ereignis",
};
