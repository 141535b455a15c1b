// Reconciliation and files.

import type { ServerTexts } from "../../server.ts";

export const fileMessages: ServerTexts["messages"] = {
  too_many_files: "Andere Dateien dieser Website werden gerade gelesen. Warten Sie, bis sie fertig sind.",
  file_too_slow: "Die Datei ließ sich nicht lesen: Ein Teil davon dauerte länger als {seconds} Sekunden.",
  too_many_columns: "Die Datei hat mehr als {max} Spalten. Die erste Zeile muss die Kopfzeile sein.",
  row_too_wide: "die Zeile hat mehr als {max} Namen",
  header_name_invalid: "header braucht einen Namen wie Authorization oder X-Api-Key.",
  header_value_invalid: "Der Wert des Headers muss aus höchstens {max} druckbaren ASCII-Zeichen bestehen.",
  no_order_feed: "Für die Website ist kein Abruf von Bestellungen eingerichtet.",
  event_name_invalid: "event muss der Name eines Ereignisses mit höchstens {max} Zeichen sein.",
  tolerance_invalid: "tolerance muss eine Zahl von 0 bis {max} in Prozent sein.",
  no_orders: "Die Website hat noch keine Bestellungen. Senden Sie zuerst die Liste der Bestellungen.",
  reconciliation_running: "Ein Abgleich dieser Website läuft. Warten Sie, bis er endet, oder brechen Sie ihn ab.",
  reconciliation_not_running: "Der Abgleich {id} läuft nicht.",
  unknown_order_field: "{field} ist kein Feld von Bestellungen. Felder: {known}.",
  day_invalid: "{field} muss ein Tag wie 2026-11-15 sein.",
  from_after_to: "Der erste Tag darf nicht nach dem letzten liegen.",
  window_too_long: "Der Zeitraum darf höchstens {max} Tage lang sein.",
  skipped_too_many_lines:
    "skippedLines ist {skippedLines}, aber bisher wurden nur {known} Zeilen importiert. Senden Sie die Teile in ihrer Reihenfolge, jeden, bis isPartDone true ist, und alle mit demselben sha256.",
  site_removed: "Die Website wurde entfernt.",
  unknown_connection_of_site: "Die Website hat keine Verbindung {name}. Ihre Verbindungen: {known}.",
  import_just_started: "Ein anderer Prozess hat diesen Import soeben begonnen.",
  import_taken_over: "Ein anderer Prozess hat diesen Import übernommen; dieser hält an.",
  import_running:
    "Dieser Import läuft (Prozess {pid} auf {host}). Wenn dieser Prozess beendet ist, versuchen Sie es in {seconds} Sekunden noch einmal.",
  import_progress_unreadable:
    "Der Fortschritt dieses Imports ist nicht lesbar: Seine Zeile in der Datenbank ist beschädigt. Fügen Sie der Datei eine leere Zeile hinzu, um sie neu zu importieren; Gespeichertes zählt als Duplikat.",
  not_an_object_of_texts: "{field} ist kein JSON-Objekt mit Texten.",
  unknown_file_field: "{field} ist kein Feld von {what}. Felder: {known}.",
  column_missing: "Die Spalte „{name}“ für {field} ist nicht in der Datei. Ihre Spalten: {columns}.",
  column_ambiguous: "Die Spalte „{name}“ für {field} ist mehrmals in der Datei. Ihre Spalten: {columns}.",
  no_reconciliation: "Den Abgleich {id} gibt es nicht.",
  imported_with_delivery:
    "Diese Datei wurde mit Zustellung an {before} importiert, und Gespeichertes wird nicht noch einmal gesendet.",
  import_with_delivery: "Dieser Import wurde mit Zustellung an {before} begonnen; setzen Sie ihn mit derselben Zustellung fort.",
  quote_not_closed: "Das Anführungszeichen, das in Zeile {line} beginnt, wird nie geschlossen.",
  row_too_long: "Die Zeile {line} ist länger als {kib} KiB; vielleicht ist davor ein Anführungszeichen offen.",
  line_invalid: "Zeile {line} ist kein gültiges CSV.",
};
