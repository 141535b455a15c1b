// Alerts: titles, and what happened.

import type { ServerTexts } from "../../server.ts";

export const alertMessages: ServerTexts["messages"] = {
  answered_http: "die Antwort war HTTP {status}",
  alert_wrong_keys:
    "{host} hat seit {since} mindestens zehn Anfragen mit falschen Schlüsseln innerhalb von fünf Minuten erhalten. Sie werden abgelehnt; gültige Schlüssel funktionieren weiter.",
  alert_connection_unreadable:
    "{connection} ist nicht lesbar: Die Zeile in der Datenbank ist beschädigt. Zustellungen warten, bis neu verbunden ist.",
  alert_credentials: "{connection} akzeptiert die Zugangsdaten nicht mehr. Zustellungen warten, bis neu verbunden ist.",
  alert_settings_unreadable:
    "Die Einstellungen dieser Website sind nicht lesbar: Ihre Zeile in der Datenbank ist beschädigt. Bis sie neu gesetzt sind, sollen Absender es erneut versuchen (503), es wird nichts gesendet und nichts gelöscht.",
  alert_address_unreadable:
    "Die Adresse des Webhooks für Warnungen ist nicht lesbar: Ihr Wert in der Datenbank ist beschädigt. Bis sie neu gesetzt ist, werden dorthin keine Warnungen gesendet.",
  alert_app_unreadable:
    "Die OAuth-App für {platform} ist nicht lesbar: Ihre Zeile in der Datenbank ist beschädigt. Tokens lassen sich nicht erneuern, und Zustellungen warten.",
  alert_host: "{problem} Seit {since}.",
  alert_success_rate:
    "Von den letzten {attempts} Versuchen, {connection} zu erreichen, waren {percent} % erfolgreich; die Grenze ist {limit} %.",
  alert_silence:
    "Keine Ereignisse seit {since}. In den letzten vier Wochen war die längste Pause zu diesen Stunden etwa {pause}.",
  alert_webhook_unreadable:
    "Webhook {id} ist nicht lesbar: Seine Zeile in der Datenbank ist beschädigt. Seine Summen werden aufbewahrt, bis er repariert ist.",
  alert_webhook_failing:
    "Webhook {id} an {origin} schlägt seit {since} fehl. Seine Summen werden aufbewahrt und erneut gesendet.",
  alert_delayed: "Zustellungen an {connection} sind verzögert: {count} warten, und die älteste ist seit {since} fällig.",
  alert_growing: "{count} Zustellungen warten auf {connection}, und die Warteschlange wächst.",
  one_hour: "eine Stunde",
  hours: "{hours} Stunden",
  title_reconnect: "{connection} muss neu verbunden werden",
  title_success_rate: "Zustellungen an {connection} schlagen fehl",
  title_silence: "keine Ereignisse empfangen",
  title_webhook: "Webhook {id} schlägt fehl",
  title_wrong_keys: "falsche Schlüssel auf {host}",
  title_queue: "Zustellungen an {connection} sind verzögert",
  title_host: "{host} erreicht dieses Relay nicht",
  title_not_counted: "{connection} zählt weniger Conversions",
  title_quality: "Zuordnungsqualität bei {connection} ist gefallen",
  title_accepted_orders: "{connection} nimmt weniger Ihrer Bestellungen an",
  title_data_export: "Daten können nicht exportiert werden",
  title_order_feed: "die Liste der Bestellungen kann nicht abgerufen werden",
  title_unreadable: "{what} ist nicht lesbar",
  alert_not_counted:
    "Von den letzten {decided} Conversions, die {connection} angenommen und entschieden hat, wurden mehr als sonst nicht gezählt: {reasons}.",
  alert_quality: "{connection} bewertet die Zuordnungsqualität unserer Ereignisse niedriger als in den Tagen davor: {scores}.",
  alert_accepted_orders:
    "{connection} hat {reached} der {orders} zustellbaren Bestellungen vom {from} bis {to}, {percent} %. Zuvor waren es {before} %.",
  alert_data_export:
    "Daten konnten seit {since} nicht exportiert werden. Es wird alle zehn Minuten wieder versucht; keine Stunde wird ausgelassen.",
  alert_order_feed:
    "Die Liste der Bestellungen konnte seit {since} nicht abgerufen werden. Der Abruf wird jede Stunde wiederholt.",
  share_of_reason: "{reason} ({now})",
  share_grew: "{reason} ({now}, sonst {usually})",
  alert_webhook_disabled:
    "Webhook {id} an {origin} ist deaktiviert: {reason}. Seine Summen werden aufbewahrt, bis er wieder aktiviert wird.",
  alert_webhook_disabled_since:
    "Webhook {id} an {origin} ist deaktiviert: {reason}. Er schlägt seit {since} fehl. Seine Summen werden aufbewahrt, bis er wieder aktiviert wird.",
  more_than: "mehr als {count}",
  do_reconnect:
    "Verbinden Sie sie neu: Melden Sie sich erneut an, oder geben Sie neue Zugangsdaten ein. Dann werden zurückgestellte Zustellungen gesendet.",
  do_read_reasons: "Das Zustellprotokoll zeigt die Gründe, die die Plattform nennt.",
  do_check_senders:
    "Prüfen Sie die Systeme, die Ereignisse senden: Die Liste der Eingangsschlüssel zeigt, wann jeder zuletzt verwendet wurde.",
  do_check_pushes: "Sehen Sie in das Protokoll seiner Pushs, und senden Sie einen Test-Push.",
  do_compare_keys:
    "Vielleicht verwendet ein Absender einen alten Schlüssel: Vergleichen Sie ihn mit der Liste der Eingangsschlüssel.",
  do_read_queue: "Das Zustellprotokoll zeigt bei jeder wartenden Zustellung, worauf sie wartet.",
  do_check_domains: "Die Liste der Domains zeigt, was zu tun ist. Prüfen Sie die Domain dort danach erneut.",
  do_read_report: "Lesen Sie den Bericht des letzten Abgleichs: Jeder Verlust führt zu seinen Bestellungen.",
  do_check_export: "Prüfen Sie das Ziel des Exports und seine Zugangsdaten; der letzte Fehler sagt, was nicht stimmt.",
  do_check_feed: "Prüfen Sie die Adresse, von der die Bestellungen abgerufen werden; der letzte Fehler sagt, was nicht stimmt.",
  do_repair: "Geben Sie erneut ein, was nicht lesbar ist, oder stellen Sie es aus einer Sicherung wieder her.",
  do_read_quality:
    "Die Seite ihrer Zuordnungsqualität zeigt, welche Zuordnungsmerkmale fehlen und was den Wert am meisten erhöhen würde.",
  do_filter_log: "Filtern Sie das Zustellprotokoll nach dieser Bestätigung: Jede Zustellung zeigt den Grund der Plattform.",
  title_source_silence: "keine Anfragen von {source}",
  title_wrong_signatures: "falsche Signaturen bei {source}",
  title_source_failing: "{source} erhält Fehler",
  alert_source_silence:
    "{source} hat seit {since} keine Anfrage gesendet. In den letzten vier Wochen war die längste Pause zu diesen Stunden etwa {pause}.",
  alert_wrong_signatures:
    "{source}: {count} Anfragen mit falscher Signatur seit {since}. Sie werden abgelehnt, und nichts davon wird gezählt.",
  alert_source_failing: "Die letzten {count} Anfragen von {source} erhielten einen Fehler, seit {since}. {rule}",
  source_gives_up: "Absender schalten einen Webhook ab, der zu lange fehlschlägt.",
  source_gives_up_failures: "Der Absender schaltet seinen Webhook nach {failures} Fehlern in Folge ab.",
  source_gives_up_hours: "Der Absender schaltet seinen Webhook nach {hours} ohne Erfolg ab.",
  do_check_source: "Prüfen Sie den Webhook beim Absender: Vielleicht wurde er entfernt oder abgeschaltet.",
  do_compare_secrets: "Vergleichen Sie das Geheimnis der Quelle mit dem des Absenders, und geben Sie es erneut ein.",
  do_repair_source:
    "Die Liste der Anfragen zeigt den Grund jeder einzelnen. Setzen Sie die Quelle fort, oder geben Sie ihr Geheimnis erneut ein.",
  alert_events_unreadable:
    "Gespeicherte Ereignisse sind nicht lesbar: Ihre Zeilen in der Datenbank sind beschädigt. Sie werden nicht gesendet.",
  alert_bot_visits_unreadable:
    "Einzelne Bot-Besuche sind nicht lesbar: Ihre Zeilen in der Datenbank sind beschädigt. Die Anzahlen stimmen.",
};
