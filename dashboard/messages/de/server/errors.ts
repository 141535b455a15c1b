// Errors that the management API answers.

import type { ServerTexts } from "../../server.ts";

export const errors: ServerTexts = {
  // reconciliation
  "Send CSV or NDJSON, with Content-Type: text/csv or application/x-ndjson.":
    "Senden Sie CSV oder NDJSON mit Content-Type: text/csv oder application/x-ndjson.",
  "The file is larger than {1} MiB. Send it in parts, each with the header.":
    "Die Datei ist größer als {1} MiB. Senden Sie sie in Teilen, jeden mit der Kopfzeile.",
  "timeZone is not a time zone. Write it like Europe/Berlin.":
    "timeZone ist keine Zeitzone. Schreiben Sie sie wie Europe/Berlin.",
  "header must have a name like Authorization or X-Api-Key.": "header braucht einen Namen wie Authorization oder X-Api-Key.",
  "The value of header must be printable ASCII of at most {1} characters.":
    "Der Wert des Headers muss aus höchstens {1} druckbaren ASCII-Zeichen bestehen.",
  "The site has no order feed.": "Für die Website ist kein Abruf von Bestellungen eingerichtet.",
  "event must be the name of an event of at most {1} characters.":
    "event muss der Name eines Ereignisses mit höchstens {1} Zeichen sein.",
  "tolerance must be a number from 0 to {1}, in percent.": "tolerance muss eine Zahl von 0 bis {1} in Prozent sein.",
  "The site has no orders yet. Send its list of orders first.":
    "Die Website hat noch keine Bestellungen. Senden Sie zuerst die Liste der Bestellungen.",
  "A reconciliation of this site is running. Wait until it ends, or cancel it.":
    "Ein Abgleich dieser Website läuft. Warten Sie, bis er endet, oder brechen Sie ihn ab.",
  "There is no reconciliation {1}.": "Den Abgleich {1} gibt es nicht.",
  "Reconciliation {1} is not running.": "Der Abgleich {1} läuft nicht.",
  "{1} must be a day like 2026-11-15.": "{1} muss ein Tag wie 2026-11-15 sein.",
  "from must not be after to.": "Der erste Tag darf nicht nach dem letzten liegen.",
  "The window must not be longer than {1} days.": "Der Zeitraum darf höchstens {1} Tage lang sein.",
  "connection is needed with state, reason, attributed and confirmation.":
    "Zu state, reason, attributed und confirmation gehört connection.",
  "confirmation is needed with confirmationReason.": "Zu confirmationReason gehört confirmation.",
  "state is needed with reason.": "Zu reason gehört state.",
  // corrections
  "Corrections are off. Turn on the site's setting corrections first.":
    "Korrekturen sind aus. Schalten Sie zuerst die Einstellung corrections der Website ein.",
  "No conversion with this order id was sent to a platform.":
    "Es wurde keine Conversion mit dieser Bestellnummer an eine Plattform gesendet.",
  // moves of sites
  "This site was moved to another installation. Change it there.":
    "Diese Website wurde zu einer anderen Installation umgezogen. Ändern Sie sie dort.",
  "This site is being moved to another installation. Try again in a moment.":
    "Diese Website wird gerade zu einer anderen Installation umgezogen. Versuchen Sie es gleich noch einmal.",
  // access
  "There is no such session.": "Diese Sitzung gibt es nicht.",
  "Start setting up two-factor sign-in first: there is no secret yet.":
    "Beginnen Sie zuerst mit der Einrichtung der Zwei-Faktor-Anmeldung: Es gibt noch kein Geheimnis.",
  "The password is wrong.": "Das Passwort ist falsch.",
  "Two-factor sign-in is already off.": "Die Zwei-Faktor-Anmeldung ist schon aus.",
  "Two-factor sign-in is already on. Turn it off first.": "Die Zwei-Faktor-Anmeldung ist schon an. Schalten Sie sie zuerst aus.",
  "Sign in again: your session has ended.": "Melden Sie sich erneut an: Ihre Sitzung ist beendet.",
  "Single sign-on is not configured.": "Die Anmeldung bei einem Identitätsanbieter ist nicht eingerichtet.",
  "Passwords are switched off here. Sign in with {1}.": "Passwörter sind hier abgeschaltet. Melden Sie sich mit {1} an.",
  "Too much time has passed, or the sign-in was begun in another browser. Begin again.":
    "Es ist zu viel Zeit vergangen, oder die Anmeldung wurde in einem anderen Browser begonnen. Beginnen Sie erneut.",
  "Your account has just been changed. Sign in again.": "Ihr Konto wurde gerade geändert. Melden Sie sich erneut an.",
  "The identity provider cannot be reached. Try again later.":
    "Der Identitätsanbieter ist nicht erreichbar. Versuchen Sie es später erneut.",
  "You are not signed in: {1}.": "Sie sind nicht angemeldet: {1}.",
  "This API key is not valid.": "Dieser API-Schlüssel ist ungültig.",
  "The expiry date is in the past.": "Das Ablaufdatum liegt in der Vergangenheit.",
  "The expiry is in the past.": "Das Ablaufdatum liegt in der Vergangenheit.",
  "There are already {1} API keys for {2}. Revoke one that is no longer used.":
    "Es gibt schon {1} API-Schlüssel für {2}. Widerrufen Sie einen, der nicht mehr verwendet wird.",
  "all sites": "alle Websites",
  "this site": "diese Website",
  "There is no such API key.": "Diesen API-Schlüssel gibt es nicht.",
  "This is not an email address.": "Das ist keine E-Mail-Adresse.",
  "{1} is already a member here. Change their role in the list of members.":
    "{1} ist hier schon Mitglied. Ändern Sie die Rolle in der Liste der Mitglieder.",
  "This needs the role {1}.": "Dafür ist die Rolle {1} nötig.",
  "This needs the role {1} on this site.": "Dafür ist die Rolle {1} für diese Website nötig.",
  "This needs the role {1} on the whole installation.": "Dafür ist die Rolle {1} für die ganze Installation nötig.",
  owner: "Inhaber",
  admin: "Admin",
  viewer: "Betrachter",
  "The email to {1} could not be sent, so the invitation was withdrawn. Try again, or ask an owner of the whole installation to invite them.":
    "Die E-Mail an {1} konnte nicht gesendet werden; die Einladung wurde zurückgezogen. Versuchen Sie es erneut, oder bitten Sie einen Inhaber der Installation um die Einladung.",
  "There is no such invitation.": "Diese Einladung gibt es nicht.",
  "This invitation no longer works. Ask for a new one.": "Diese Einladung gilt nicht mehr. Bitten Sie um eine neue.",
  "Enter your name, so that others know who you are.": "Geben Sie Ihren Namen ein, damit andere wissen, wer Sie sind.",
  "There is no such {1}.": "Nicht gefunden: {1}.",
  "There is no field {1} here. Check its spelling.": "Das Feld {1} gibt es hier nicht. Prüfen Sie die Schreibweise.",
  "There is no such site.": "Diese Website gibt es nicht.",
  "There is no such member.": "Dieses Mitglied gibt es nicht.",
  "There is no member {1}.": "Es gibt kein Mitglied {1}.",
  "This is the last owner. Make another member an owner first.":
    "Das ist der letzte Inhaber. Machen Sie zuerst ein anderes Mitglied zum Inhaber.",
  "A password has at least {1} characters.": "Ein Passwort hat mindestens {1} Zeichen.",
  "Too many sign-ins at the moment. Try again.": "Im Moment gibt es zu viele Anmeldungen. Versuchen Sie es erneut.",
  "Too many attempts. Try again in {1}.": "Zu viele Versuche. Versuchen Sie es erneut in {1}.",
  "This link no longer works. Request a new one.": "Dieser Link gilt nicht mehr. Fordern Sie einen neuen an.",
  "The email or the password is wrong.": "Die E-Mail-Adresse oder das Passwort ist falsch.",
  "Too much time has passed. Sign in with your password again.":
    "Es ist zu viel Zeit vergangen. Melden Sie sich erneut mit Ihrem Passwort an.",
  "This code was already used. Wait for the next one.": "Dieser Code wurde schon verwendet. Warten Sie auf den nächsten.",
  "This link does not work. Use the newest one that the server printed to its console.":
    "Dieser Link gilt nicht. Verwenden Sie den neuesten, den der Server in seiner Konsole ausgegeben hat.",
  "An account with this email already exists. Use another one.":
    "Ein Konto mit dieser E-Mail-Adresse gibt es schon. Verwenden Sie eine andere.",
  "This installation already has an owner. Ask them for an invitation.":
    "Diese Installation hat schon einen Inhaber. Bitten Sie ihn um eine Einladung.",
  "This code is wrong. Codes change every 30 seconds.": "Dieser Code ist falsch. Codes wechseln alle 30 Sekunden.",
  "This backup code is wrong, or was already used.": "Dieser Ersatzcode ist falsch oder wurde schon verwendet.",
  "Too many wrong codes. Sign in with your password again.":
    "Zu viele falsche Codes. Melden Sie sich erneut mit Ihrem Passwort an.",
  "Too many wrong codes. Try again in 15 minutes.": "Zu viele falsche Codes. Versuchen Sie es in 15 Minuten erneut.",
  "{1} cannot be read: a row in the database is damaged. {2}":
    "{1} ist nicht lesbar: Eine Zeile der Datenbank ist beschädigt. {2}",
  // requests
  "The dashboard is served on this domain, so it cannot belong to a site.":
    "Auf dieser Domain läuft das Dashboard; sie kann deshalb zu keiner Website gehören.",
  "This relay does not know its own URL yet. Its operator has to set CLEANCAST_URL or add the domain for you.":
    "Dieses Relay kennt seine eigene URL noch nicht. Der Betreiber muss CLEANCAST_URL setzen oder die Domain für Sie hinzufügen.",
  "Too many live feeds are open. Close one of them.": "Es sind zu viele Live-Ansichten offen. Schließen Sie eine davon.",
  "Sign in first.": "Melden Sie sich zuerst an.",
  "Sign in first, or send an API key as a bearer token.":
    "Melden Sie sich zuerst an, oder senden Sie einen API-Schlüssel als Bearer-Token.",
  "API keys cannot do this: a person has to sign in.": "API-Schlüssel können das nicht: Ein Mensch muss sich anmelden.",
  "HTTPS required: passwords and keys must not be sent unencrypted.":
    "HTTPS ist nötig: Passwörter und Schlüssel dürfen nicht unverschlüsselt gesendet werden.",
  "{1} is not supported here.": "{1} wird hier nicht unterstützt.",
  "Send JSON, with Content-Type: application/json.": "Senden Sie JSON mit Content-Type: application/json.",
  "The body is larger than {1}.": "Der Inhalt ist größer als {1}.",
  "The body is incomplete.": "Der Inhalt ist unvollständig.",
  "The body is not UTF-8.": "Der Inhalt ist kein UTF-8.",
  "The body is not JSON.": "Der Inhalt ist kein JSON.",
  "Text must not contain a zero byte (U+0000).": "Text darf kein Null-Byte (U+0000) enthalten.",
  "This request came from another site.": "Diese Anfrage kam von einer anderen Website.",
  "Too many requests. Wait a moment.": "Zu viele Anfragen. Warten Sie einen Moment.",
  "Something went wrong on the server. The log has the details.":
    "Auf dem Server ist etwas schiefgegangen. Einzelheiten stehen im Log.",
  "Use the `next` of the previous page as the cursor.": "Verwenden Sie `next` der vorigen Seite als Cursor.",
  "The start is not a valid time.": "Der Anfang ist keine gültige Zeit.",
  "The end is not a valid time.": "Das Ende ist keine gültige Zeit.",
  "The start must be before the end.": "Der Anfang muss vor dem Ende liegen.",
  "The end must be after the start.": "Das Ende muss nach dem Anfang liegen.",
  "Choose one of event, source, campaign and platform, not several.":
    "Wählen Sie eins von Event, Quelle, Kampagne und Plattform, nicht mehrere.",
  "With steps of one {1}, choose at most {2} days.": "Wählen Sie bei dieser Auflösung ({1}) höchstens {2} Tage.",
  day: "Tag",
  hour: "Stunde",
  "Enter a user agent, an IP address, or both.": "Geben Sie einen User-Agent, eine IP-Adresse oder beides ein.",
  "This is not an IP address.": "Das ist keine IP-Adresse.",
  "Enter an email address or its SHA-256 hash (64 hex characters).":
    "Geben Sie eine E-Mail-Adresse oder ihren SHA-256-Hash ein (64 Hexadezimalzeichen).",
  // sites, hosts and keys
  "Other hosts of this site are being checked. Wait a moment.":
    "Andere Domains dieser Website werden gerade geprüft. Warten Sie einen Moment.",
  "confirm must be {1}: this deletes the site with all its data.":
    "Geben Sie {1} ein: Damit wird die Website mit allen Daten gelöscht.",
  "{1} is not a host name. Write it like shop.example.com.": "{1} ist kein Domainname. Schreiben Sie ihn wie shop.example.com.",
  "{1} belongs to a site already.": "{1} gehört schon zu einer Website.",
  "{1} is a name inside a network, and is not checked.": "{1} ist ein Name in einem internen Netz und wird nicht geprüft.",
  "{1} is a name inside a network. Write a public one, like shop.example.com.":
    "{1} ist ein Name in einem internen Netz. Schreiben Sie einen öffentlichen wie shop.example.com.",
  "A site can have {1} hosts; remove some first.": "Eine Website kann {1} Domains haben; entfernen Sie zuerst einige.",
  "{1} is the only host of its site: add another first, or pause it.":
    "{1} ist die einzige Domain der Website: Fügen Sie zuerst eine andere hinzu, oder pausieren Sie sie.",
  "The list of allowed people is full ({1}); remove some entries first.":
    "Die Liste der erlaubten Personen ist voll ({1}); entfernen Sie zuerst einige Einträge.",
  "A key needs a name of at most 100 characters.": "Ein Schlüssel braucht einen Namen mit höchstens 100 Zeichen.",
  "Key {1} {2}; add a new one instead.": "Schlüssel {1}: {2}. Fügen Sie stattdessen einen neuen hinzu.",
  "has expired": "abgelaufen",
  "was revoked": "widerrufen",
  "The hash must be the SHA-256 of the key: 64 hex characters.":
    "Der Hash muss der SHA-256 des Schlüssels sein: 64 Hexadezimalzeichen.",
  "The prefix is the first {1} characters of the key at most.":
    "Das Präfix sind höchstens die ersten {1} Zeichen des Schlüssels.",
  "This key was added already.": "Dieser Schlüssel wurde schon hinzugefügt.",
  "No alert recipient is configured. Save an email address or a webhook URL first.":
    "Es ist kein Empfänger gespeichert. Speichern Sie zuerst eine E-Mail-Adresse oder eine Webhook-URL.",
  "No alert recipient can be reached: {1}": "Kein Empfänger ist erreichbar: {1}",
  "Email alerts need a mail server; set CLEANCAST_SMTP_URL and CLEANCAST_MAIL_FROM.":
    "Warnungen per E-Mail brauchen einen Mailserver; setzen Sie CLEANCAST_SMTP_URL und CLEANCAST_MAIL_FROM.",
  "{1} has no effect yet: countries are looked up in a MaxMind file; set CLEANCAST_COUNTRY_FILE and restart.":
    "{1} wirkt noch nicht: Länder werden in einer MaxMind-Datei nachgeschlagen; setzen Sie CLEANCAST_COUNTRY_FILE und starten Sie neu.",
  // events and deliveries
  "Choose which deliveries: by connection, platform, state, event or period.":
    "Wählen Sie Zustellungen nach Verbindung, Plattform, Status, Ereignis oder Zeitraum.",
  "Queued deliveries are sent automatically; replay is for those that have ended or are parked.":
    "Zustellungen in der Warteschlange werden automatisch gesendet; erneut gesendet werden nur beendete und zurückgestellte.",
  "Only queued or parked deliveries can be cancelled.": "Nur wartende und zurückgestellte Zustellungen lassen sich stornieren.",
  "Event {1} is not filtered; there is nothing to release.": "Ereignis {1} ist nicht gefiltert; es gibt nichts freizugeben.",
  "The person of event {1} was erased; it cannot be delivered any more.":
    "Die Person von Ereignis {1} wurde gelöscht; es kann nicht mehr zugestellt werden.",
  "Event {1} was released by another user meanwhile.": "Ereignis {1} wurde inzwischen von jemand anderem freigegeben.",
  "Event {1} cannot be read: its row in the database is damaged.":
    "Ereignis {1} ist nicht lesbar: Seine Zeile in der Datenbank ist beschädigt.",
  "There is no event {1}.": "Es gibt kein Ereignis {1}.",
  "There is no event {1} in the site of this connection.": "Die Website dieser Verbindung hat kein Ereignis {1}.",
  "There is no {1} {2}.": "Nicht gefunden: {1} {2}.",
  "There is no connection {1} at this site.": "Diese Website hat keine Verbindung {1}.",
  "There is no platform {1}.": "Es gibt keine Plattform {1}.",
  "There is no platform {1}. Known: {2}.": "Es gibt keine Plattform {1}. Bekannt: {2}.",
  "perMinute must be a whole number from 1 to {1}.": "Pro Minute muss eine ganze Zahl von 1 bis {1} sein.",
  "days must be a whole number from 1 to {1}.": "Die Tage müssen eine ganze Zahl von 1 bis {1} sein.",
  "A backfill of connection {1} is running. Cancel it first.":
    "Für Verbindung {1} läuft ein Nachsenden. Brechen Sie es zuerst ab.",
  "No backfill of connection {1} is running.": "Für Verbindung {1} läuft kein Nachsenden.",
  // connections
  "{1} refuses the new credentials: {2}. The connection keeps its present ones.":
    "{1} lehnt die neuen Zugangsdaten ab: {2}. Die Verbindung behält ihre bisherigen.",
  "No access token: {1}.": "Kein Zugriffstoken: {1}.",
  "A sign-in belongs to the person who began it; an API key cannot use it.":
    "Eine Anmeldung gehört der Person, die sie begonnen hat; ein API-Schlüssel kann sie nicht verwenden.",
  "Choose at least one event, or null for all events.": "Wählen Sie mindestens ein Ereignis, oder null für alle Ereignisse.",
  "{1} has no sign-in. Platforms with one: {2}.": "{1} hat keine Anmeldung. Plattformen mit Anmeldung: {2}.",
  "No app is set for {1}.": "Für {1} ist keine App registriert.",
  "No OAuth app is set for {1}. An owner sets it in Settings, OAuth apps.":
    "Für {1} ist keine OAuth-App registriert. Ein Inhaber registriert sie unter Einstellungen, OAuth-Apps.",
  "The OAuth app for {1} cannot be read. An owner sets it in Settings, OAuth apps.":
    "Die OAuth-App für {1} ist nicht lesbar. Ein Inhaber registriert sie neu unter Einstellungen, OAuth-Apps.",
  "There is no sign-in {1} for {2} here. Begin one.": "Hier gibt es keine Anmeldung {1} für {2}. Beginnen Sie eine.",
  "The sign-in {1} failed: {2}": "Die Anmeldung {1} ist fehlgeschlagen: {2}",
  "The sign-in {1} is not finished yet.": "Die Anmeldung {1} ist noch nicht abgeschlossen.",
  "This link is no longer valid. Start the sign-in again.": "Dieser Link gilt nicht mehr. Beginnen Sie die Anmeldung erneut.",
  "{1} refused the sign-in: {2}": "{1} hat die Anmeldung abgelehnt: {2}",
  "the answer could not be used ({1})": "die Antwort war nicht verwendbar ({1})",
  "no token in the answer": "kein Token in der Antwort",
  "{1} is needed to ask {2} for {3}.": "{1} ist nötig, um {2} danach zu fragen: {3}.",
  "{1} could not be asked: {2}.": "{1} konnte nicht gefragt werden: {2}.",
  "{1} did not answer: {2}.": "{1} hat nicht geantwortet: {2}.",
  "{1} has no list for {2}; it has one for {3}.": "{1} hat keine Liste für {2}, aber eine für {3}.",
  "{1} has no lists to choose from.": "{1} hat keine Listen zur Auswahl.",
  "The event selection of this connection cannot be read: select the events again, or all of them.":
    "Die Auswahl der Ereignisse dieser Verbindung ist nicht lesbar: Wählen Sie die Ereignisse erneut, oder alle.",
  "The same account was just connected by another request. Reload and try again.":
    "Dasselbe Konto wurde gerade durch eine andere Anfrage verbunden. Laden Sie neu, und versuchen Sie es erneut.",
  "This connection cannot be read: enter all its settings again, for the same account, or add a new connection.":
    "Diese Verbindung ist nicht lesbar: Geben Sie alle Einstellungen für dasselbe Konto erneut ein, oder fügen Sie eine neue Verbindung hinzu.",
  "{1} identifies the account: add a new connection instead.":
    "{1} bestimmt das Konto: Fügen Sie stattdessen eine neue Verbindung hinzu.",
  "Connection {1} cannot be read: its row in the database is damaged. Connect it again.":
    "Verbindung {1} ist nicht lesbar: Ihre Zeile in der Datenbank ist beschädigt. Verbinden Sie sie erneut.",
  "{1} is required: {2}": "{1} ist erforderlich: {2}",
  "{1} needs {2}, or {3}.": "{1} braucht {2} oder {3}.",
  "{1} needs {2}.": "{1} braucht {2}.",
  "{1} is not a setting of {2}. Known: {3}.": "{1} ist keine Einstellung von {2}. Bekannt: {3}.",
  "{1} is not a setting of a site.": "{1} ist keine Einstellung einer Website.",
  // webhooks
  "url must be an address like https://example.com/hook.": "Die URL muss wie https://example.com/hook aussehen.",
  "url is longer than {1} characters.": "Die URL ist länger als {1} Zeichen.",
  "url {1}.": "Die URL {1}.",
  "alert_webhook {1}.": "Die URL {1}.",
  "Webhook {1} sends to this address already; rotate its secret instead.":
    "Webhook {1} sendet schon an diese Adresse; erneuern Sie stattdessen sein Geheimnis.",
  "Webhook {1} cannot be read: its row in the database is damaged. An operator can repair it with the command line; or delete it, with the periods that wait, and add it again.":
    "Webhook {1} ist nicht lesbar: Seine Zeile in der Datenbank ist beschädigt. Ein Betreiber kann ihn mit der Kommandozeile reparieren; oder löschen Sie ihn samt den wartenden Abschnitten, und fügen Sie ihn neu hinzu.",
  "Webhook {1} can be read; there is nothing to repair.": "Webhook {1} ist lesbar; es gibt nichts zu reparieren.",
  "Webhook {1} is disabled already.": "Webhook {1} ist schon deaktiviert.",
  "Webhook {1} is active already.": "Webhook {1} ist schon aktiv.",
  "No closed period of webhook {1} overlaps that time range.":
    "Kein abgeschlossener Abschnitt von Webhook {1} liegt in diesem Zeitraum.",
  "Webhook {1} was removed meanwhile.": "Webhook {1} wurde inzwischen entfernt.",
  "Choose at least one scope.": "Wählen Sie mindestens eine Berechtigung.",
  "{1} Send yes: true to do it.": "{1} Senden Sie yes: true, um es zu tun.",
  "This API key needs the scope {1}.": "Dieser API-Schlüssel braucht die Berechtigung {1}.",
  "This needs an API key for all sites.": "Das braucht einen API-Schlüssel für alle Websites.",
  "{1} does not sign its requests.": "{1} signiert seine Anfragen nicht.",
  "{1} is already a member.": "{1} ist schon Mitglied.",
};
