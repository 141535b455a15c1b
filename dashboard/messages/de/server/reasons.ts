// Why a connection is not proven, a domain is not served, a visit is a bot; and alerts.

import type { ServerTexts } from "../../server.ts";
import { results } from "../results.ts";

export const reasons: ServerTexts = {
  // reconciliation
  "never received": "nie empfangen",
  "no click id of the platform": "keine Klick-ID der Plattform",
  "not connected at the time": "damals nicht verbunden",
  "not answered yet": "noch nicht beantwortet",
  "the platform cannot be asked about it": "die Plattform kann nicht danach gefragt werden",
  "not counted: {1}": "nicht gezählt: {1}",
  "unknown: {1}": "unbekannt: {1}",
  ...results.reasons,
  "not counted": "nicht gezählt",
  "rejected: other reasons": "abgelehnt: andere Gründe",
  "skipped: other reasons": "übersprungen: andere Gründe",
  "queued: other reasons": "in der Warteschlange: andere Gründe",
  "parked: other reasons": "zurückgestellt: andere Gründe",
  "expired: other reasons": "abgelaufen: andere Gründe",
  "other reasons": "andere Gründe",
  // match quality
  "Send {1} from {2}: +{3} % of the conversions would carry {4}.":
    "Senden Sie {1} aus {2}: {4} käme bei weiteren {3} % der Conversions hinzu.",
  "Install the tag where people enter their email, or call identifyEmail there: up to +{1} % of the conversions would carry {2}.":
    "Binden Sie das Tag dort ein, wo Personen ihre E-Mail-Adresse angeben, oder rufen Sie dort identifyEmail auf: {2} käme bei bis zu {1} % der Conversions hinzu.",
  "a phone": "eine Telefonnummer",
  "a name": "ein Name",
  "a click id": "eine Klick-ID",
  "a browser id": "eine Browser-ID",
  "an address and user agent": "eine IP-Adresse mit User-Agent",
  // proof of a connection
  "the check could not be finished; try again": "die Prüfung wurde nicht fertig; versuchen Sie es erneut",
  "not checked yet": "noch nicht geprüft",
  "the settings have changed; try again": "die Einstellungen haben sich geändert; versuchen Sie es erneut",
  "the platform did not answer": "die Plattform hat nicht geantwortet",
  "none of the selected events is sent": "keines der ausgewählten Ereignisse wird gesendet",
  "{1}; set {2}, or one for each event": "{1}; setzen Sie {2} oder einen Wert für jedes Ereignis",
  "{1} has no call that checks a connection without counting a conversion; the first accepted conversion proves it":
    "{1} bietet keine Prüfung der Verbindung, ohne eine Conversion zu zählen; die erste angenommene Conversion bestätigt sie",
  "{1} answers every request alike, so wrong settings do not show; look at {2} after the first conversion":
    "{1} antwortet auf jede Anfrage gleich, falsche Einstellungen zeigen sich also nicht; sehen Sie nach der ersten Conversion hier nach: {2}",
  // domains
  "Let a CNAME of {1} lead to {2}, or pass /__cc/ of {3} on to this relay.":
    "Richten Sie einen CNAME von {1} auf {2} ein, oder leiten Sie /__cc/ von {3} an dieses Relay weiter.",
  "Pass /__cc/ of {1} on to this relay. (CLEANCAST_URL is not set, so the DNS alone cannot show that it leads here.)":
    "Leiten Sie /__cc/ von {1} an dieses Relay weiter. (CLEANCAST_URL ist nicht gesetzt; das DNS allein kann also nicht zeigen, dass die Domain hierher führt.)",
  "{1} is not in the DNS.": "{1} ist nicht im DNS.",
  "Let a CNAME of {1} lead to {2}, or give it the address of the server that passes /__cc/ on to this relay. New records can take an hour.":
    "Richten Sie einen CNAME von {1} auf {2} ein, oder geben Sie ihr die Adresse des Servers, der /__cc/ an dieses Relay weiterleitet. Neue Einträge können eine Stunde brauchen.",
  "Give it the address of the server that passes /__cc/ on to this relay. New records can take an hour.":
    "Geben Sie ihr die Adresse des Servers, der /__cc/ an dieses Relay weiterleitet. Neue Einträge können eine Stunde brauchen.",
  "The DNS could not be asked about {1}.": "Das DNS konnte nicht nach {1} gefragt werden.",
  "The check is repeated automatically. If it keeps failing, check this machine's DNS.":
    "Die Prüfung wird automatisch wiederholt. Schlägt sie weiter fehl, prüfen Sie das DNS dieses Servers.",
  "{1} leads to a private address, and is not called.": "{1} führt zu einer privaten Adresse und wird nicht aufgerufen.",
  "Point it to a public address. Inside your own network: CLEANCAST_ALLOW_PRIVATE allows it, CLEANCAST_DNS sets another DNS server.":
    "Führen Sie sie zu einer öffentlichen Adresse. Im eigenen Netz: CLEANCAST_ALLOW_PRIVATE erlaubt es, CLEANCAST_DNS setzt einen anderen DNS-Server.",
  "{1} leads to {2} and no server answers there on HTTPS.": "{1} führt zu {2}, und dort antwortet kein Server über HTTPS.",
  "a server": "einem Server",
  "{1} did not answer in time.": "{1} hat nicht rechtzeitig geantwortet.",
  "Check its firewall and its server: port 443 must be open to the internet.":
    "Prüfen Sie Firewall und Server: Port 443 muss für das Internet offen sein.",
  "{1} has no valid certificate for its name.": "{1} hat kein gültiges Zertifikat für diesen Namen.",
  "{1} has no valid certificate: {2}.": "{1} hat kein gültiges Zertifikat: {2}.",
  "Browsers refuse it too. Get a certificate for this name on the server that terminates its HTTPS.":
    "Auch Browser lehnen es ab. Besorgen Sie ein Zertifikat für diesen Namen auf dem Server, der HTTPS beendet.",
  "{1} answers, but not from here: {2}.": "{1} antwortet, aber nicht von hier: {2}.",
  "another server": "ein anderer Server",
  "Another Cleancast answers on {1}, or a node with another encryption key.":
    "Auf {1} antwortet ein anderes Cleancast oder ein Knoten mit einem anderen Verschlüsselungsschlüssel.",
  "{1} All nodes of one installation need the same encryption key.":
    "{1} Alle Knoten einer Installation brauchen denselben Verschlüsselungsschlüssel.",
  "Requests to {1} arrive here as {2}.": "Anfragen an {1} kommen hier als {2} an.",
  "a request without a name": "Anfrage ohne Namen",
  "Let the proxy pass the name on: in nginx proxy_set_header Host $host.":
    "Lassen Sie den Proxy den Namen weitergeben: in nginx proxy_set_header Host $host.",
  "Requests to {1} arrive here as if they were not encrypted.": "Anfragen an {1} kommen hier an, als wären sie unverschlüsselt.",
  "Let the proxy send X-Forwarded-Proto, and name its address in CLEANCAST_TRUST_PROXY where it runs on another machine.":
    "Lassen Sie den Proxy X-Forwarded-Proto senden, und nennen Sie seine Adresse in CLEANCAST_TRUST_PROXY, wenn er auf einem anderen Server läuft.",
  "The last check of {1} failed.": "Die letzte Prüfung von {1} ist fehlgeschlagen.",
  "Check it again.": "Prüfen Sie sie erneut.",
  // first steps
  "No page view with the tag in the last 30 days.": "Kein Seitenaufruf mit dem Tag in den letzten 30 Tagen.",
  "No event received yet.": "Noch kein Ereignis empfangen.",
  "Only localhost so far. Add your domain before you go live.":
    "Bisher nur localhost. Fügen Sie Ihre Domain hinzu, bevor Sie live gehen.",
  "All keys are expired or revoked.": "Alle Schlüssel sind abgelaufen oder widerrufen.",
  "No inbound key yet.": "Noch kein Eingangsschlüssel.",
  "Only the sandbox is connected.": "Nur die Sandbox ist verbunden.",
  "No platform connected yet.": "Noch keine Plattform verbunden.",
  // alerts
  "{1} counts fewer conversions": "{1} zählt weniger Conversions",
  "Filter the sync log by this confirmation: each delivery shows the reason of the platform.":
    "Filtern Sie das Zustellprotokoll nach dieser Bestätigung: Jede Zustellung zeigt den Grund der Plattform.",
  "Of the last {1} conversions that {2} accepted and decided on, it did not count more than usual: {3}.":
    "Von den letzten {1} Conversions, die {2} angenommen und entschieden hat, wurden mehr als sonst nicht gezählt: {3}.",
  "{1} ({2} %, usually {3} %)": "{1} ({2} %, sonst {3} %)",
  "{1} ({2} %, usually {3} %), {4}": "{1} ({2} %, sonst {3} %), {4}",
  "{1} ({2} %)": "{1} ({2} %)",
  "{1} ({2} %), {3}": "{1} ({2} %), {3}",
  "accuracy of {1} fell": "Genauigkeit von {1} ist gefallen",
  "Accuracy of {1} fell to {2} %: it accepted or deliberately skipped {3} of the {4} orders from {5} to {6}. Before, it was {7} %.":
    "Die Genauigkeit von {1} ist auf {2} % gefallen: {3} der {4} Bestellungen vom {5} bis {6} wurden angenommen oder bewusst übersprungen. Zuvor waren es {7} %.",
  "Read the report of the last reconciliation: each loss leads to its orders.":
    "Lesen Sie den Bericht des letzten Abgleichs: Jeder Verlust führt zu seinen Bestellungen.",
  "Check the address of the order feed; its last error says what is wrong.":
    "Prüfen Sie die Adresse, von der die Bestellungen abgerufen werden; der letzte Fehler sagt, was nicht stimmt.",
  "Stored events cannot be read: their rows in the database are damaged. They are not sent.":
    "Gespeicherte Ereignisse sind nicht lesbar: Ihre Zeilen in der Datenbank sind beschädigt. Sie werden nicht gesendet.",
  "Sampled bot visits cannot be read: their rows in the database are damaged. The counts are right.":
    "Einzelne Bot-Besuche sind nicht lesbar: Ihre Zeilen in der Datenbank sind beschädigt. Die Anzahlen stimmen.",
  "the list of orders cannot be fetched": "die Liste der Bestellungen kann nicht abgerufen werden",
  "The list of orders could not be fetched since {1}. It is tried again every hour.":
    "Die Liste der Bestellungen konnte seit {1} nicht abgerufen werden. Der Abruf wird jede Stunde wiederholt.",
  "match quality at {1} fell": "Zuordnungsqualität bei {1} ist gefallen",
  "The page of its match quality shows which keys are missing, and what would raise the score most.":
    "Die Seite ihrer Zuordnungsqualität zeigt, welche Zuordnungsmerkmale fehlen und was den Wert am meisten erhöhen würde.",
  "{1} rates the match quality of our events lower than in the days before: {2}.":
    "{1} bewertet die Zuordnungsqualität unserer Ereignisse niedriger als in den Tagen davor: {2}.",
  "{1} needs reconnection": "{1} muss neu verbunden werden",
  "deliveries to {1} fail": "Zustellungen an {1} schlagen fehl",
  "no events received": "keine Ereignisse empfangen",
  "webhook {1} fails": "Webhook {1} schlägt fehl",
  "wrong keys on {1}": "falsche Schlüssel auf {1}",
  "deliveries to {1} are delayed": "Zustellungen an {1} sind verzögert",
  "{1} does not reach this relay": "{1} erreicht dieses Relay nicht",
  "{1} cannot be read": "{1} ist nicht lesbar",
  "the alert webhook": "der Webhook für Warnungen",
  "OAuth app {1} cannot be read": "OAuth-App {1} ist nicht lesbar",
  "settings cannot be read": "Einstellungen sind nicht lesbar",
  "events cannot be read": "Ereignisse sind nicht lesbar",
  "bot visits cannot be read": "Bot-Besuche sind nicht lesbar",
  settings: "Einstellungen",
  "Reconnect it: sign in again or enter new credentials. Parked deliveries are then sent.":
    "Verbinden Sie sie neu: Melden Sie sich erneut an, oder geben Sie neue Zugangsdaten ein. Dann werden zurückgestellte Zustellungen gesendet.",
  "Check its sync log for the reasons that the platform gives.":
    "Das Zustellprotokoll zeigt die Gründe, die die Plattform nennt.",
  "Check the systems that send events: the list of inbound keys shows when each was last used.":
    "Prüfen Sie die Systeme, die Ereignisse senden: Die Liste der Eingangsschlüssel zeigt, wann jeder zuletzt verwendet wurde.",
  "Check the log of its pushes, and send a test push.":
    "Sehen Sie in das Protokoll seiner Pushs, und senden Sie einen Test-Push.",
  "A sender may be using an old key: compare it with the list of inbound keys.":
    "Vielleicht verwendet ein Absender einen alten Schlüssel: Vergleichen Sie ihn mit der Liste der Eingangsschlüssel.",
  "Check its sync log: each queued delivery shows what it is waiting for.":
    "Das Zustellprotokoll zeigt bei jeder wartenden Zustellung, worauf sie wartet.",
  "The list of domains shows what to do. Check the domain again there afterwards.":
    "Die Liste der Domains zeigt, was zu tun ist. Prüfen Sie die Domain dort danach erneut.",
  "Enter again what cannot be read, or restore it from a backup.":
    "Geben Sie erneut ein, was nicht lesbar ist, oder stellen Sie es aus einer Sicherung wieder her.",
  "{1} has received ten or more requests with wrong keys within five minutes, since {2}. They are rejected; valid keys still work.":
    "{1} hat seit {2} mindestens zehn Anfragen mit falschen Schlüsseln innerhalb von fünf Minuten erhalten. Sie werden abgelehnt; gültige Schlüssel funktionieren weiter.",
  "{1} cannot be read: its row in the database is damaged. Deliveries to it wait until it is connected again.":
    "{1} ist nicht lesbar: Die Zeile in der Datenbank ist beschädigt. Zustellungen warten, bis neu verbunden ist.",
  "{1} no longer accepts our credentials. Deliveries to it wait until it is connected again.":
    "{1} akzeptiert die Zugangsdaten nicht mehr. Zustellungen warten, bis neu verbunden ist.",
  "The settings of this site cannot be read: its row in the database is damaged. Until they are set again, senders are asked to retry (503), nothing is sent, and nothing is purged.":
    "Die Einstellungen dieser Website sind nicht lesbar: Ihre Zeile in der Datenbank ist beschädigt. Bis sie neu gesetzt sind, sollen Absender es erneut versuchen (503), es wird nichts gesendet und nichts gelöscht.",
  "The address of the alert webhook cannot be read: its value in the database is damaged. Alerts are not sent there until it is set again.":
    "Die Adresse des Webhooks für Warnungen ist nicht lesbar: Ihr Wert in der Datenbank ist beschädigt. Bis sie neu gesetzt ist, werden dorthin keine Warnungen gesendet.",
  "The OAuth app for {1} cannot be read: its row in the database is damaged. Tokens cannot be renewed, and deliveries wait.":
    "Die OAuth-App für {1} ist nicht lesbar: Ihre Zeile in der Datenbank ist beschädigt. Tokens lassen sich nicht erneuern, und Zustellungen warten.",
  "{1} Since {2}.": "{1} Seit {2}.",
  "Of the last {1} attempts to reach {2}, {3}% succeeded; the limit is {4}%.":
    "Von den letzten {1} Versuchen, {2} zu erreichen, waren {3} % erfolgreich; die Grenze ist {4} %.",
  "No events received since {1}. In the last four weeks the longest pause at these hours was about {2}.":
    "Keine Ereignisse seit {1}. In den letzten vier Wochen war die längste Pause zu diesen Stunden etwa {2}.",
  "an hour": "eine Stunde",
  "{1} hours": "{1} Stunden",
  "Webhook {1} cannot be read: its row in the database is damaged. Its totals are kept until it is repaired.":
    "Webhook {1} ist nicht lesbar: Seine Zeile in der Datenbank ist beschädigt. Seine Summen werden aufbewahrt, bis er repariert ist.",
  "Webhook {1} to {2} is disabled: {3}. Its totals are kept until it is enabled again.":
    "Webhook {1} an {2} ist deaktiviert: {3}. Seine Summen werden aufbewahrt, bis er wieder aktiviert wird.",
  "Webhook {1} to {2} is disabled: {3}. It has failed since {4}. Its totals are kept until it is enabled again.":
    "Webhook {1} an {2} ist deaktiviert: {3}. Er schlägt seit {4} fehl. Seine Summen werden aufbewahrt, bis er wieder aktiviert wird.",
  "it failed for too long": "er ist zu lange fehlgeschlagen",
  "Webhook {1} to {2} has failed since {3}. Its totals are kept and sent again.":
    "Webhook {1} an {2} schlägt seit {3} fehl. Seine Summen werden aufbewahrt und erneut gesendet.",
  "Deliveries to {1} are delayed: {2} wait, and the oldest has been due since {3}.":
    "Zustellungen an {1} sind verzögert: {2} warten, und die älteste ist seit {3} fällig.",
  "{1} deliveries wait for {2}, and the queue is growing.": "{1} Zustellungen warten auf {2}, und die Warteschlange wächst.",
  "more than {1}": "mehr als {1}",
  // traffic
  "{1} visits in a minute": "{1} Besuche in einer Minute",
  "{1} emails in an hour": "{1} E-Mail-Adressen in einer Stunde",
  "allowed by {1}": "erlaubt durch {1}",
  "denied by {1}": "gesperrt durch {1}",
  headers: "Header",
  script: "Skript",
  submit: "Absenden von Formularen",
  frequency: "Häufigkeit",
  "The user agent is that of a known bot.": "Der User-Agent ist der eines bekannten Bots.",
  "An advertising network reviews the page, with click ids of clicks that never happened.":
    "Ein Werbenetzwerk prüft die Seite, mit Klick-IDs von Klicks, die es nie gab.",
  "An AI assistant fetches the page; no person sees it.": "Ein KI-Assistent ruft die Seite ab; kein Mensch sieht sie.",
  "The user agent is that of a headless browser.": "Der User-Agent ist der eines Headless-Browsers.",
  "No browser sends such a user agent.": "Kein Browser sendet einen solchen User-Agent.",
  "Every browser sends a user agent.": "Jeder Browser sendet einen User-Agent.",
  "The user agent has words that bots use.": "Der User-Agent enthält Wörter, die Bots verwenden.",
  "The client hints name another operating system than the user agent.":
    "Die Client Hints nennen ein anderes Betriebssystem als der User-Agent.",
  "No browser on an iPhone or iPad sends client hints.": "Kein Browser auf einem iPhone oder iPad sendet Client Hints.",
  "The client hints name another version of Chromium than the user agent.":
    "Die Client Hints nennen eine andere Chromium-Version als der User-Agent.",
  "Only Chromium sends client hints, and the user agent is another browser's.":
    "Nur Chromium sendet Client Hints, und der User-Agent ist der eines anderen Browsers.",
  "The user agent is a phone's, the client hints are not.":
    "Der User-Agent ist der eines Telefons, die Client Hints sind es nicht.",
  "The browser runs on another operating system than the user agent says.":
    "Der Browser läuft auf einem anderen Betriebssystem, als der User-Agent sagt.",
  "The browser has features of Chromium, and the user agent is another browser's.":
    "Der Browser hat Merkmale von Chromium, und der User-Agent ist der eines anderen Browsers.",
  "The client hints name another operating system than the browser runs on.":
    "Die Client Hints nennen ein anderes Betriebssystem als das des Browsers.",
  "The user agent is a phone's, but there is no touch screen.":
    "Der User-Agent ist der eines Telefons, aber es gibt keinen Touchscreen.",
  "The browser reports that a program controls it.": "Der Browser meldet, dass ein Programm ihn steuert.",
  "An automation tool is in the page.": "Ein Automatisierungswerkzeug ist in der Seite.",
  "The client hints name a headless browser.": "Die Client Hints nennen einen Headless-Browser.",
  "Every browser sends the languages of its user.": "Jeder Browser sendet die Sprachen seines Nutzers.",
  "Recent browsers send fetch metadata (Sec-Fetch-Site).": "Neuere Browser senden Fetch-Metadaten (Sec-Fetch-Site).",
  "Chromium sends client hints over TLS.": "Chromium sendet über TLS Client Hints.",
  "It claims to be a crawler, but the operator of that crawler has no such address.":
    "Er gibt sich als Crawler aus, aber der Betreiber dieses Crawlers hat keine solche Adresse.",
  "The address belongs to a data centre, where few people browse.":
    "Die Adresse gehört zu einem Rechenzentrum, von wo kaum Menschen surfen.",
  "More visits from one network with one user agent than a few people make.":
    "Mehr Besuche aus einem Netz mit einem User-Agent, als wenige Menschen machen.",
  "Far more visits from one network with one user agent than people make.":
    "Weit mehr Besuche aus einem Netz mit einem User-Agent, als Menschen machen.",
  "One network with one user agent submits very many different emails.":
    "Ein Netz mit einem User-Agent sendet sehr viele verschiedene E-Mail-Adressen.",
  "One visitor opens more pages than a person can read.": "Ein Besucher öffnet mehr Seiten, als ein Mensch lesen kann.",
  "One visitor submits the emails of many people.": "Ein Besucher sendet die E-Mail-Adressen vieler Personen.",
  "One click brought several visitors: a shared link, or a replayed click.":
    "Ein Klick brachte mehrere Besucher: ein geteilter Link oder ein wiederholter Klick.",
  "The form was submitted faster than a person types, without a key or a click.":
    "Das Formular wurde schneller abgesendet, als ein Mensch tippt, ohne Taste und ohne Klick.",
  "A script submitted the form, not a person.": "Ein Skript hat das Formular abgesendet, kein Mensch.",
  "No key, touch or click before the form was submitted.":
    "Keine Taste, Berührung und kein Klick, bevor das Formular abgesendet wurde.",
  "The tag always reports its browser; this report came without that.":
    "Das Tag meldet immer seinen Browser; diese Meldung kam ohne.",
  "A hidden field was filled in.": "Ein verstecktes Feld wurde ausgefüllt.",
};
