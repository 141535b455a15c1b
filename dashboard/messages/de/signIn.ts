import type { ServerTexts } from "../server.ts";
import type { Translation } from "../catalogue/catalogue.ts";
import { plural } from "../catalogue/plural.ts";
import type { signInText } from "../signIn.ts";

const signIn: Translation<typeof signInText> = {
  signIn: "Anmelden",
  signInWith: (provider) => `Mit ${provider} anmelden`,
  backToSignIn: "Zurück zur Anmeldung",
  yourName: "Ihr Name",
  newPassword: {
    label: "Neues Passwort",
    about: "Mindestens 12 Zeichen. Ein paar zufällige Wörter sind leicht zu merken und schwer zu erraten.",
  },
  code: {
    title: "Code eingeben",
    aboutApp: "Geben Sie den Code ein, den Ihre Authenticator-App für Cleancast anzeigt.",
    aboutBackup: "Geben Sie einen Ihrer Ersatzcodes ein. Jeder gilt einmal.",
    anotherAccount: "Anderes Konto verwenden",
    backupCode: "Ersatzcode",
    code: "Code",
    useApp: "Authenticator-App verwenden",
    useBackup: "Ersatzcode verwenden",
  },
  forgotten: {
    link: "Passwort vergessen?",
    title: "Neues Passwort festlegen",
    about: "Sie erhalten einen Link per E-Mail.",
    send: "Link senden",
    sentTitle: "Sehen Sie in Ihr Postfach",
    sent: (email) => `Falls ${email} hier ein Konto hat, wurde ein Link zum Zurücksetzen gesendet. Er gilt eine Stunde.`,
    noMailTitle: "E-Mail ist nicht eingerichtet",
    noMail:
      "Diese Installation hat keinen Mailserver. Bitten Sie einen Inhaber um einen Link (Einstellungen, Mitglieder) oder erstellen Sie einen auf dem Server:",
    command: "Befehl",
  },
  reset: {
    about: "Sie werden überall sonst abgemeldet.",
    noToken: "Öffnen Sie den Link, den Sie erhalten haben. Er gilt einmal.",
    anotherLink: "Neuen Link anfordern",
    submit: "Passwort festlegen",
    doneTitle: "Ihr neues Passwort ist festgelegt",
    done: "Sie wurden überall abgemeldet. Melden Sie sich mit dem neuen Passwort an.",
  },
  setUp: {
    title: "Cleancast einrichten",
    hasOwner: "Diese Installation hat bereits einen Inhaber.",
    noToken:
      "Öffnen Sie den Einrichtungslink, den die Konsole beim Start von Cleancast ausgegeben hat. Er gilt einmal; bei jedem Start wird ein neuer ausgegeben, bis es einen Inhaber gibt.",
    about: "Erstellen Sie das Inhaberkonto dieser Installation. Danach können Sie andere einladen.",
    hasAccount: "Ich habe bereits ein Konto",
    submit: "Inhaber erstellen",
    neededTitle: "Noch nicht eingerichtet",
    needed:
      "Diese Installation hat noch keinen Inhaber. Öffnen Sie den Einrichtungslink, den die Konsole beim Start von Cleancast ausgegeben hat.",
  },
  invitation: {
    title: "Sie sind eingeladen",
    noToken: "Öffnen Sie den Einladungslink, den Sie erhalten haben.",
    unusableTitle: "Diese Einladung ist ungültig",
    unusable: "Bitten Sie die Person, die Sie eingeladen hat, um einen neuen Link. Jeder Link gilt einmal, sieben Tage lang.",
    about: (invitedBy, place, role) => `${invitedBy} lädt Sie als ${role} ein: ${place}.`,
    allSites: "alle Websites dieser Installation",
    roles: { viewer: "Betrachter", admin: "Admin", owner: "Inhaber" },
    yourPassword: "Ihr Passwort",
    known: "Sie haben hier bereits ein Konto.",
    accept: "Annehmen",
  },
  tooMany: {
    title: "Zu viele Versuche",
    retry: (minutes) =>
      minutes < 60
        ? plural(minutes, {
            one: "Versuchen Sie es in einer Minute erneut.",
            other: "Versuchen Sie es in # Minuten erneut.",
          })
        : "Versuchen Sie es in etwa einer Stunde erneut.",
  },
};

/** A part of its own, for the pages before sign-in. */
export const translation = { signIn };

export const serverTexts: ServerTexts = { messages: {}, words: {} };
