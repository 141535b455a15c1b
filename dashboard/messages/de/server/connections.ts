// Connections: names of events, settings, sign-in and match quality.

import type { ServerTexts } from "../../server.ts";

export const connectionMessages: ServerTexts["messages"] = {
  sign_in_answer_unusable: "die Antwort war nicht verwendbar ({error})",
  sign_in_refused: "{platform} hat die Anmeldung abgelehnt: {reason}",
  new_credentials_refused: "{platform} lehnt die neuen Zugangsdaten ab: {reason}. Die Verbindung behält ihre bisherigen.",
  must_be_domains: "braucht Domains wie example.com; {word} ist keine",
  improve_by_sending: "Senden Sie {fields} aus {sender}: {key} käme bei weiteren {percent} % der Conversions hinzu.",
  improve_by_tag:
    "Binden Sie das Tag dort ein, wo Personen ihre E-Mail-Adresse angeben, oder rufen Sie dort identifyEmail auf: {key} käme bei bis zu {percent} % der Conversions hinzu.",
  event_without_name: "{platform} hat keinen Namen für {event}, und die Verbindung wählt keinen.",
  name_chosen_for: "die Wahl der Verbindung für {usual}",
  name_of_platform_for: "der Name von {platform} für {usual}",
  name_of_platform: "der Name von {platform} dafür",
  name_usual: "sein üblicher Name, weil {platform} keinen eigenen hat",
  name_custom: "ein eigenes Ereignis, weil {platform} keinen Namen dafür hat",
  event_sent_as: "{event} wird als {names} gesendet: {reason}.",
  must_be_at_most_targets: "darf höchstens {max} haben, durch Kommas getrennt",
  must_be_one_of: "muss eines davon sein: {known}",
  what_if_setting: "{setting} ändert nicht, was aus einem Ereignis wird. Diese Einstellungen tun es: {known}.",
  what_if_domains:
    "E-Mail-Adressen sind nur als Hash gespeichert: Ereignisse, die eine neu gesperrte Domain filtern würde, werden nicht gefunden.",
  what_if_fields:
    "Von anderen Feldern einer Anfrage sind nur die gespeichert, die eine Zuordnung nannte: Gespeicherten Ereignissen fehlen die übrigen.",
  what_if_evidence: "Indizien, die bei einem Besuch ausgeschaltet waren, wurden nicht gesucht und werden nicht gefunden.",
  sign_in_link_ended: "Dieser Link gilt nicht mehr. Beginnen Sie die Anmeldung erneut.",
};
