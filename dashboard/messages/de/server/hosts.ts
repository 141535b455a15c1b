// Problems of domains, and what to do about them.

import type { ServerTexts } from "../../server.ts";

export const hostMessages: ServerTexts["messages"] = {
  host_point_to: "Richten Sie einen CNAME von {host} auf {relay} ein, oder leiten Sie /__cc/ von {host} an dieses Relay weiter.",
  host_pass_on:
    "Leiten Sie /__cc/ von {host} an dieses Relay weiter. (CLEANCAST_URL ist nicht gesetzt; das DNS allein kann also nicht zeigen, dass die Domain hierher führt.)",
  host_not_found: "{host} ist nicht im DNS.",
  host_lookup_failed: "Das DNS konnte nicht nach {host} gefragt werden.",
  host_check_dns: "Die Prüfung wird automatisch wiederholt. Schlägt sie weiter fehl, prüfen Sie das DNS dieses Servers.",
  host_private: "{host} führt zu einer privaten Adresse und wird nicht aufgerufen.",
  host_make_public:
    "Führen Sie sie zu einer öffentlichen Adresse. Im eigenen Netz: CLEANCAST_ALLOW_PRIVATE erlaubt es, CLEANCAST_DNS setzt einen anderen DNS-Server.",
  host_no_server: "{host} führt zu {seen}, und dort antwortet kein Server über HTTPS.",
  host_too_slow: "{host} hat nicht rechtzeitig geantwortet.",
  host_check_firewall: "Prüfen Sie Firewall und Server: Port 443 muss für das Internet offen sein.",
  host_get_certificate:
    "Auch Browser lehnen es ab. Besorgen Sie ein Zertifikat für diesen Namen auf dem Server, der HTTPS beendet.",
  host_not_us: "{host} antwortet, aber nicht von hier: {seen}.",
  host_other_installation:
    "Auf {host} antwortet ein anderes Cleancast oder ein Knoten mit einem anderen Verschlüsselungsschlüssel.",
  host_same_key: "{point} Alle Knoten einer Installation brauchen denselben Verschlüsselungsschlüssel.",
  host_pass_name: "Lassen Sie den Proxy den Namen weitergeben: in nginx proxy_set_header Host $host.",
  host_not_secure: "Anfragen an {host} kommen hier an, als wären sie unverschlüsselt.",
  host_send_proto:
    "Lassen Sie den Proxy X-Forwarded-Proto senden, und nennen Sie seine Adresse in CLEANCAST_TRUST_PROXY, wenn er auf einem anderen Server läuft.",
  host_check_failed: "Die letzte Prüfung von {host} ist fehlgeschlagen.",
  host_check_again: "Prüfen Sie sie erneut.",
  host_header: "Anfragen an {host} kommen hier als {seen} an.",
  host_add_alias:
    "Richten Sie einen CNAME von {host} auf {relay} ein, oder geben Sie ihr die Adresse des Servers, der /__cc/ an dieses Relay weiterleitet. Neue Einträge können eine Stunde brauchen.",
  host_add_address:
    "Geben Sie ihr die Adresse des Servers, der /__cc/ an dieses Relay weiterleitet. Neue Einträge können eine Stunde brauchen.",
  host_certificate: "{host} hat kein gültiges Zertifikat: {reason}.",
  host_no_certificate: "{host} hat kein gültiges Zertifikat für diesen Namen.",
};
