// The settings of platforms: labels and help.

import type { ServerTexts } from "../../server.ts";

export const settings: ServerTexts = {
  'A JSON object of event names and goal names: {"lead": "Offline lead"}.':
    'Ein JSON-Objekt aus Ereignisnamen und Zielnamen: {"lead": "Offline lead"}.',
  'A JSON object of header names and values, for example {"Authorization": "Bearer …"}.':
    'Ein JSON-Objekt aus Header-Namen und Werten, zum Beispiel {"Authorization": "Bearer …"}.',
  Region: "Region",
  URL: "URL",
  "Sends conversions to an advertiser of Amazon DSP, through the Events API (open beta).":
    "Sendet Conversions an einen Werbetreibenden von Amazon DSP, über die Events API (offene Beta).",
  "Sends conversions of a website to AppLovin Axon, through the Conversion API.":
    "Sendet Conversions einer Website an AppLovin Axon, über die Conversion API.",
  "Sends conversions as events to a web stream of a Google Analytics 4 property.":
    "Sendet Conversions als Ereignisse an einen Web-Stream einer Google-Analytics-4-Property.",
  "Sends conversions to Google Ads conversion actions through the Data Manager API.":
    "Sendet Conversions an Conversion-Aktionen von Google Ads, über die Data Manager API.",
  "Counts conversions for rules of LinkedIn Campaign Manager, through the Conversions API.":
    "Zählt Conversions für Regeln im LinkedIn Campaign Manager, über die Conversions API.",
  "Sends conversions to a dataset (pixel) of Meta for ads on Facebook and Instagram.":
    "Sendet Conversions an ein Dataset (Pixel) von Meta für Anzeigen auf Facebook und Instagram.",
  "Sends conversions to a UET tag, and late ones to a goal for offline conversions.":
    "Sendet Conversions an ein UET-Tag, und späte an ein Ziel für Offline-Conversions.",
  "Sends conversions to a pixel of Nextdoor Ads Manager, through the Conversion API.":
    "Sendet Conversions an ein Pixel des Nextdoor Ads Manager, über die Conversion API.",
  "Sends conversions to a pixel of OpenAI Ads (ads in ChatGPT), through the Conversions API.":
    "Sendet Conversions an ein Pixel von OpenAI Ads (Anzeigen in ChatGPT), über die Conversions API.",
  "Reports conversions after clicks on Outbrain ads, by server-to-server tracking.":
    "Meldet Conversions nach Klicks auf Outbrain-Anzeigen, durch Server-zu-Server-Tracking.",
  "Sends conversions to a Pinterest ad account with the Conversions API.":
    "Sendet Conversions an ein Werbekonto von Pinterest, über die Conversions API.",
  "Sends conversions to a Quora Ads account, through the Conversion API.":
    "Sendet Conversions an ein Konto von Quora Ads, über die Conversion API.",
  "Sends conversions to a pixel of Reddit Ads, through the Conversions API.":
    "Sendet Conversions an ein Pixel von Reddit Ads, über die Conversions API.",
  "Built into the relay: accepts every conversion and shows what a platform would have received.":
    "Im Relay eingebaut: nimmt jede Conversion an und zeigt, was eine Plattform erhalten hätte.",
  "Sends conversions as track calls to a Segment source, or to a RudderStack data plane.":
    "Sendet Conversions als Track-Aufrufe an eine Segment-Quelle oder eine Data Plane von RudderStack.",
  "Sends conversions to a Snap Pixel with the Conversions API.":
    "Sendet Conversions an ein Snap Pixel, über die Conversions API.",
  "Sends conversions to a connection of Spotify Ads Manager, through the Conversions API.":
    "Sendet Conversions an eine Verbindung des Spotify Ads Manager, über die Conversions API.",
  "Reports conversions after clicks on Taboola ads, by server-to-server tracking.":
    "Meldet Conversions nach Klicks auf Taboola-Anzeigen, durch Server-zu-Server-Tracking.",
  "Sends conversions to a TikTok pixel with the Events API.": "Sendet Conversions an ein TikTok-Pixel, über die Events API.",
  "Sends each conversion to your own HTTPS endpoint.": "Sendet jede Conversion an Ihren eigenen HTTPS-Endpunkt.",
  "Counts conversions for event tags of X Ads, through the Conversion API.":
    "Zählt Conversions für Ereignis-Tags von X Ads, über die Conversion API.",
  "Advertiser ID": "Advertiser-ID",
  "Client ID": "Client-ID",
  Country: "Land",
  "Data set": "Datensatz",
  "Where conversions happen": "Wo Conversions stattfinden",
  "Event key": "Ereignisschlüssel",
  "Kind of website": "Art der Website",
  "Default event": "Standardereignis",
  "Value of a lead": "Wert eines Leads",
  "Measurement ID": "Mess-ID",
  "Events without a client ID": "Ereignisse ohne Client-ID",
  "Hashed contact data": "Gehashte Kontaktdaten",
  "Customer ID": "Kundennummer",
  "Conversion action": "Conversion-Aktion",
  "Manager account": "Verwaltungskonto",
  "Enhanced conversions for leads": "Erweiterte Conversions für Leads",
  "Event source": "Ereignisquelle",
  "Order IDs of digits only": "Bestellnummern nur aus Ziffern",
  "Merchant Center account": "Merchant-Center-Konto",
  "Merchant Center feed label": "Feed-Label des Merchant Center",
  "Merchant Center feed language": "Feed-Sprache des Merchant Center",
  "Ad account": "Werbekonto",
  "Default conversion rule": "Standard-Conversion-Regel",
  "IP address": "IP-Adresse",
  "API version": "API-Version",
  "Dataset (pixel) ID": "Dataset-ID (Pixel-ID)",
  "Graph API version": "Version der Graph API",
  "UET tag ID": "ID des UET-Tags",
  "Developer token": "Entwicklertoken",
  "Ad account ID": "ID des Werbekontos",
  "Manager account ID": "ID des Verwaltungskontos",
  "Offline goal": "Offline-Ziel",
  "Offline goals per event": "Offline-Ziele pro Ereignis",
  "Form of msclkid": "Form der msclkid",
  "Data source ID": "ID der Datenquelle",
  "Partner ID": "Partner-ID",
  "Form of phone numbers": "Form von Telefonnummern",
  "Pixel ID": "Pixel-ID",
  "Currency of the ad account": "Währung des Werbekontos",
  "Test ID": "Test-ID",
  "Form of the browser ID": "Form der Browser-ID",
  "Events without match keys": "Ereignisse ohne Abgleichsdaten",
  "Region of limited data use": "Region der eingeschränkten Datennutzung",
  Source: "Quelle",
  "Data plane URL": "URL der Data Plane",
  "Consent categories": "Einwilligungskategorien",
  "Access token expires": "Zugriffstoken läuft ab",
  "Deduplication ID": "Deduplizierungs-ID",
  "Limited data use": "Eingeschränkte Datennutzung",
  "Site URL": "URL der Website",
  "Test event code": "Testereignis-Code",
  "Connection ID": "Verbindungs-ID",
  "Account ID": "Konto-ID",
  Method: "Methode",
  Headers: "Header",
  "Body template": "Vorlage des Inhalts",
  "Success rule": "Erfolgsregel",
  "Default event tag": "Standard-Ereignis-Tag",
  "The number of the advertiser in Amazon DSP (CFID).": "Die Nummer des Werbetreibenden in Amazon DSP (CFID).",
  "The client id of your Login with Amazon profile, amzn1.application-oa2-client.…; the one of the app that signs in.":
    "Die Client-ID Ihres Profils für Login with Amazon, amzn1.application-oa2-client.…; die der App, die sich anmeldet.",
  "na (North America), eu (Europe) or fe (Far East): where the advertiser's account is.":
    "na (Nordamerika), eu (Europa) oder fe (Fernost): wo das Konto des Werbetreibenden ist.",
  "Where your customers are, as two letters. Map countryCode if there are several.":
    "Wo Ihre Kunden sind, als zwei Buchstaben. Ordnen Sie countryCode zu, wenn es mehrere Länder sind.",
  "The name of the event data set, if you have several.": "Der Name des Ereignisdatensatzes, wenn Sie mehrere haben.",
  "From the Keys page of the AppLovin dashboard; the key that your pixel is installed with.":
    "Von der Seite Keys im AppLovin-Dashboard; der Schlüssel, mit dem Ihr Pixel eingebaut ist.",
  "shop, leads or restricted_leads: as AppLovin set up your pixel. It decides which events and fields Axon takes.":
    "shop, leads oder restricted_leads: so, wie AppLovin Ihr Pixel eingerichtet hat. Davon hängt ab, welche Ereignisse und Felder Axon annimmt.",
  "The Axon event for events that it has no name for. Without it, these are skipped.":
    "Das Axon-Ereignis für Ereignisse, für die Axon keinen Namen hat. Ohne Angabe werden diese übersprungen.",
  "The value of leads that come without one, in the currency of the event (USD by default).":
    "Der Wert von Leads, die keinen haben, in der Währung des Ereignisses (sonst USD).",
  "G- and some letters and digits: Admin > Data streams > your stream. Not the stream id, which is a number.":
    "G- und einige Buchstaben und Ziffern: Verwaltung > Datenstreams > Ihr Stream. Nicht die Stream-ID, die eine Zahl ist.",
  "global, or eu if the data must be collected in the European Union. Test events are validated by the global server.":
    "global, oder eu, wenn die Daten in der Europäischen Union erfasst werden müssen. Testereignisse prüft der globale Server.",
  "pseudonym sends events of people whose _ga cookie is not known under a generated client id, which counts as a new user. skip does not send them.":
    "pseudonym sendet Ereignisse von Personen, deren _ga-Cookie nicht bekannt ist, unter einer erzeugten Client-ID; sie zählt als neuer Nutzer. skip sendet sie nicht.",
  "on sends hashed email and phone; the property uses them once user-provided data collection is switched on there. off leaves them out.":
    "on sendet gehashte E-Mail-Adresse und Telefonnummer; die Property verwendet sie, sobald dort die Erfassung von Nutzerdaten eingeschaltet ist. off lässt sie weg.",
  "Property id": "Property-ID",
  "A number, under Admin > Property details. With it and a sign-in, Google is asked which purchases it counted. Not needed to send events.":
    "Eine Zahl, unter Verwaltung > Property-Details. Damit und mit einer Anmeldung wird Google gefragt, welche Käufe gezählt wurden. Zum Senden nicht nötig.",
  "Filled by signing in; reads which purchases were counted. Not needed to send events.":
    "Wird durch die Anmeldung gefüllt; liest, welche Käufe gezählt wurden. Zum Senden nicht nötig.",
  "The Google Ads account that owns the conversion actions, like 123-456-7890. Not its manager account.":
    "Das Google-Ads-Konto, dem die Conversion-Aktionen gehören, wie 123-456-7890. Nicht sein Verwaltungskonto.",
  "The number of the conversion action for all events without their own; several are separated by commas.":
    "Die Nummer der Conversion-Aktion für alle Ereignisse ohne eigene; mehrere durch Kommas getrennt.",
  "The manager account through which you access the account. Empty if you access it directly.":
    "Das Verwaltungskonto, über das Sie auf das Konto zugreifen. Leer, wenn Sie direkt zugreifen.",
  "on sends hashed email and phone, also for events without a click id. Enable it in Google Ads and accept the customer data terms there first: otherwise Google rejects the events.":
    "on sendet gehashte E-Mail-Adresse und Telefonnummer, auch für Ereignisse ohne Klick-ID. Schalten Sie es zuerst in Google Ads ein und akzeptieren Sie dort die Bedingungen für Kundendaten: Sonst lehnt Google die Ereignisse ab.",
  "prefixed sends 1001 as order-1001, because Google may reject bare digits. as_given sends 1001: choose it when the Google tag reports the same order ids.":
    "prefixed sendet 1001 als order-1001, weil Google bloße Ziffern ablehnen kann. as_given sendet 1001: Wählen Sie das, wenn das Google-Tag dieselben Bestellnummern meldet.",
  "The number of the Merchant Center account that has your items. Only needed for reports by product.":
    "Die Nummer des Merchant-Center-Kontos mit Ihren Artikeln. Nur für Berichte nach Produkt nötig.",
  "The label of the feed that has your items, US for example.": "Das Label des Feeds mit Ihren Artikeln, zum Beispiel US.",
  "The language of the feed that has your items, as two letters.":
    "Die Sprache des Feeds mit Ihren Artikeln, als zwei Buchstaben.",
  "The number of the ad account in Campaign Manager.": "Die Nummer des Werbekontos im Campaign Manager.",
  "The rule for events without their own; several are separated by commas. Without it, only events with their own rule are sent.":
    "Die Regel für Ereignisse ohne eigene; mehrere durch Kommas getrennt. Ohne Angabe werden nur Ereignisse mit eigener Regel gesendet.",
  "Sends the visitor's IPv4 address as a match key: no, plain or sha256. Not every account may use it.":
    "Sendet die IPv4-Adresse des Besuchers zum Abgleich: no, plain oder sha256. Nicht jedes Konto darf sie verwenden.",
  "The year and month of the LinkedIn API version. Change it only when LinkedIn has retired the one that is set.":
    "Jahr und Monat der Version der LinkedIn-API. Ändern Sie sie nur, wenn LinkedIn die eingestellte abgeschaltet hat.",
  "The number of the dataset in Meta's Events Manager, under Settings.":
    "Die Nummer des Datasets im Events Manager von Meta, unter Einstellungen.",
  "website: on the site; where the visit is unknown, system_generated is sent. Or always one of system_generated, email, phone_call, chat, other.":
    "website: auf der Website; ist der Besuch unbekannt, wird system_generated gesendet. Oder immer eines von system_generated, email, phone_call, chat, other.",
  "The version of Meta's Graph API. Change it only when Meta has retired the one that is set.":
    "Die Version der Graph API von Meta. Ändern Sie sie nur, wenn Meta die eingestellte abgeschaltet hat.",
  "The number of an ad account; only needed to choose the dataset from a list.":
    "Die Nummer eines Werbekontos; nur nötig, um das Dataset aus einer Liste zu wählen.",
  "The number of the UET tag that the goals belong to: Conversions > UET tag.":
    "Die Nummer des UET-Tags, zu dem die Ziele gehören: Conversions > UET-Tag.",
  "From the Microsoft Advertising developer portal. Only offline conversions need it.":
    "Aus dem Entwicklerportal von Microsoft Advertising. Nur Offline-Conversions brauchen es.",
  "The number of the ad account that owns the offline goal: aid in the URL of its pages.":
    "Die Nummer des Werbekontos, dem das Offline-Ziel gehört: aid in der URL seiner Seiten.",
  "The number of the manager account: cid in the URL of its pages. Microsoft requires it for most users.":
    "Die Nummer des Verwaltungskontos: cid in der URL seiner Seiten. Microsoft verlangt sie bei den meisten Nutzern.",
  "The exact name of the offline conversion goal for all events without their own. It must be at least two hours old.":
    "Der genaue Name des Ziels für Offline-Conversions, für alle Ereignisse ohne eigenes. Es muss mindestens zwei Stunden alt sein.",
  "with_dashes writes the click id as a UUID for the Conversions API, which asks for one; in URLs it often has no dashes. as_captured sends it unchanged.":
    "with_dashes schreibt die Klick-ID als UUID für die Conversions API, die eine verlangt; in URLs hat sie oft keine Bindestriche. as_captured sendet sie unverändert.",
  "The id of the pixel in Ads Manager, under Assets, Pixels.": "Die ID des Pixels im Ads Manager, unter Assets, Pixels.",
  "Only if Nextdoor gave you one: it is sent with every event.":
    "Nur wenn Nextdoor Ihnen eine gegeben hat: Sie wird mit jedem Ereignis gesendet.",
  "Sources differ: Nextdoor's reference asks for E.164, its own connectors send ten digits. none leaves phones out, plus hashes the E.164 number with its plus sign.":
    "Die Quellen widersprechen sich: Nextdoors Referenz verlangt E.164, die eigenen Konnektoren senden zehn Ziffern. none lässt Telefonnummern weg, plus hasht die E.164-Nummer mit Pluszeichen.",
  "The id of the pixel on the Conversions tab of Ads Manager.": "Die ID des Pixels auf dem Reiter Conversions des Ads Manager.",
  "The number of the ad account in Pinterest's Ads Manager. It is not the id of the tag.":
    "Die Nummer des Werbekontos im Ads Manager von Pinterest. Sie ist nicht die ID des Tags.",
  "The number of the ad account in Quora Ads Manager.": "Die Nummer des Werbekontos im Quora Ads Manager.",
  "ISO 4217 code. Values in other currencies are left out, because Quora would read them in this one.":
    "ISO-4217-Code. Werte in anderen Währungen werden weggelassen, weil Quora sie in dieser lesen würde.",
  "The id of the ad account; only needed to choose the pixel from a list.":
    "Die ID des Werbekontos; nur nötig, um das Pixel aus einer Liste zu wählen.",
  "The id of the pixel in Events Manager, often the same as that of the ad account.":
    "Die ID des Pixels im Events Manager, oft dieselbe wie die des Werbekontos.",
  "From Event Testing in Events Manager; events of test keys are sent with it and show up there.":
    "Aus Event Testing im Events Manager; Ereignisse von Testschlüsseln werden damit gesendet und erscheinen dort.",
  "WEBSITE, APP, PHYSICAL_STORE or OTHER. Reddit reports them separately and compares only WEBSITE with its pixel.":
    "WEBSITE, APP, PHYSICAL_STORE oder OTHER. Reddit berichtet sie getrennt und vergleicht nur WEBSITE mit seinem Pixel.",
  "Sources differ on how Reddit expects the _rdt_uuid cookie: id (what follows the dot) or cookie (the whole value).":
    "Die Quellen widersprechen sich, wie Reddit das Cookie _rdt_uuid erwartet: id (was nach dem Punkt folgt) oder cookie (der ganze Wert).",
  "skip, or send: Reddit may count or reject them. Includes events of people who opted out.":
    "skip, oder send: Reddit kann sie zählen oder ablehnen. Das schließt Ereignisse von Personen ein, die abgelehnt haben.",
  "Country and region whose law requires limited data use, like US-CA; sent with limited events.":
    "Land und Region, deren Gesetz die eingeschränkte Datennutzung verlangt, wie US-CA; wird mit eingeschränkten Ereignissen gesendet.",
  "Workspace and source, as in the URL of the source's page: acme/website. Distinguishes your connections.":
    "Workspace und Quelle, wie in der URL der Seite der Quelle: acme/website. Unterscheidet Ihre Verbindungen.",
  "us, or eu for workspaces in the European Union. In the wrong region events are lost without an error.":
    "us, oder eu für Workspaces in der Europäischen Union. In der falschen Region gehen Ereignisse ohne Fehler verloren.",
  "Only for RudderStack and proxies: the URL before /v1, like https://example.dataplane.rudderstack.com.":
    "Nur für RudderStack und Proxys: die URL vor /v1, wie https://example.dataplane.rudderstack.com.",
  "The ids of the consent categories that a person's choice applies to, separated by commas: C0002,C0004.":
    "Die IDs der Einwilligungskategorien, für die die Entscheidung einer Person gilt, durch Kommas getrennt: C0002,C0004.",
  "When the access token expires, as a Unix time in milliseconds; filled by signing in.":
    "Wann das Zugriffstoken abläuft, als Unix-Zeit in Millisekunden; wird durch die Anmeldung gefüllt.",
  "Which id the platform compares with the one that your pixel sends: event (the id that cc.eventId gives in the browser) or order (the order id, where there is one).":
    "Welche ID die Plattform mit der Ihres Pixels vergleicht: event (die ID, die cc.eventId im Browser gibt) oder order (die Bestellnummer, falls vorhanden).",
  "denied: limits the use of events from people who opted out, where those are sent at all. always: limits every event, which some laws of the United States require.":
    "denied: schränkt die Nutzung von Ereignissen ein, deren Personen abgelehnt haben, falls solche überhaupt gesendet werden. always: schränkt jedes Ereignis ein, was manche Gesetze der USA verlangen.",
  "The code from the platform's page for test events. Only events that come with a test key carry it.":
    "Der Code von der Seite der Plattform für Testereignisse. Nur Ereignisse mit einem Testschlüssel tragen ihn.",
  "The id of the Snap Pixel in Ads Manager, under Events Manager.":
    "Die ID des Snap Pixels im Ads Manager, unter Events Manager.",
  "Snapchat requires a page with every web event. Where the page of the visit is unknown, this URL is sent; without it, such an event is sent as an offline event.":
    "Snapchat verlangt zu jedem Web-Ereignis eine Seite. Ist die Seite des Besuchs unbekannt, wird diese URL gesendet; ohne sie wird ein solches Ereignis als Offline-Ereignis gesendet.",
  "Only to list the pixels of an ad account; not needed when you enter the pixel id yourself.":
    "Nur, um die Pixel eines Werbekontos aufzulisten; nicht nötig, wenn Sie die Pixel-ID selbst eingeben.",
  "From Ads Manager: Events, View Conversions API instructions. It belongs to the same business as the token.":
    "Aus dem Ads Manager: Events, View Conversions API instructions. Sie gehört zum selben Unternehmen wie das Token.",
  "WEB, APP or OFFLINE.": "WEB, APP oder OFFLINE.",
  "Spotify does not say if the plus sign of a number is hashed: plus (with it), digits (without it) or none.":
    "Spotify sagt nicht, ob das Pluszeichen einer Nummer gehasht wird: plus (mit), digits (ohne) oder none.",
  "The number of the account in Realize.": "Die Nummer des Kontos in Realize.",
  "The code of letters and digits under the pixel's name in TikTok's Events Manager.":
    "Der Code aus Buchstaben und Ziffern unter dem Namen des Pixels im Events Manager von TikTok.",
  "skip: events without any match key, such as those of people who opted out, are not sent. send: they are sent without personal data; TikTok seems to accept them, but cannot attribute them to an ad.":
    "skip: Ereignisse ohne Abgleichsdaten, etwa von Personen, die abgelehnt haben, werden nicht gesendet. send: Sie werden ohne Personendaten gesendet; TikTok scheint sie anzunehmen, kann sie aber keiner Anzeige zuordnen.",
  "The HTTPS URL that receives each conversion. It must be reachable from the internet.":
    "Die HTTPS-URL, die jede Conversion erhält. Sie muss aus dem Internet erreichbar sein.",
  "POST, PUT or PATCH.": "POST, PUT oder PATCH.",
  "The responses that mean accepted: statuses (2xx, 200-204, 409) and conditions on the JSON body (ok=true).":
    "Die Antworten, die „angenommen“ bedeuten: Status (2xx, 200-204, 409) und Bedingungen an den JSON-Inhalt (ok=true).",
  "The id of the pixel in Events Manager, a few letters and digits.":
    "Die ID des Pixels im Events Manager, einige Buchstaben und Ziffern.",
  "The tag for events without their own; several are separated by commas. Without it, only events with their own tag are sent.":
    "Das Tag für Ereignisse ohne eigenes; mehrere durch Kommas getrennt. Ohne Angabe werden nur Ereignisse mit eigenem Tag gesendet.",
  "API secret": "API-Secret",
  "Access token": "Zugriffstoken",
  "Refresh token": "Refresh-Token",
  "Filled by signing in; renews the access token before it expires.":
    "Wird durch die Anmeldung gefüllt; erneuert das Zugriffstoken, bevor es abläuft.",
  "Admin > Data streams > your stream > Measurement Protocol API secrets > Create.":
    "Verwaltung > Datenstreams > Ihr Stream > Measurement Protocol API secrets > Erstellen.",
  "Consumer key": "Consumer Key",
  "Consumer secret": "Consumer Secret",
  "Conversion API key": "Conversion-API-Schlüssel",
  "Conversion access token": "Conversion-Zugriffstoken",
  "Conversion token": "Conversion-Token",
  "Conversions API key": "Conversions-API-Schlüssel",
  "Conversions API token": "Conversions-API-Token",
  "Filled by signing in. A pasted token needs the scope datamanager and expires after an hour.":
    "Wird durch die Anmeldung gefüllt. Ein eingefügtes Token braucht die Berechtigung datamanager und läuft nach einer Stunde ab.",
  "Filled by signing in. It expires after an hour.": "Wird durch die Anmeldung gefüllt. Es läuft nach einer Stunde ab.",
  "Filled by signing in. Only offline conversions need it: events older than 7 days, or all without a tag token.":
    "Wird durch die Anmeldung gefüllt. Nur Offline-Conversions brauchen es: Ereignisse, die älter als 7 Tage sind, oder alle ohne Token des Tags.",
  "From Ads Manager: Conversions, Set up API, Generate new token. It is long-lived.":
    "Aus dem Ads Manager: Conversions, Set up API, Generate new token. Es ist langlebig.",
  "From Business Manager: Business details, Conversions API tokens. It is long-lived.":
    "Aus dem Business Manager: Business details, Conversions API tokens. Es ist langlebig.",
  "From Campaign Manager (a Direct API source), or filled by signing in.":
    "Aus dem Campaign Manager (eine Direct-API-Quelle), oder durch die Anmeldung gefüllt.",
  "From Events Manager, Conversions API; or filled by signing in.":
    "Aus dem Events Manager, Conversions API; oder durch die Anmeldung gefüllt.",
  "From Events Manager: the dataset, Settings, Conversions API, Generate access token.":
    "Aus dem Events Manager: das Dataset, Einstellungen, Conversions API, Zugriffstoken erzeugen.",
  "From Events Manager: the pixel, Settings, Events API, Generate access token.":
    "Aus dem Events Manager: das Pixel, Settings, Events API, Generate access token.",
  "From Quora Ads Manager: the Conversion API section generates it.":
    "Aus dem Quora Ads Manager: Der Abschnitt Conversion API erzeugt es.",
  "From the Conversions tab of Ads Manager. It is shown once, and is not the key of the Advertiser API.":
    "Vom Reiter Conversions des Ads Manager. Er wird einmal angezeigt und ist nicht der Schlüssel der Advertiser API.",
  "From the Keys page of the AppLovin dashboard, or from AppLovin's support. It is not the event key.":
    "Von der Seite Keys im AppLovin-Dashboard oder vom Support von AppLovin. Er ist nicht der Ereignisschlüssel.",
  "From the account page of Nextdoor Ads Manager.": "Von der Kontoseite des Nextdoor Ads Manager.",
  "Generated in Ads Manager next to the connection id. It is not a token of the Ads API.":
    "Wird im Ads Manager neben der Verbindungs-ID erzeugt. Es ist kein Token der Ads API.",
  "OAuth 1.0a access token": "OAuth-1.0a-Access-Token",
  "OAuth 1.0a token secret": "OAuth-1.0a-Token-Secret",
  "Only for lists of accounts and conversion actions to choose from. Conversions do not need it.":
    "Nur für Listen von Konten und Conversion-Aktionen zur Auswahl. Conversions brauchen es nicht.",
  "Pixel token": "Pixel-Token",
  "Segment: source > Settings > API keys. RudderStack: source > Setup.":
    "Segment: Quelle > Settings > API keys. RudderStack: Quelle > Setup.",
  "The token of this tag for the Conversions API: edit the tag, then Use Conversions API. For events of the last 7 days.":
    "Das Token dieses Tags für die Conversions API: Tag bearbeiten, dann „Use Conversions API“. Für Ereignisse der letzten 7 Tage.",
  "The token that Events Manager generates for the Conversion API of this pixel.":
    "Das Token, das der Events Manager für die Conversion API dieses Pixels erzeugt.",
  "UET tag token": "Token des UET-Tags",
  "Write key": "Write Key",
  "Only without a pixel token: one of the four keys of an app that is approved for the X Ads API.":
    "Nur ohne Pixel-Token: einer der vier Schlüssel einer App, die für die X Ads API zugelassen ist.",
  "One of {1}.": "Eines von {1}.",
  "Where your conversions happen: {1}.": "Wo Ihre Conversions stattfinden: {1}.",
  "One of {1}. OpenAI compares only web events with its pixel.":
    "Eines von {1}. OpenAI vergleicht nur Web-Ereignisse mit seinem Pixel.",
  "{1} requires a page with every web event. Where the page of the visit is unknown, this URL is sent; without it, such an event is sent as system_generated.":
    "{1} verlangt zu jedem Web-Ereignis eine Seite. Ist die Seite des Besuchs unbekannt, wird diese URL gesendet; ohne sie wird ein solches Ereignis als system_generated gesendet.",
  "{1} requires a page with every web event. Where the page of the visit is unknown, this URL is sent; without it, such an event is sent with action_source other.":
    "{1} verlangt zu jedem Web-Ereignis eine Seite. Ist die Seite des Besuchs unbekannt, wird diese URL gesendet; ohne sie wird ein solches Ereignis mit der action_source other gesendet.",
  'The JSON body, with fields of the conversion in double braces: {"order": "{{orderId}}", "total": "{{value}}"}. Without a template the whole conversion is sent.':
    'Der JSON-Inhalt, mit Feldern der Conversion in doppelten geschweiften Klammern: {"order": "{{orderId}}", "total": "{{value}}"}. Ohne Vorlage wird die ganze Conversion gesendet.',
  "Sends conversions to Floodlight activities of Campaign Manager 360, which Display & Video 360 and Search Ads 360 use too, through the Data Manager API.":
    "Sendet Conversions über die Data Manager API an Floodlight-Aktivitäten von Campaign Manager 360, die auch Display & Video 360 und Search Ads 360 verwenden.",
  "Floodlight configuration ID": "ID der Floodlight-Konfiguration",
  "The id of the advertiser in Campaign Manager 360, or of its parent advertiser.":
    "Die ID des Werbetreibenden in Campaign Manager 360 oder des ihm übergeordneten.",
  "Floodlight activity": "Floodlight-Aktivität",
  "The number of the Floodlight activity for all events without their own; several are separated by commas.":
    "Die Nummer der Floodlight-Aktivität für alle Ereignisse ohne eigene; mehrere durch Kommas getrennt.",
  "Signing secret": "Signaturgeheimnis",
  "Signs each request as Standard Webhooks says. Leave it out, and the relay creates one and shows it once.":
    "Signiert jede Anfrage nach Standard Webhooks. Lassen Sie es weg, erzeugt das Relay eines und zeigt es einmal.",
};
