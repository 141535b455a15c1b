// What is wrong with a value: ends a sentence that begins with the name of the field.

import type { ServerTexts } from "../../server.ts";

export const faults: ServerTexts = {
  "{1} must be on or off.": "{1} muss on oder off sein.",
  "{1} must be from 1 to {2} days, written like 90d.": "{1} muss 1 bis {2} Tage sein.",
  "{1} must be at most {2} days, written like 90d, 12h, 30m or 10s.": "{1} darf höchstens {2} Tage sein.",
  "{1} must be off or a whole number from {2} to {3}.": "{1} muss eine ganze Zahl von {2} bis {3} oder leer sein.",
  "{1} must be email addresses separated by commas.": "{1}: E-Mail-Adressen, durch Kommas getrennt.",
  "{1} must have at most {2} addresses.": "{1} darf höchstens {2} Adressen haben.",
  "{1} must be none or an https address without user name and password.":
    "{1} muss eine https-Adresse ohne Benutzernamen und Passwort oder leer sein.",
  "{1} must have at most {2} entries.": "{1} darf höchstens {2} Einträge haben.",
  "{1} must be hashed emails of 64 hex characters.": "{1}: gehashte E-Mail-Adressen mit je 64 Hexadezimalzeichen.",
  "{1} must be parts of user agents, 3 to 200 characters each; * stands for anything.":
    "{1}: Teile von User-Agents mit je 3 bis 200 Zeichen; * steht für beliebigen Text.",
  '{1} would deny ordinary browsers with "{2}"; write more of it (a comma separates patterns).':
    "{1} würde mit „{2}“ gewöhnliche Browser sperren; schreiben Sie mehr davon (ein Komma trennt Muster).",
  "{1} must be addresses or networks like 192.0.2.0/24 or 2001:db8::/32; {2} is not one.":
    "{1}: Adressen oder Netze wie 192.0.2.0/24 oder 2001:db8::/32; {2} ist keines.",
  "{1} must be two-letter country codes like DE; {2} is not one.": "{1}: Ländercodes aus zwei Buchstaben wie DE; {2} ist keiner.",
  "{1} must be a time zone like Europe/Berlin or UTC.": "{1} muss eine Zeitzone wie Europe/Berlin oder UTC sein.",
  "{1} must be off or a whole number of requests per minute.": "{1} muss eine ganze Zahl von Anfragen pro Minute oder leer sein.",
  "{1} must be opt-out or opt-in.": "{1} muss opt-out oder opt-in sein.",
  "{1} must be none or a two-letter country code like DE.": "{1} muss ein Ländercode aus zwei Buchstaben wie DE oder leer sein.",
  "{1} must be a whole number from {2} to {3}.": "{1} muss eine ganze Zahl von {2} bis {3} sein.",
  "{1} must be domains like example.com; {2} is not one.": "{1}: Domains wie example.com; {2} ist keine.",
  "{1} must be ASCII letters, digits and punctuation, without spaces.":
    "{1} muss aus ASCII-Buchstaben, Ziffern und Satzzeichen ohne Leerzeichen bestehen.",
  "{1} must be a number of {2} to {3} digits.": "{1} muss eine Zahl mit {2} bis {3} Stellen sein.",
  "{1} must be one of {2}.": "{1} muss eines davon sein: {2}.",
  "{1} must be {2} or {3}.": "{1} muss {2} oder {3} sein.",
  "{1} must be a Unix time in milliseconds.": "{1} muss eine Unix-Zeit in Millisekunden sein.",
  "{1} must be an http(s) address.": "{1} muss eine http(s)-Adresse sein.",
  "{1} must be a code of letters, digits, hyphens and underscores.":
    "{1} muss ein Code aus Buchstaben, Ziffern, Binde- und Unterstrichen sein.",
  "{1} must be two capital letters, like US.": "{1} muss aus zwei Großbuchstaben bestehen, wie US.",
  "{1} must be 5 to 100 letters, digits, _ and -, beginning with a letter.":
    "{1} muss aus 5 bis 100 Buchstaben, Ziffern, _ und - bestehen und mit einem Buchstaben beginnen.",
  "{1} must be a key of letters, digits, _ and -.": "{1} muss ein Schlüssel aus Buchstaben, Ziffern, _ und - sein.",
  "{1} must be an amount like 25 or 12.50.": "{1} muss ein Betrag wie 25 oder 12.50 sein.",
  "{1} must be a measurement id like G-AB12CD34EF.": "{1} muss eine Mess-ID wie G-AB12CD34EF sein.",
  "{1} must be a customer id of ten digits, like 123-456-7890.":
    "{1} muss eine Kundennummer mit zehn Ziffern sein, wie 123-456-7890.",
  "{1} must be capital letters, digits, - and _.": "{1} muss aus Großbuchstaben, Ziffern, - und _ bestehen.",
  "{1} must be two small letters, like en.": "{1} muss aus zwei Kleinbuchstaben bestehen, wie en.",
  "{1} must be the number of a conversion action, digits only.": "{1} muss die Nummer einer Conversion-Aktion sein, nur Ziffern.",
  "{1} must be a year and a month, like 202609.": "{1} muss aus Jahr und Monat bestehen, wie 202609.",
  "{1} must be the id of a conversion rule, digits.": "{1} muss die ID einer Conversion-Regel sein, nur Ziffern.",
  "{1} must be a version like v25.0.": "{1} muss eine Version wie v25.0 sein.",
  "{1} must be a JSON object of event names and goal names.": "{1} muss ein JSON-Objekt aus Ereignisnamen und Zielnamen sein.",
  "{1} must be an id of letters, digits and hyphens.": "{1} muss eine ID aus Buchstaben, Ziffern und Bindestrichen sein.",
  "{1} must be an id of letters, digits, hyphens and underscores.":
    "{1} muss eine ID aus Buchstaben, Ziffern, Binde- und Unterstrichen sein.",
  "{1} must be one of {2}, or a name of up to 64 letters, digits, _ and -.":
    "{1} muss eines davon sein: {2}, oder ein Name aus bis zu 64 Buchstaben, Ziffern, _ und -.",
  "{1} must be an ISO 4217 code in capitals, like USD.": "{1} muss ein ISO-4217-Code in Großbuchstaben sein, wie USD.",
  "{1} must be an id of letters, digits and underscores, like a2_abc123.":
    "{1} muss eine ID aus Buchstaben, Ziffern und Unterstrichen sein, wie a2_abc123.",
  "{1} must be a country and a region, like US-CA.": "{1} muss aus Land und Region bestehen, wie US-CA.",
  "{1} must be workspace/source, like acme/website.": "{1} muss Workspace/Quelle sein, wie acme/website.",
  "{1} must be an https address without query.": "{1} muss eine https-Adresse ohne Query sein.",
  "{1} must be a list of ids separated by commas.": "{1} muss eine Liste von IDs sein, durch Kommas getrennt.",
  "{1} must be a UUID, like {2}.": "{1} muss eine UUID sein, wie {2}.",
  "{1} must be a code of 5 to 40 letters and digits.": "{1} muss ein Code aus 5 bis 40 Buchstaben und Ziffern sein.",
  "{1} must be POST, PUT or PATCH.": "{1} muss POST, PUT oder PATCH sein.",
  "{1} must be a JSON object of header names and text values.": "{1} muss ein JSON-Objekt aus Header-Namen und Textwerten sein.",
  "{1} must be a list like 2xx, 200-204 or status=ok.": "{1} muss eine Liste wie 2xx, 200-204 oder status=ok sein.",
  "{1} must be valid JSON.": "{1} muss gültiges JSON sein.",
  "{1} names {{{2}}}, which a conversion does not have (known: {3}).":
    "{1} nennt {{{2}}}; eine Conversion hat das nicht (bekannt: {3}).",
  "{1} must be letters and digits, like o8z6j.": "{1} muss aus Buchstaben und Ziffern bestehen, wie o8z6j.",
  "{1} must be the id of an event tag, like tw-abcde-fghij or fghij.":
    "{1} muss die ID eines Ereignis-Tags sein, wie tw-abcde-fghij oder fghij.",
  "{1} must consist of letters, digits and underscores, and begin with a letter.":
    "{1} muss aus Buchstaben, Ziffern und Unterstrichen bestehen und mit einem Buchstaben beginnen.",
  "{1} must have at most {2} characters.": "{1} darf höchstens {2} Zeichen haben.",
  "{1} must not be a name that the platform reserves.": "{1} darf kein Name sein, den die Plattform sich vorbehält.",
  "{1} must be at least one name.": "{1} muss mindestens ein Name sein.",
  "{1} must be at most {2}, separated by commas.": "{1}: höchstens {2}, durch Kommas getrennt.",
  "{1} is not a field that can be mapped; known: {2}.": "{1} ist kein Feld, das zugeordnet werden kann; bekannt: {2}.",
  "{1} cannot be mapped: this platform has no such fields.":
    "{1} kann nicht zugeordnet werden: Diese Plattform hat keine solchen Felder.",
  "{1} cannot be contact data: it is hashed on receipt.":
    "{1} darf keine Kontaktdaten enthalten: Sie werden beim Empfang gehasht.",
  "{1} must be an event field ({2}), a UTM field (utm_source …), extra.NAME for another field of the inbound request, or const:TEXT.":
    "{1} muss ein Feld des Ereignisses ({2}), ein UTM-Feld (utm_source …), extra.NAME für ein anderes Feld der Anfrage oder const:TEXT sein.",
  // addresses that customers may not choose
  "must use https": "muss https verwenden",
  "must use https (CLEANCAST_ALLOW_PRIVATE opens hosts for plain http)":
    "muss https verwenden (CLEANCAST_ALLOW_PRIVATE erlaubt http für einzelne Hosts)",
  "must not contain a user name or password": "darf keinen Benutzernamen und kein Passwort enthalten",
  // the form of a request
  "expected {1}, received undefined.": "erforderlich.",
  "expected {1}, received {2}.": "ungültiger Wert.",
  "Too small: expected {1} to have >={2} characters.": "mindestens {2} Zeichen.",
  "Too big: expected {1} to have <={2} characters.": "höchstens {2} Zeichen.",
  "Too small: expected {1} to be >={2}.": "mindestens {2}.",
  "Too big: expected {1} to be <={2}.": "höchstens {2}.",
  "{1} must be a string": "{1} muss Text sein",
  "{1} is longer than {2} characters": "{1} ist länger als {2} Zeichen",
  "{1} contains a character that cannot be stored (NUL or half of a surrogate pair)":
    "{1} enthält ein Zeichen, das nicht gespeichert werden kann (NUL oder ein halbes Surrogatpaar)",
  "{1} required": "{1} ist erforderlich",
  "email or hashed_email required": "email oder hashed_email ist erforderlich",
  "email is not an email address": "email ist keine E-Mail-Adresse",
  "hashed_email must be the SHA-256 of the lower-cased email as 64 hex characters":
    "hashed_email muss der SHA-256 der kleingeschriebenen E-Mail-Adresse sein, 64 Hexadezimalzeichen",
  "{1} must be a finite JSON number": "{1} muss eine endliche JSON-Zahl sein",
  'value must not be negative; send a refund as an event named "refund"':
    "value darf nicht negativ sein; senden Sie eine Erstattung als Ereignis „refund“",
  "{1} must not be negative": "{1} darf nicht negativ sein",
  "{1} must be at most {2}": "{1} darf höchstens {2} sein",
  "currency must be an ISO 4217 code such as USD or EUR": "currency muss ein ISO-4217-Code wie USD oder EUR sein",
  "eventTime must be an ISO 8601 time or Unix seconds": "eventTime muss eine ISO-8601-Zeit oder Unix-Sekunden sein",
  "eventTime lies in the future": "eventTime liegt in der Zukunft",
  "eventTime lies in the future{1}": "eventTime liegt in der Zukunft{1}",
  "; it looks like milliseconds, send seconds": "; es sieht nach Millisekunden aus, senden Sie Sekunden",
  "eventTime is older than 90 days": "eventTime ist älter als 90 Tage",
  "items must be a list of objects": "items muss eine Liste von Objekten sein",
  "items has more than {1} entries": "items hat mehr als {1} Einträge",
  "{1} must be an object": "{1} muss ein Objekt sein",
  "{1} must be a whole number from {2} to {3}": "{1} muss eine ganze Zahl von {2} bis {3} sein",
  "events must be an array of at most {1} events": "events muss ein Array mit höchstens {1} Ereignissen sein",
  "an event must be a JSON object": "ein Ereignis muss ein JSON-Objekt sein",
  // inbound requests that were rejected
  "Send a POST request": "Senden Sie eine POST-Anfrage",
  "The request has more than one Host header": "Die Anfrage hat mehr als einen Host-Header",
  "HTTPS required": "HTTPS erforderlich",
  "Inbound webhook not enabled": "Eingehender Webhook nicht eingeschaltet",
  "Invalid API key": "Ungültiger Eingangsschlüssel",
  "Too many failed authentication attempts": "Zu viele fehlgeschlagene Authentifizierungen",
  "Rate limit exceeded": "Anfragelimit überschritten",
  "Overloaded, retry": "Überlastet, erneut versuchen",
  "Site is being moved, retry": "Website wird gerade umgezogen, erneut versuchen",
  "Site was moved: route its host to the new server, retry":
    "Website wurde umgezogen: Host auf den neuen Server leiten, erneut versuchen",
  "Temporarily unavailable, retry": "Vorübergehend nicht verfügbar, erneut versuchen",
  "Content-Type must be application/json": "Content-Type muss application/json sein",
  "Send the body without Content-Encoding": "Senden Sie den Inhalt ohne Content-Encoding",
  "The body is larger than {1}": "Der Inhalt ist größer als {1}",
  "The body is empty; send a JSON object": "Der Inhalt ist leer; senden Sie ein JSON-Objekt",
  "The body ended early": "Der Inhalt endete zu früh",
  "The body is not valid UTF-8": "Der Inhalt ist kein gültiges UTF-8",
  "The body is not valid JSON": "Der Inhalt ist kein gültiges JSON",
  "The body must be a JSON object": "Der Inhalt muss ein JSON-Objekt sein",
  "Internal error": "Interner Fehler",
  "must be the number of a Floodlight activity, digits only": "muss die Nummer einer Floodlight-Aktivität sein, nur Ziffern",
  "must be whsec_ and the base64 of 24 to 64 bytes": "muss whsec_ und das Base64 von 24 bis 64 Bytes sein",
};
