// Where the fields that a platform receives come from.

import type { ServerTexts } from "../../server.ts";

export const sends: ServerTexts = {
  "the event's own name": "der eigene Name des Ereignisses",
  "Amazon's type for the event, or OTHER": "Amazons Typ für das Ereignis, oder OTHER",
  "the time of the conversion, as ISO 8601 with milliseconds": "die Zeit der Conversion, als ISO 8601 mit Millisekunden",
  "the country of the connection, or a mapped one": "das Land der Verbindung, oder ein zugeordnetes",
  "email, phone (digits only) and names, each as SHA-256":
    "E-Mail-Adresse, Telefonnummer (nur Ziffern) und Namen, jeweils als SHA-256",
  "how many pieces the items of a purchase are": "die Stückzahl der Artikel eines Kaufs",
  "the event id, or the order id if the connection is set so":
    "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist",
  "GRANTED, if the person agreed": "GRANTED, wenn die Person zugestimmt hat",
  "the IP address of the visit, where no decision is known": "die IP-Adresse des Besuchs, wenn keine Entscheidung bekannt ist",
  "the event, under Axon's name for it": "das Ereignis, unter Axons Namen dafür",
  "the time of the conversion, in milliseconds": "die Zeit der Conversion, in Millisekunden",
  "the page of the visit without its query; only its origin on restricted sites":
    "die Seite des Besuchs ohne Query; bei eingeschränkten Websites nur der Ursprung",
  "the event id, or the order id if the connection is set so; the pixel sends the same":
    "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist; das Pixel sendet dieselbe",
  "IP address and user agent of the visit": "IP-Adresse und User-Agent des Besuchs",
  "aleid of the click or the _axeid cookie, unchanged": "aleid des Klicks oder das Cookie _axeid, unverändert",
  "alart of the click or the _axart cookie, unchanged": "alart des Klicks oder das Cookie _axart, unverändert",
  "the _axwrt cookie, unchanged": "das Cookie _axwrt, unverändert",
  "email and phone (digits only), each as SHA-256; not on restricted sites":
    "E-Mail-Adresse und Telefonnummer (nur Ziffern), jeweils als SHA-256; nicht bei eingeschränkten Websites",
  "value, or the price of the items where there is none, and currency":
    "Wert, oder der Preis der Artikel, wenn es keinen gibt, und Währung",
  "items: item_id, item_name (the id where there is no name), item_brand, price and quantity. Without items, or if they do not add up to the value: the order as one item of its value":
    "Artikel: item_id, item_name (die ID, wenn es keinen Namen gibt), item_brand, price und quantity. Ohne Artikel, oder wenn sie nicht den Wert ergeben: die Bestellung als ein Artikel mit ihrem Wert",
  "orderId of a purchase, otherwise the event id": "Bestellnummer eines Kaufs, sonst die Ereignis-ID",
  "the _ga cookie, else a pseudonym made from the hashed email, else from the event id":
    "das Cookie _ga, sonst ein Pseudonym aus der gehashten E-Mail-Adresse, sonst aus der Ereignis-ID",
  "the time of the event": "die Zeit des Ereignisses",
  "the event, under Google's name for it or the chosen one": "das Ereignis, unter Googles Namen dafür oder dem gewählten",
  "orderId; for purchases and refunds without one the event id":
    "Bestellnummer; bei Käufen und Erstattungen ohne sie die Ereignis-ID",
  "the event id": "die Ereignis-ID",
  "value and currency": "Wert und Währung",
  "items: item_id, item_name, item_category, item_brand, price and quantity, with the events for which Google documents them; refunds too":
    "Artikel: item_id, item_name, item_category, item_brand, price und quantity, bei den Ereignissen, für die Google sie beschreibt; auch bei Erstattungen",
  "the _ga_ cookie of this property": "das Cookie _ga_ dieser Property",
  "hashed email, normalised by Google's rules": "gehashte E-Mail-Adresse, nach Googles Regeln normalisiert",
  "hashed phone number, with the plus sign": "gehashte Telefonnummer, mit Pluszeichen",
  "granted or denied, as the person decided; left out while unknown":
    "granted oder denied, wie die Person entschieden hat; weggelassen, solange unbekannt",
  "the conversion actions chosen for the event, else those for all events":
    "die für das Ereignis gewählten Conversion-Aktionen, sonst die für alle Ereignisse",
  "orderId, else the event id": "Bestellnummer, sonst die Ereignis-ID",
  "the newest gclid, or the one in the _gcl_aw cookie": "die neueste gclid, oder die im Cookie _gcl_aw",
  "the newest wbraid, else gbraid, where there is no gclid": "die neueste wbraid, sonst gbraid, wenn es keine gclid gibt",
  "hashed email and phone, when enhanced conversions for leads is on and the click has no wbraid or gbraid":
    "gehashte E-Mail-Adresse und Telefonnummer, wenn erweiterte Conversions für Leads an ist und der Klick keine wbraid oder gbraid hat",
  "items: merchantProductId, quantity and unitPrice, if every item has a price":
    "Artikel: merchantProductId, quantity und unitPrice, wenn jeder Artikel einen Preis hat",
  "the Merchant Center account of the connection": "das Merchant-Center-Konto der Verbindung",
  "the rule that the connection has for the event; one element for each, where it has several":
    "die Regel, die die Verbindung für das Ereignis hat; bei mehreren ein Element für jede",
  "value and currency, both or neither": "Wert und Währung, beide oder keines",
  "the hashed email": "die gehashte E-Mail-Adresse",
  "li_fat_id of the click, else of the cookie": "li_fat_id des Klicks, sonst des Cookies",
  "the visit's IPv4 address, only if switched on": "die IPv4-Adresse des Besuchs, nur wenn eingeschaltet",
  "the event, under Meta's standard name or its own": "das Ereignis, unter Metas Standardnamen oder seinem eigenen",
  "the time of the conversion, in seconds": "die Zeit der Conversion, in Sekunden",
  "the event id; the same as the pixel's, so that Meta counts the pair once":
    "die Ereignis-ID; dieselbe wie die des Pixels, damit Meta das Paar einmal zählt",
  "website when the visit is known, otherwise system_generated": "website, wenn der Besuch bekannt ist, sonst system_generated",
  "the page of the visit, without its query": "die Seite des Besuchs, ohne Query",
  "the _fbc cookie, or fbclid with the time of the click": "das Cookie _fbc, oder fbclid mit der Zeit des Klicks",
  "the _fbp cookie": "das Cookie _fbp",
  "value, currency and orderId": "Wert, Währung und Bestellnummer",
  "items: id, quantity and item_price": "Artikel: id, quantity und item_price",
  "the ids of the items, and product": "die IDs der Artikel, und product",
  "how many pieces the items are, with Purchase and InitiateCheckout":
    "die Stückzahl der Artikel, bei Purchase und InitiateCheckout",
  "the event, under the name chosen for it": "das Ereignis, unter dem dafür gewählten Namen",
  "the newest msclkid": "die neueste msclkid",
  "the visitor id in the _uetvid cookie": "die Besucher-ID im Cookie _uetvid",
  "hashed email, normalised by Microsoft's rules": "gehashte E-Mail-Adresse, nach Microsofts Regeln normalisiert",
  orderId: "Bestellnummer",
  "items: id, name, price and quantity": "Artikel: id, name, price und quantity",
  "the ids of the items, and purchase, cart or product for such an event with items":
    "die IDs der Artikel, und purchase, cart oder product bei einem solchen Ereignis mit Artikeln",
  "G or D, as the person decided; left out while unknown":
    "G oder D, wie die Person entschieden hat; weggelassen, solange unbekannt",
  "the event, under Nextdoor's name for it, or one of its ten custom conversions":
    "das Ereignis, unter Nextdoors Namen dafür, oder eine seiner zehn eigenen Conversions",
  "website where a page is known, otherwise system_generated, unless the connection sets a different one":
    "website, wenn eine Seite bekannt ist, sonst system_generated, falls die Verbindung nichts anderes einstellt",
  "the page of the visit without its query, or the site URL": "die Seite des Besuchs ohne Query, oder die URL der Website",
  "email and names, each as SHA-256": "E-Mail-Adresse und Namen, jeweils als SHA-256",
  "phone with the plus sign as SHA-256, if the connection is set so":
    "Telefonnummer mit Pluszeichen als SHA-256, wenn die Verbindung so eingestellt ist",
  "ndclid of the click or the _ndclid cookie, unchanged": "ndclid des Klicks oder das Cookie _ndclid, unverändert",
  "currency and value as one text: EUR49.90": "Währung und Wert als ein Text: EUR49.90",
  "the event id, or the order id if the connection is set so; the pixel sends the same as event_id":
    "die Ereignis-ID, oder die Bestellnummer, wenn die Verbindung so eingestellt ist; das Pixel sendet dieselbe als event_id",
  "the event: one of OpenAI's own, else custom with custom_event_name":
    "das Ereignis: eines von OpenAI, sonst custom mit custom_event_name",
  "web where a page is known, otherwise other, unless the connection sets a different one":
    "web, wenn eine Seite bekannt ist, sonst other, falls die Verbindung nichts anderes einstellt",
  "oppref of the click or of the __oppref cookie, unchanged": "oppref des Klicks oder des Cookies __oppref, unverändert",
  "the __obref cookie, unchanged": "das Cookie __obref, unverändert",
  "email and phone (digits only), each as SHA-256": "E-Mail-Adresse und Telefonnummer (nur Ziffern), jeweils als SHA-256",
  "names, each as SHA-256": "Namen, jeweils als SHA-256",
  "value in minor units (4990 for 49.90 EUR), and its currency":
    "Wert in der kleinsten Einheit (4990 für 49.90 EUR), und seine Währung",
  "items: id, name, quantity, amount and currency, with the content_type product; for types of event that have contents":
    "Artikel: id, name, quantity, amount und currency, mit dem content_type product; bei Ereignistypen mit contents",
  "true for events with limited data use, otherwise false": "true bei Ereignissen mit eingeschränkter Datennutzung, sonst false",
  "ob_click_id of the click, otherwise its dicbo, unchanged": "ob_click_id des Klicks, sonst seine dicbo, unverändert",
  "the usual name of the event, otherwise its own, or the one that the connection chose":
    "der übliche Name des Ereignisses, sonst sein eigener, oder der von der Verbindung gewählte",
  "orderId, otherwise the event id": "Bestellnummer, ansonsten die Ereignis-ID",
  "value with the digits of its currency, and the currency": "Wert mit den Stellen seiner Währung, und die Währung",
  "the event, under Pinterest's name for it, or custom": "das Ereignis, unter Pinterests Namen dafür, oder custom",
  "the event id; the same as the tag's, so that Pinterest counts the pair once":
    "die Ereignis-ID; dieselbe wie die des Tags, damit Pinterest das Paar einmal zählt",
  "the epik of the click or the _epik cookie, unchanged": "epik des Klicks oder das Cookie _epik, unverändert",
  "value as text with the digits of its currency, currency, orderId":
    "Wert als Text mit den Stellen seiner Währung, Währung, Bestellnummer",
  "items: id, item_name, item_category, item_brand, quantity, and item_price as text":
    "Artikel: id, item_name, item_category, item_brand, quantity, und item_price als Text",
  "the ids of the items, and how many pieces they are": "die IDs der Artikel, und ihre Stückzahl",
  "true after an opt-out, otherwise false": "true nach einer Ablehnung, sonst false",
  "the event, under Quora's name for it, or Generic": "das Ereignis, unter Quoras Namen dafür, oder Generic",
  "the time of the conversion, in microseconds": "die Zeit der Conversion, in Mikrosekunden",
  "qclid of the click or the quora_qclid cookie, unchanged": "qclid des Klicks oder das Cookie quora_qclid, unverändert",
  "value, if its currency is that of the ad account": "Wert, wenn seine Währung die des Werbekontos ist",
  "IP address of the visit": "IP-Adresse des Besuchs",
  "user agent of the visit, and the origin of the page before it": "User-Agent des Besuchs, und der Ursprung der Seite davor",
  "the event: one of Reddit's own, else CUSTOM with the event's name; one event for each, where event.NAME lists several":
    "das Ereignis: eines von Reddit, sonst CUSTOM mit dem Namen des Ereignisses; für jedes eines, wenn mehrere gewählt sind",
  "WEBSITE, unless the connection sets another": "WEBSITE, wenn die Verbindung nichts anderes einstellt",
  "the page of the visit, for WEBSITE only": "die Seite des Besuchs, nur bei WEBSITE",
  "rdt_cid of the click": "rdt_cid des Klicks",
  "the hashed email, normalised by Reddit's rules, else as the sender hashed it":
    "die gehashte E-Mail-Adresse, nach Reddits Regeln normalisiert, sonst wie vom Absender gehasht",
  "the hashed phone number, with the plus sign": "die gehashte Telefonnummer, mit Pluszeichen",
  "_rdt_uuid, the cookie of Reddit's pixel": "_rdt_uuid, das Cookie von Reddits Pixel",
  "of the visit": "des Besuchs",
  "value and currency; not for visits, views and searches": "Wert und Währung; nicht bei Besuchen, Ansichten und Suchen",
  "items: id, name, category, item_price and quantity": "Artikel: id, name, category, item_price und quantity",
  "how many pieces the items are; with purchases, carts, wish lists and custom events":
    "die Stückzahl der Artikel; bei Käufen, Warenkörben, Wunschlisten und eigenen Ereignissen",
  "the event id, with a prefix of this connection": "die Ereignis-ID, mit einem Präfix dieser Verbindung",
  "the event, under the name in Segment's specification or the chosen one":
    "das Ereignis, unter dem Namen aus Segments Spezifikation oder dem gewählten",
  "the time of the event, and of the attempt": "die Zeit des Ereignisses, und die des Versuchs",
  "a pseudonym made from the hashed email, else from the event id; unless userId or anonymousId is mapped":
    "ein Pseudonym aus der gehashten E-Mail-Adresse, sonst aus der Ereignis-ID; wenn userId oder anonymousId nicht zugeordnet ist",
  "orderId and the event id": "Bestellnummer und die Ereignis-ID",
  "items: product_id, name, category, brand, price and quantity; of an event about one product, such as Product Added, directly in properties":
    "Artikel: product_id, name, category, brand, price und quantity; bei einem Ereignis zu einem Produkt, wie Product Added, direkt in properties",
  "the newest click id of each kind": "die neueste Klick-ID jeder Art",
  "hashed email and phone": "gehashte E-Mail-Adresse und Telefonnummer",
  "UTM fields; utm_campaign as name": "UTM-Felder; utm_campaign als name",
  "IP address, user agent and page of the visit": "IP-Adresse, User-Agent und Seite des Besuchs",
  "the person's choice for the consent categories": "die Entscheidung der Person für die Einwilligungskategorien",
  "the event, under Snapchat's name for it": "das Ereignis, unter Snapchats Namen dafür",
  "the event id; the same as the pixel's client_dedup_id, so that Snapchat counts the pair once":
    "die Ereignis-ID; dieselbe wie client_dedup_id des Pixels, damit Snapchat das Paar einmal zählt",
  "WEB when a page is known, otherwise OFFLINE": "WEB, wenn eine Seite bekannt ist, sonst OFFLINE",
  "the ScCid of the click, unchanged": "ScCid des Klicks, unverändert",
  "the _scid cookie": "das Cookie _scid",
  "items: id, quantity, item_price and brand": "Artikel: id, quantity, item_price und brand",
  "the event, under Spotify's name for it, or one of its five custom events":
    "das Ereignis, unter Spotifys Namen dafür, oder eines seiner fünf eigenen Ereignisse",
  "the __spdt cookie of Spotify's pixel": "das Cookie __spdt von Spotifys Pixel",
  "email as SHA-256": "E-Mail-Adresse als SHA-256",
  "phone as SHA-256, with the plus sign unless the connection is set otherwise":
    "Telefonnummer als SHA-256, mit Pluszeichen, wenn die Verbindung nichts anderes einstellt",
  "the page of the visit without its query": "die Seite des Besuchs ohne Query",
  "tblci of the click, unchanged": "tblci des Klicks, unverändert",
  "the event, under Realize's usual name for it, else its own":
    "das Ereignis, unter dem in Realize üblichen Namen, sonst seinem eigenen",
  "how many pieces the items are": "die Stückzahl der Artikel",
  "the event, under TikTok's standard name or its own": "das Ereignis, unter TikToks Standardnamen oder seinem eigenen",
  "the event id; the same as the pixel's, so that TikTok counts the pair once":
    "die Ereignis-ID; dieselbe wie die des Pixels, damit TikTok das Paar einmal zählt",
  "email and phone (with country code and plus), each as SHA-256":
    "E-Mail-Adresse und Telefonnummer (mit Landesvorwahl und Plus), jeweils als SHA-256",
  "the ttclid of the click, unchanged": "ttclid des Klicks, unverändert",
  "the _ttp cookie": "das Cookie _ttp",
  "items: content_id, content_name, content_category, brand, price and quantity":
    "Artikel: content_id, content_name, content_category, brand, price und quantity",
  "the page of the visit without its query, and the referring site":
    "die Seite des Besuchs ohne Query, und die verweisende Website",
  "the event tag that the connection has for the event; one conversion for each, where it has several":
    "das Ereignis-Tag, das die Verbindung für das Ereignis hat; bei mehreren eine Conversion für jedes",
  "twclid of the click, else of the pixel's cookie": "twclid des Klicks, sonst des Cookies des Pixels",
  "the visit's IPv4 address and browser; without an IPv4 address the browser goes with another identifier":
    "IPv4-Adresse und Browser des Besuchs; ohne IPv4-Adresse geht der Browser mit einer anderen Kennung",
  "value and currency, with two decimals": "Wert und Währung, mit zwei Nachkommastellen",
  "items: content_id, content_name, content_price and num_items":
    "Artikel: content_id, content_name, content_price und num_items",
  "value and currency of a purchase; Amazon takes {1}": "Wert und Währung eines Kaufs; Amazon nimmt {1} an",
  "value and currency; Taboola takes {1}": "Wert und Währung; Taboola nimmt {1} an",
  "the Floodlight activities chosen for the event, else those for all events":
    "die für das Ereignis gewählten Floodlight-Aktivitäten, sonst die für alle Ereignisse",
  "the newest dclid": "die neueste dclid",
  "where there is no dclid: the newest gclid, or the one in the _gcl_aw cookie, of the last 60 days":
    "wenn es keine dclid gibt: die neueste gclid oder die aus dem Cookie _gcl_aw, aus den letzten 60 Tagen",
  "1 for events with limited data use, otherwise left out":
    "1 bei Ereignissen mit eingeschränkter Datennutzung, sonst weggelassen",
};
