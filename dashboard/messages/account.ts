// The user's own account.

import { section } from "./catalogue.ts";
import { plural } from "./plural.ts";

export const accountText = section("account", {
  title: "Account",
  signedInAs: (email: string) => `Signed in as ${email}.`,
  name: {
    title: "Name",
    about: "Shown in the list of members.",
    label: "Your name",
    changed: "Name changed.",
  },
  password: {
    title: "Password",
    about: "Changing your password signs you out everywhere else.",
    current: "Current password",
    showCurrent: "Show or hide the current password",
    new: "New password",
    submit: "Change password",
    changed: "Password changed. All your other sessions have ended.",
  },
  sessions: {
    title: "Sessions",
    about:
      "Browsers in which you are signed in. End sessions that you do not recognise, and change your password.",
    browser: "Browser",
    isThis: "this one",
    address: "IP address",
    lastSeen: "Last seen",
    signedIn: "Signed in",
    signOut: "Sign out",
    signOutOf: (browser: string) => `Sign out ${browser}`,
    ended: "Session ended.",
    othersEnded: "You are signed out everywhere else.",
    endOthers: "Sign out everywhere else",
    endOthersQuestion: "Sign out everywhere else?",
    endOthersConsequence: (count: number) =>
      plural(count, {
        one: "# other session ends immediately. This one stays.",
        other: "# other sessions end immediately. This one stays.",
      }),
    none: "No sessions",
    unknownBrowser: "Unknown browser",
    browserOn: (browser: string, system: string) => `${browser} on ${system}`,
  },
  twoFactor: {
    title: "Two-factor sign-in",
    about: "Requires a code from an authenticator app in addition to your password.",
    isOff: "Two-factor sign-in is off.",
    isOn: "Two-factor sign-in is on.",
    turnOff: "Turn off",
    turnOn: "Turn on",
    setUp: "Set up",
    turnOffTitle: "Turn off two-factor sign-in",
    setUpTitle: "Set up two-factor sign-in",
    turnOffAbout: "After that, your password alone is enough to sign in. The backup codes stop working.",
    passwordFirst: "First enter your password.",
    continue: "Continue",
    addApp: "1. Add Cleancast to your authenticator app",
    scan: "Scan the QR code with the app, or enter this secret manually:",
    qrCode: "QR code for the authenticator app",
    copySecret: "Copy secret",
    saveCodes: "2. Save the backup codes",
    aboutCodes: "Each works once, for when you do not have your phone. They are shown only now.",
    backupCodes: "backup codes",
    enterCode: "3. Enter the code that the app shows",
    code: "Code",
  },
});
