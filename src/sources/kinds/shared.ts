// Settings that several kinds have.

import type { KindSetting } from "../kind.ts";

export const eventSetting = (value: string): KindSetting => ({
  name: "event",
  label: "Event",
  help: "The name under which conversions of this source go out.",
  default: value,
});

export const secretSetting = (help: string, rest: Partial<KindSetting> = {}): KindSetting => ({
  name: "signing_secret",
  label: "Signing secret",
  help,
  secret: true,
  required: true,
  ...rest,
});

/** The key of the sender's API, for look-ups. */
export const keySetting = (help: string): KindSetting => ({ name: "api_key", label: "API key", help, secret: true });

export const currencySetting = (help: string): KindSetting => ({
  name: "currency",
  label: "Currency",
  help: `${help} The three letters, such as EUR.`,
  currency: true,
});

export const fixedValueSettings: readonly KindSetting[] = [
  {
    name: "value",
    label: "Value",
    help: "What one such conversion is worth to you, such as 25. Requests of this sender carry no amount.",
  },
  currencySetting("The currency of the value."),
];

/** Renewals are sales of customers whom an ad won long ago: most people do not want them counted. */
export const renewalSetting: KindSetting = {
  name: "renewals",
  label: "Renewals",
  help: "`ignore`, or `count`: each renewal of a subscription is a conversion too.",
  default: "ignore",
  choices: ["ignore", "count"],
};

/** User name and password of Basic authentication. */
export const basicSettings: readonly KindSetting[] = [
  { name: "user", label: "User name", help: "The user name that you enter at the sender. Choose any.", required: true },
  {
    name: "password",
    label: "Password",
    help: "The password that you enter at the sender.",
    required: true,
    secret: true,
    generated: true,
  },
];
