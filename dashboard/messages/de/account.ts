import type { accountText } from "../account.ts";
import type { Translation } from "../catalogue.ts";
import { plural } from "../plural.ts";

export const account: Translation<typeof accountText> = {
  title: "Konto",
  signedInAs: (email) => `Angemeldet als ${email}.`,
  name: {
    title: "Name",
    about: "Wird in der Liste der Mitglieder angezeigt.",
    label: "Ihr Name",
    changed: "Name geändert.",
  },
  password: {
    title: "Passwort",
    about: "Wenn Sie Ihr Passwort ändern, werden Sie überall sonst abgemeldet.",
    current: "Aktuelles Passwort",
    showCurrent: "Aktuelles Passwort ein- oder ausblenden",
    new: "Neues Passwort",
    submit: "Passwort ändern",
    changed: "Passwort geändert. Alle Ihre anderen Sitzungen sind beendet.",
  },
  sessions: {
    title: "Sitzungen",
    about:
      "Browser, in denen Sie angemeldet sind. Beenden Sie Sitzungen, die Sie nicht erkennen, und ändern Sie Ihr Passwort.",
    browser: "Browser",
    isThis: "dieser",
    address: "IP-Adresse",
    lastSeen: "Zuletzt gesehen",
    signedIn: "Angemeldet",
    signOut: "Abmelden",
    signOutOf: (browser) => `${browser} abmelden`,
    ended: "Sitzung beendet.",
    othersEnded: "Sie sind überall sonst abgemeldet.",
    endOthers: "Überall sonst abmelden",
    endOthersQuestion: "Überall sonst abmelden?",
    endOthersConsequence: (count) =>
      plural(count, {
        one: "# andere Sitzung endet sofort. Diese bleibt bestehen.",
        other: "# andere Sitzungen enden sofort. Diese bleibt bestehen.",
      }),
    none: "Keine Sitzungen",
    unknownBrowser: "Unbekannter Browser",
    browserOn: (browser, system) => `${browser} auf ${system}`,
  },
  twoFactor: {
    title: "Zwei-Faktor-Anmeldung",
    about: "Verlangt zusätzlich zum Passwort einen Code aus einer Authenticator-App.",
    isOff: "Die Zwei-Faktor-Anmeldung ist aus.",
    isOn: "Die Zwei-Faktor-Anmeldung ist an.",
    turnOff: "Ausschalten",
    turnOn: "Einschalten",
    setUp: "Einrichten",
    turnOffTitle: "Zwei-Faktor-Anmeldung ausschalten",
    setUpTitle: "Zwei-Faktor-Anmeldung einrichten",
    turnOffAbout: "Danach genügt Ihr Passwort zur Anmeldung. Die Ersatzcodes gelten nicht mehr.",
    passwordFirst: "Geben Sie zuerst Ihr Passwort ein.",
    continue: "Weiter",
    addApp: "1. Cleancast zur Authenticator-App hinzufügen",
    scan: "Scannen Sie den QR-Code mit der App oder geben Sie dieses Geheimnis von Hand ein:",
    qrCode: "QR-Code für die Authenticator-App",
    copySecret: "Geheimnis kopieren",
    saveCodes: "2. Ersatzcodes aufbewahren",
    aboutCodes:
      "Jeder gilt einmal, falls Sie Ihr Telefon nicht zur Hand haben. Sie werden nur jetzt angezeigt.",
    backupCodes: "Ersatzcodes",
    enterCode: "3. Den Code eingeben, den die App anzeigt",
    code: "Code",
  },
};
