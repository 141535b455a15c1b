// The English sections of the message catalogue.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Messages } from "../../dashboard/messages/catalogue/catalogue.ts";
import { dashboard } from "./sourceTexts.ts";

/** Files of the folder that are no section. */
const machinery = new Set(["catalogue.ts", "language.ts", "plural.ts", "server.ts"]);

export const sectionNames = readdirSync(join(dashboard, "messages"))
  .filter((file) => file.endsWith(".ts") && !machinery.has(file))
  .map((file) => file.slice(0, -3));

export const english: Readonly<Record<string, Messages>> = Object.fromEntries(
  await Promise.all(
    sectionNames.map(async (name) => {
      const exported = (await import(`../../dashboard/messages/${name}.ts`)) as Record<string, Messages>;
      return [name, exported[`${name}Text`] ?? {}] as const;
    }),
  ),
);

/** Lists the paths of all messages of a section; a line of the path is a key. */
export const keysOf = (messages: Messages, before = ""): string[] =>
  Object.entries(messages).flatMap(([key, value]) =>
    typeof value === "object" ? keysOf(value, `${before}${key}\n`) : [`${before}${key}`],
  );

export const messageAt = (messages: Messages, path: string): unknown =>
  path.split("\n").reduce<unknown>((at, key) => (at as Messages)[key], messages);
