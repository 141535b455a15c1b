// Texts name commands as `cleancast …`. A package that is not installed globally is run with npx, so a hint is printed with it
// where npm has started this process: people paste it as it stands.

import { isRunByNpm } from "../../installation/config.ts";

const command = /(?<!npx |[\w./@-])cleancast (?=[a-z])/g;

export function asInvoked(text: string): string {
  return isRunByNpm() ? text.replaceAll(command, "npx cleancast ") : text;
}
