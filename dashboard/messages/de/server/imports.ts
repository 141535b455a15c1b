// German for refused files and refused rows of them.

export const importFaults = {
  "value is ambiguous (1,234 or 1.234); choose the decimal separator: point or comma":
    "value ist mehrdeutig (1,234 oder 1.234); wählen Sie das Dezimalzeichen: Punkt oder Komma",
  "value is not a number": "value ist keine Zahl",
  "value is too large for a number": "value ist zu groß für eine Zahl",
  "{1} is not a time that can be read; write it like 2026-10-31T12:30:00Z":
    "{1} ist keine lesbare Zeit; schreiben Sie sie wie 2026-10-31T12:30:00Z",
  "{1} is ambiguous (3 April or 4 March); choose the order of dates: mdy or dmy":
    "{1} ist mehrdeutig (3. April oder 4. März); wählen Sie die Reihenfolge im Datum: Monat oder Tag zuerst",
  'items is not a JSON list like [{"id":"SKU-1","price":9.9,"quantity":2}]; correct it, or leave the column out':
    'items ist keine JSON-Liste wie [{"id":"SKU-1","price":9.9,"quantity":2}]; korrigieren Sie sie, oder lassen Sie die Spalte weg',
  "value names another currency than the row has (default USD); choose a column or a constant for currency":
    "value nennt eine andere Währung als die Zeile (ohne Angabe USD); wählen Sie eine Spalte oder einen festen Wert für die Währung",
  "eventTime is older than events are kept (keep_events, {1} days)":
    "eventTime ist älter, als Ereignisse aufbewahrt werden ({1} Tage)",
  "consent must be granted or denied": "consent muss granted oder denied sein",
  "there is no click id, UTM field, browser id or consent in the row":
    "in der Zeile ist keine Klick-ID, kein UTM-Feld, keine Browser-ID und keine Einwilligung",
  "email is not an email address": "email ist keine E-Mail-Adresse",
  "{1} is longer than {2} characters, or has one that cannot be stored":
    "{1} ist länger als {2} Zeichen, oder hat eines, das sich nicht speichern lässt",
  "{1} is an email address and not an id": "{1} ist eine E-Mail-Adresse und keine ID",
  "seenAt lies in the future": "seenAt liegt in der Zukunft",
  "seenAt is older than visits are kept ({1} days)": "seenAt ist älter, als Besuche aufbewahrt werden ({1} Tage)",
  "the row has {1} cells, the header {2}": "die Zeile hat {1} Zellen, die Kopfzeile {2}",
  "the row is longer than {1} KiB": "die Zeile ist länger als {1} KiB",
  "the row is not a JSON object": "die Zeile ist kein JSON-Objekt",
  "the row is not valid JSON": "die Zeile ist kein gültiges JSON",
  "other reasons": "andere Gründe",
  "The file is empty.": "Die Datei ist leer.",
  "The quote that opens at line {1} is never closed.": "Das Anführungszeichen, das in Zeile {1} beginnt, wird nie geschlossen.",
  "The row at line {1} is longer than {2} KiB; a quote before it may be left open.":
    "Die Zeile {1} ist länger als {2} KiB; vielleicht ist davor ein Anführungszeichen offen.",
  'The column "{1}" for {2} is not in the file. Its columns: {3}.':
    "Die Spalte „{1}“ für {2} ist nicht in der Datei. Ihre Spalten: {3}.",
  'The column "{1}" for {2} is more than once in the file. Its columns: {3}.':
    "Die Spalte „{1}“ für {2} ist mehrmals in der Datei. Ihre Spalten: {3}.",
  "{1} is not a JSON object of texts.": "{1} ist kein JSON-Objekt mit Texten.",
  "Another process has just started this import.": "Ein anderer Prozess hat diesen Import soeben begonnen.",
  "This import is running (process {1} on {2}). If that process has ended, try again in {3} seconds.":
    "Dieser Import läuft (Prozess {1} auf {2}). Wenn dieser Prozess beendet ist, versuchen Sie es in {3} Sekunden noch einmal.",
  "Another process has taken this import over; this one stops.":
    "Ein anderer Prozess hat diesen Import übernommen; dieser hält an.",
  "This file was imported with delivery to {1}, and what is stored is not sent again.":
    "Diese Datei wurde mit Zustellung an {1} importiert, und Gespeichertes wird nicht noch einmal gesendet.",
  "This import was started with delivery to {1}; continue with the same delivery.":
    "Dieser Import wurde mit Zustellung an {1} begonnen; setzen Sie ihn mit derselben Zustellung fort.",
  "skippedLines is {1}, but only {2} lines were imported before. Send the parts in their order, each until isPartDone is true, and all with the same sha256.":
    "skippedLines ist {1}, aber bisher wurden nur {2} Zeilen importiert. Senden Sie die Teile in ihrer Reihenfolge, jeden, bis isPartDone true ist, und alle mit demselben sha256.",
};
