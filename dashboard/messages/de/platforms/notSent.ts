// Fields that a platform does not receive, and why.

import type { ServerTexts } from "../../server.ts";

export const notSent: ServerTexts = {
  "Refunds: {1} cannot revoke a purchase.": "Erstattungen: {1} kann einen Kauf nicht zurücknehmen.",
  "Names and UTM fields: {1} has no field for them.": "Namen und UTM-Felder: {1} hat kein Feld dafür.",
  "UTM fields: {1} has no field for them.": "UTM-Felder: {1} hat kein Feld dafür.",
  "UTM fields, unless you map them: {1} has no field for them.":
    "UTM-Felder, wenn Sie sie nicht zuordnen: {1} hat kein Feld dafür.",
  "A purchase without a value, because {1} rejects the whole request.": "Ein Kauf ohne Wert, weil {1} die ganze Anfrage ablehnt.",
  "Conversions without a click id: {1} counts no others.": "Conversions ohne Klick-ID: {1} zählt keine anderen.",
  "Refunds: {1} cannot revoke a conversion.": "Erstattungen: {1} kann eine Conversion nicht zurücknehmen.",
  "aref: Amazon takes tokens that are made from it, in a form that it does not publish. It is captured for later.":
    "aref: Amazon nimmt Tokens an, die daraus gebildet werden, in einer nicht veröffentlichten Form. Sie wird für später erfasst.",
  "Values in other currencies, and values of events that are no purchases: Amazon would take them for scores.":
    "Werte in anderen Währungen, und Werte von Ereignissen, die keine Käufe sind: Amazon würde sie für Punktwerte halten.",
  "LIMITED_DATA_USE: Amazon does not process such an event at all.":
    "LIMITED_DATA_USE: Amazon verarbeitet ein solches Ereignis gar nicht.",
  "User agent, UTM fields and the items themselves: Amazon has no field for them.":
    "User-Agent, UTM-Felder und die Artikel selbst: Amazon hat kein Feld dafür.",
  "Events of people without a visit: Axon requires the page, the IP address and the user agent.":
    "Ereignisse von Personen ohne Besuch: Axon verlangt Seite, IP-Adresse und User-Agent.",
  "Events that Axon has no name for, until you choose one, or a default: it has no custom events.":
    "Ereignisse, für die Axon keinen Namen hat, bis Sie einen oder einen Standard wählen: Axon hat keine eigenen Ereignisse.",
  "A view, cart, checkout or purchase without a value and without prices of its items, because Axon rejects the whole request.":
    "Eine Ansicht, ein Warenkorb, ein Checkout oder ein Kauf ohne Wert und ohne Preise der Artikel, weil Axon die ganze Anfrage ablehnt.",
  "Categories of items: Axon takes numbers of Google's product taxonomy.":
    "Kategorien von Artikeln: Axon nimmt Nummern aus Googles Produkttaxonomie.",
  "Click ids and UTM fields: Google Analytics has no field for them and takes the source from the session. A mapping can put UTM fields into parameters of your own.":
    "Klick-IDs und UTM-Felder: Google Analytics hat kein Feld dafür und nimmt die Quelle aus der Sitzung. Eine Zuordnung kann UTM-Felder in eigene Parameter schreiben.",
  "IP address, location and device: events are matched to the visit by client id and session.":
    "IP-Adresse, Standort und Gerät: Ereignisse werden dem Besuch durch Client-ID und Sitzung zugeordnet.",
  "Names: Google hashes them with their spaces, and the relay has no such hash.":
    "Namen: Google hasht sie mit ihren Leerzeichen, und das Relay hat keinen solchen Hash.",
  "Order ids of more than 100 characters: Google would drop them. Texts of items are cut to 100.":
    "Bestellnummern mit mehr als 100 Zeichen: Google würde sie verwerfen. Texte von Artikeln werden auf 100 gekürzt.",
  "Items of other events, leads and custom ones for example: Google drops an event with a list that it does not expect.":
    "Artikel anderer Ereignisse, zum Beispiel von Leads und eigenen: Google verwirft ein Ereignis mit einer unerwarteten Liste.",
  "Names: Google accepts them only with country and postal code, which events do not have.":
    "Namen: Google nimmt sie nur mit Land und Postleitzahl an, und die haben Ereignisse nicht.",
  "IP address and user agent: Google forbids the IP address for people in Europe, and the person's location is unknown.":
    "IP-Adresse und User-Agent: Google verbietet die IP-Adresse für Personen in Europa, und der Ort der Person ist unbekannt.",
  "Refunds, unless a conversion action is chosen for the event refund: Google counts every event as revenue. With the site's setting corrections, a refund changes the value of the purchase instead.":
    "Erstattungen, wenn für das Ereignis refund keine Conversion-Aktion gewählt ist: Google zählt jedes Ereignis als Umsatz. Mit der Einstellung corrections der Website ändert eine Erstattung stattdessen den Wert des Kaufs.",
  "Order ids that hold an email address: the event id is sent instead.":
    "Bestellnummern, die eine E-Mail-Adresse enthalten: Stattdessen wird die Ereignis-ID gesendet.",
  "Click ids with spaces or other invalid characters.": "Klick-IDs mit Leerzeichen oder anderen ungültigen Zeichen.",
  "Items of a click with wbraid or gbraid, which Google ignores; name, category and brand of items, which Google takes from Merchant Center.":
    "Artikel eines Klicks mit wbraid oder gbraid, die Google ignoriert; Name, Kategorie und Marke von Artikeln, die Google aus dem Merchant Center nimmt.",
  "Names: LinkedIn accepts them in plain text only, and the relay stores only hashes. Company, title and country can only be sent with names.":
    "Namen: LinkedIn nimmt sie nur im Klartext, und das Relay speichert nur Hashes. Firma, Position und Land gehen nur zusammen mit Namen.",
  "Phone, user agent, page, UTM fields and items: LinkedIn has no field for them.":
    "Telefonnummer, User-Agent, Seite, UTM-Felder und Artikel: LinkedIn hat kein Feld dafür.",
  "Order ids have no field of their own; they can serve as the event id.":
    "Bestellnummern haben kein eigenes Feld; sie können als Ereignis-ID dienen.",
  "A li_fat_id that is not a UUID.": "Eine li_fat_id, die keine UUID ist.",
  "Name, category and brand of items, unless you map them: Meta has one name and one category for the whole event.":
    "Name, Kategorie und Marke von Artikeln, wenn Sie sie nicht zuordnen: Meta hat einen Namen und eine Kategorie für das ganze Ereignis.",
  "_fbc and _fbp cookies that are not of the form fb.1.MILLISECONDS.ID, and click ids with invalid characters.":
    "Cookies _fbc und _fbp, die nicht die Form fb.1.MILLISEKUNDEN.ID haben, und Klick-IDs mit ungültigen Zeichen.",
  "Names and UTM fields: Microsoft has no fields for them.": "Namen und UTM-Felder: Microsoft hat keine Felder dafür.",
  "Order id, event id and items of offline conversions: there are no fields for them.":
    "Bestellnummer, Ereignis-ID und Artikel von Offline-Conversions: Es gibt keine Felder dafür.",
  "Category and brand of items: Microsoft has no fields for them.":
    "Kategorie und Marke von Artikeln: Microsoft hat keine Felder dafür.",
  "A click id that is not a UUID: it would make the event invalid.":
    "Eine Klick-ID, die keine UUID ist: Sie würde das Ereignis ungültig machen.",
  "Refunds, unless a name is chosen for the event refund: every event counts as revenue.":
    "Erstattungen, wenn für das Ereignis refund kein Name gewählt ist: Jedes Ereignis zählt als Umsatz.",
  "Refunds, unless a name is chosen for the event refund: every event counts as revenue. With the site's setting corrections, a refund restates or retracts an offline conversion instead.":
    "Erstattungen, wenn für das Ereignis refund kein Name gewählt ist: Jedes Ereignis zählt als Umsatz. Mit der Einstellung corrections der Website ändert eine Erstattung stattdessen eine Offline-Conversion oder nimmt sie zurück.",
  "Page views: the tag in the browser reports those already.": "Seitenaufrufe: Die meldet schon das Tag im Browser.",
  "Phone numbers, unless the connection is set so: sources differ on the form that Nextdoor expects.":
    "Telefonnummern, wenn die Verbindung nicht so eingestellt ist: Die Quellen widersprechen sich, welche Form Nextdoor erwartet.",
  "Custom event names: Nextdoor has ten numbered custom conversions instead.":
    "Eigene Ereignisnamen: Nextdoor hat stattdessen zehn nummerierte eigene Conversions.",
  "A purchase without a value, because Nextdoor rejects it.": "Ein Kauf ohne Wert, weil Nextdoor ihn ablehnt.",
  "Name, category and brand of items: Nextdoor has no field for them.":
    "Name, Kategorie und Marke von Artikeln: Nextdoor hat kein Feld dafür.",
  "Refunds: OpenAI cannot revoke an order.": "Erstattungen: OpenAI kann eine Bestellung nicht zurücknehmen.",
  "Items of leads, registrations, subscriptions and custom events, and category and brand of items: OpenAI has no field for them.":
    "Artikel von Leads, Registrierungen, Abos und eigenen Ereignissen, und Kategorie und Marke von Artikeln: OpenAI hat kein Feld dafür.",
  "Order ids have no field of their own; they can serve as the id.":
    "Bestellnummern haben kein eigenes Feld; sie können als ID dienen.",
  "The time of the conversion: Outbrain has no field for it and counts a conversion when it arrives. So a backfill sends it none.":
    "Die Zeit der Conversion: Outbrain hat kein Feld dafür und zählt eine Conversion, wenn sie eintrifft. Nachgesendet wird daher keine.",
  "Contact data, IP address, user agent, UTM fields and items: Outbrain has no field for them.":
    "Kontaktdaten, IP-Adresse, User-Agent, UTM-Felder und Artikel: Outbrain hat kein Feld dafür.",
  "Custom event names: Pinterest accepts only custom for them.": "Eigene Ereignisnamen: Pinterest nimmt dafür nur custom an.",
  "Refunds: Pinterest cannot revoke a checkout.": "Erstattungen: Pinterest kann einen Checkout nicht zurücknehmen.",
  "UTM fields and custom fields: Pinterest rejects a request with an unknown key.":
    "UTM-Felder und eigene Felder: Pinterest lehnt eine Anfrage mit einem unbekannten Schlüssel ab.",
  "Email, phone and names: Quora wants them as plain text, and the relay keeps only hashes. Attribution is by click id.":
    "E-Mail-Adresse, Telefonnummer und Namen: Quora will sie im Klartext, und das Relay behält nur Hashes. Zugeordnet wird durch die Klick-ID.",
  "Values in another currency than that of the ad account: Quora has no field for the currency. The conversion is sent without a value.":
    "Werte in einer anderen Währung als der des Werbekontos: Quora hat kein Feld für die Währung. Die Conversion wird ohne Wert gesendet.",
  "Custom event names: Quora accepts only Generic for them.": "Eigene Ereignisnamen: Quora nimmt dafür nur Generic an.",
  "UTM fields and items: Quora has no field for them.": "UTM-Felder und Artikel: Quora hat kein Feld dafür.",
  "Order ids have no field of their own; they can serve as the conversion id.":
    "Bestellnummern haben kein eigenes Feld; sie können als Conversion-ID dienen.",
  "A _rdt_uuid cookie without a UUID.": "Ein Cookie _rdt_uuid ohne UUID.",
  "Brands of items: Reddit has no field for them.": "Marken von Artikeln: Reddit hat kein Feld dafür.",
  "Click id, cookie, IP address and user agent for conversions in a shop: Reddit accepts only contact data there.":
    "Klick-ID, Cookie, IP-Adresse und User-Agent bei Conversions in einem Geschäft: Reddit nimmt dort nur Kontaktdaten an.",
  "email, phone and names: Segment expects them in plain text, and the relay has only hashes. Destinations would hash them again under those names.":
    "E-Mail-Adresse, Telefonnummer und Namen: Segment erwartet sie im Klartext, und das Relay hat nur Hashes. Ziele würden sie unter diesen Namen noch einmal hashen.",
  "Browser ids: Segment has no fields for them.": "Browser-IDs: Segment hat keine Felder dafür.",
  "Name, category and brand of items that are longer than 24 KB together; the items themselves if even their ids are.":
    "Name, Kategorie und Marke von Artikeln, die zusammen länger als 24 KB sind; die Artikel selbst, wenn schon ihre IDs es sind.",
  "Custom event names: events that Snapchat has no name for are sent as CUSTOM_EVENT_1; you may choose CUSTOM_EVENT_2 to CUSTOM_EVENT_5 for some of them.":
    "Eigene Ereignisnamen: Ereignisse, für die Snapchat keinen Namen hat, werden als CUSTOM_EVENT_1 gesendet; für einige können Sie CUSTOM_EVENT_2 bis CUSTOM_EVENT_5 wählen.",
  "Name and category of items: Snapchat has no field for them in an item.":
    "Name und Kategorie von Artikeln: Snapchat hat in einem Artikel kein Feld dafür.",
  "spclid: it is for the pixel; the API has no field for click ids.":
    "spclid: Sie ist für das Pixel; die API hat kein Feld für Klick-IDs.",
  "Custom event names: Spotify has five numbered custom events instead.":
    "Eigene Ereignisnamen: Spotify hat stattdessen fünf nummerierte eigene Ereignisse.",
  "Categories of content: Spotify rejects everything that is not in Google's product taxonomy.":
    "Kategorien von Inhalten: Spotify lehnt alles ab, was nicht in Googles Produkttaxonomie steht.",
  "A purchase without a value, because Spotify requires one.": "Ein Kauf ohne Wert, weil Spotify einen verlangt.",
  "Names, user agent, UTM fields and items: Spotify has no field for them. It has one for the name of the content, which can be mapped (items.name).":
    "Namen, User-Agent, UTM-Felder und Artikel: Spotify hat kein Feld dafür. Es hat eines für den Namen des Inhalts, das zugeordnet werden kann (items.name).",
  "Values in other currencies; the conversion is sent without a value.":
    "Werte in anderen Währungen; die Conversion wird ohne Wert gesendet.",
  "Contact data, IP address, user agent, UTM fields and the items themselves: Taboola has no field for them.":
    "Kontaktdaten, IP-Adresse, User-Agent, UTM-Felder und die Artikel selbst: Taboola hat kein Feld dafür.",
  "Events of apps, shops and CRMs: only web events are sent.":
    "Ereignisse von Apps, Geschäften und CRMs: Nur Web-Ereignisse werden gesendet.",
  "Names, page and UTM fields: X has no field for them.": "Namen, Seite und UTM-Felder: X hat kein Feld dafür.",
  "Order ids have no field of their own; they can serve as the conversion id, or be mapped to the description.":
    "Bestellnummern haben kein eigenes Feld; sie können als Conversion-ID dienen oder der Beschreibung zugeordnet werden.",
  "IPv6 addresses: X accepts IPv4 only.": "IPv6-Adressen: X nimmt nur IPv4 an.",
  "A third decimal of currencies that have one: X is known to accept two.":
    "Eine dritte Nachkommastelle von Währungen, die eine haben: X nimmt bekanntermaßen zwei an.",
  "Click ids with invalid characters.": "Klick-IDs mit ungültigen Zeichen.",
  "Category and brand of items: X has no field for the brand, and does not say what content_type may be.":
    "Kategorie und Marke von Artikeln: X hat kein Feld für die Marke und sagt nicht, was content_type sein darf.",
  "Events without a dclid or gclid: Campaign Manager 360 finds the ad by it.":
    "Ereignisse ohne dclid oder gclid: Campaign Manager 360 findet damit die Anzeige.",
  "wbraid and gbraid: Campaign Manager 360 does not list them among its identifiers.":
    "wbraid und gbraid: Campaign Manager 360 führt sie nicht unter seinen Kennungen auf.",
  "Contact data: it is for enhanced conversions, which need Google's customer data terms. The click id is enough.":
    "Kontaktdaten: Sie sind für erweiterte Conversions, die Googles Bedingungen für Kundendaten brauchen. Die Klick-ID genügt.",
  "Items and custom Floodlight variables (u1, u2 …): their form for Floodlight was not found in the documentation.":
    "Artikel und eigene Floodlight-Variablen (u1, u2 …): Ihre Form für Floodlight war in der Dokumentation nicht zu finden.",
  "Refunds, unless an activity is chosen for the event refund: Google counts every event as revenue.":
    "Erstattungen, außer wenn für das Ereignis refund eine Aktivität gewählt ist: Google zählt jedes Ereignis als Umsatz.",
  "A click id or cookie with spaces or of more than 2048 characters.":
    "Eine Klick-ID oder ein Cookie mit Leerzeichen oder mit mehr als 2048 Zeichen.",
  "Values above 214,748.36: Quora rejects a conversion with such a value, so it is sent without.":
    "Werte über 214.748,36: Quora lehnt eine Conversion mit einem solchen Wert ab, deshalb wird sie ohne ihn gesendet.",
};
