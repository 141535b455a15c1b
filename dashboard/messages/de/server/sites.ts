// Sites, keys and connections.

import type { ServerTexts } from "../../server.ts";

export const siteMessages: ServerTexts["messages"] = {
  event_selection_unreadable:
    "Die Auswahl der Ereignisse dieser Verbindung ist nicht lesbar: Wählen Sie die Ereignisse erneut, oder alle.",
  platform_does_not_sign: "{platform} signiert seine Anfragen nicht.",
  account_just_connected:
    "Dasselbe Konto wurde gerade durch eine andere Anfrage verbunden. Laden Sie neu, und versuchen Sie es erneut.",
  unknown_platform_of: "Es gibt keine Plattform {id}. Bekannt: {known}.",
  settings_unreadable:
    "Diese Verbindung ist nicht lesbar: Geben Sie alle Einstellungen für dasselbe Konto erneut ein, oder fügen Sie eine neue Verbindung hinzu.",
  setting_identifies_account: "{setting} bestimmt das Konto: Fügen Sie stattdessen eine neue Verbindung hinzu.",
  connection_unreadable:
    "Verbindung {id} ist nicht lesbar: Ihre Zeile in der Datenbank ist beschädigt. Verbinden Sie sie erneut.",
  settings_needed: "{platform} braucht {settings}.",
  host_invalid: "{host} ist kein Domainname. Schreiben Sie ihn wie shop.example.com.",
  host_taken: "{host} gehört schon zu einer Website.",
  site_moved: "Diese Website wurde zu einer anderen Installation umgezogen. Ändern Sie sie dort.",
  site_being_moved: "Diese Website wird gerade zu einer anderen Installation umgezogen. Versuchen Sie es gleich noch einmal.",
  allow_list_full: "Die Liste der erlaubten Personen ist voll ({max}); entfernen Sie zuerst einige Einträge.",
  key_name_needed: "Ein Schlüssel braucht einen Namen mit höchstens 100 Zeichen.",
  expiry_past: "Das Ablaufdatum liegt in der Vergangenheit.",
  key_ended: "Schlüssel {id}: {state}. Fügen Sie stattdessen einen neuen hinzu.",
  internal_host: "{host} ist ein Name in einem internen Netz. Schreiben Sie einen öffentlichen wie shop.example.com.",
  too_many_hosts: "Eine Website kann {max} Domains haben; entfernen Sie zuerst einige.",
  only_host: "{host} ist die einzige Domain der Website: Fügen Sie zuerst eine andere hinzu, oder pausieren Sie sie.",
  key_hash_invalid: "Der Hash muss der SHA-256 des Schlüssels sein: 64 Hexadezimalzeichen.",
  key_prefix_too_long: "Das Präfix sind höchstens die ersten {max} Zeichen des Schlüssels.",
  key_exists: "Dieser Schlüssel wurde schon hinzugefügt.",
  alert_webhook_fault: "Die URL {fault}.",
  setting_required: "{setting} ist erforderlich: {help}",
  unknown_kind_of: "Es gibt keine Art von Quelle {id}. Bekannt: {known}.",
  too_many_sources: "Eine Website hat höchstens {max} Quellen.",
  source_unreadable:
    "Die Quelle {id} kann nicht gelesen werden: Entfernen Sie sie und legen Sie sie neu an, oder erneuern Sie ihre Adresse und geben Sie ihre Geheimnisse erneut an.",
  source_request_gone: "Diese Anfrage wird nicht mehr aufbewahrt.",
  source_nothing_to_preview: "Geben Sie den Inhalt einer Anfrage an oder die ID einer aufbewahrten.",
  source_name_invalid: "Der Name muss eine Zeile mit höchstens {max} Zeichen sein.",
  setting_fault: "{setting} {fault}.",
  address_fault: "{setting} {fault}",
  not_a_setting_of: "ist keine Einstellung von {platform}. Bekannt: {known}",
  site_settings_unreadable:
    "Die Einstellungen von {site} sind nicht lesbar: Ihre Zeile in der Datenbank ist beschädigt. Setzen Sie sie zuerst neu.",
  unknown_site_setting: "{setting} ist keine Einstellung einer Website. Bekannt: {known}.",
  not_a_site_setting: "{setting} ist keine Einstellung einer Website.",
  setting_without_effect: "{setting} wirkt noch nicht: {reason}",
  must_be_whole: "muss eine ganze Zahl von {min} bis {max} sein",
  must_be_at_most_days: "darf höchstens {max} Tage sein",
  must_be_days: "muss 1 bis {max} Tage sein",
  must_be_off_or_whole: "muss eine ganze Zahl von {min} bis {max} oder leer sein",
  must_have_addresses: "darf höchstens {max} Adressen haben",
  must_have_entries: "darf höchstens {max} Einträge haben",
  would_deny_browsers: "würde mit „{word}“ gewöhnliche Browser sperren; schreiben Sie mehr davon (ein Komma trennt Muster)",
  must_be_evidence:
    "braucht Signale mit einem Modus wie pointer:press too short=on; {word} ist keines. „cleancast traffic evidence“ nennt sie",
  must_be_networks: "braucht Adressen oder Netze wie 192.0.2.0/24 oder 2001:db8::/32; {word} ist keines",
  must_be_countries: "braucht Ländercodes aus zwei Buchstaben wie DE; {word} ist keiner",
  key_form_api: "Ein Schlüssel, der mit {api} beginnt, ist ein API-Schlüssel: Ein Eingangsschlüssel beginnt mit {inbound}.",
  key_form_test: "Ein Schlüssel, der mit {start} beginnt, ist ein Testschlüssel: Fügen Sie ihn als solchen hinzu.",
  step_no_tag: "Kein Seitenaufruf mit dem Tag in den letzten 30 Tagen.",
  step_no_event: "Noch kein Ereignis empfangen.",
  step_localhost: "Bisher nur localhost. Fügen Sie Ihre Domain hinzu, bevor Sie live gehen.",
  step_keys_ended: "Alle Schlüssel sind abgelaufen oder widerrufen.",
  step_no_key: "Noch kein Eingangsschlüssel.",
  step_sandbox: "Nur die Sandbox ist verbunden.",
  step_no_platform: "Noch keine Plattform verbunden.",
};
