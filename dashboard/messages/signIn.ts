// Set-up, sign-in, invitations and passwords.

import { section } from "./catalogue/catalogue.ts";
import { plural } from "./catalogue/plural.ts";

export const signInText = section("signIn", {
  signIn: "Sign in",
  signInWith: (provider: string) => `Sign in with ${provider}`,
  backToSignIn: "Back to sign-in",
  yourName: "Your name",
  newPassword: {
    label: "New password",
    about: "At least 12 characters. A few random words are easy to remember and hard to guess.",
  },
  code: {
    title: "Enter your code",
    aboutApp: "Enter the code that your authenticator app shows for Cleancast.",
    aboutBackup: "Enter one of your backup codes. Each works once.",
    anotherAccount: "Use another account",
    backupCode: "Backup code",
    code: "Code",
    useApp: "Use the authenticator app",
    useBackup: "Use a backup code",
  },
  forgotten: {
    link: "Forgot password?",
    title: "Set a new password",
    about: "You will receive a link by email.",
    send: "Send link",
    sentTitle: "Check your email",
    sent: (email: string) => `If ${email} has an account here, a password reset link has been sent. It is valid for one hour.`,
    noMailTitle: "Email is not configured",
    noMail: "This installation has no mail server. Ask an owner for a link (Settings, Members), or create one on the server:",
    command: "command",
  },
  reset: {
    about: "You will be signed out everywhere else.",
    noToken: "Open the link that you were sent. It works once.",
    anotherLink: "Request another link",
    submit: "Set password",
    doneTitle: "Your new password is set",
    done: "You were signed out everywhere. Sign in with the new password.",
  },
  setUp: {
    title: "Set up Cleancast",
    hasOwner: "This installation already has an owner.",
    noToken:
      "Open the setup link that the console printed when Cleancast started. It works once; a new one is printed at each start until there is an owner.",
    about: "Create the owner account of this installation. You can invite others afterwards.",
    hasAccount: "I already have an account",
    submit: "Create owner",
    neededTitle: "Not set up yet",
    needed: "This installation has no owner yet. Open the setup link that the console printed when Cleancast started.",
  },
  invitation: {
    title: "You are invited",
    noToken: "Open the invitation link that you were sent.",
    unusableTitle: "This invitation cannot be used",
    unusable: "Ask the person who invited you for a new link. Each link works once, for seven days.",
    about: (invitedBy: string, place: string, role: string) => `${invitedBy} invites you to ${place} as ${role}.`,
    allSites: "all sites of this installation",
    roles: { viewer: "viewer", admin: "admin", owner: "owner" },
    yourPassword: "Your password",
    known: "You already have an account here.",
    accept: "Accept",
  },
  tooMany: {
    title: "Too many attempts",
    retry: (minutes: number) =>
      minutes < 60
        ? plural(minutes, { one: "Try again in a minute.", other: "Try again in # minutes." })
        : "Try again in about an hour.",
  },
});
