// Fields of events and of rows of files.

import type { ServerTexts } from "../../server.ts";

export const fieldMessages: ServerTexts["messages"] = {
  row_cells: "die Zeile hat {cells} Zellen, die Kopfzeile {columns}",
  row_longer: "die Zeile ist länger als {kib} KiB",
  time_unreadable: "{field} ist keine lesbare Zeit; schreiben Sie sie wie 2026-10-31T12:30:00Z",
  time_ambiguous: "{field} ist mehrdeutig (3. April oder 4. März); wählen Sie die Reihenfolge im Datum: Monat oder Tag zuerst",
  event_time_too_old: "eventTime ist älter, als Ereignisse aufbewahrt werden ({days} Tage)",
  id_not_storable: "{field} ist länger als {max} Zeichen, oder hat eines, das sich nicht speichern lässt",
  id_is_email: "{field} ist eine E-Mail-Adresse und keine ID",
  seen_at_too_old: "seenAt ist älter, als Besuche aufbewahrt werden ({days} Tage)",
  field_not_a_string: "{field} muss Text sein",
  field_too_long: "{field} ist länger als {max} Zeichen",
  field_not_storable: "{field} enthält ein Zeichen, das nicht gespeichert werden kann (NUL oder ein halbes Surrogatpaar)",
  items_too_many: "items hat mehr als {max} Einträge",
  field_not_an_object: "{field} muss ein Objekt sein",
  field_required: "{field} ist erforderlich",
  field_not_a_number: "{field} muss eine endliche JSON-Zahl sein",
  field_negative: "{field} darf nicht negativ sein",
  field_too_large: "{field} darf höchstens {max} sein",
  field_not_whole: "{field} muss eine ganze Zahl von {min} bis {max} sein",
  events_not_a_list: "events muss ein Array mit höchstens {max} Ereignissen sein",
};
