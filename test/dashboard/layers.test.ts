// Every dialog, drawer, menu and list of choices of the dashboard is opened by a test that checks its accessibility.

import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const layers =
  /<(Modal(\.Root)?|Drawer|Menu|Popover|HoverCard|Tooltip|Combobox|SidePanel|FormPopover|Actions|ConfirmButton|ConfirmDialog|FormButton|FormModal|OneTimeSecret|OneTimeLink)[\s>]/g;
/** These define what others open. */
const shared = ["Actions.tsx", "FormDialog.tsx", "SidePanel.tsx", "dialogs.tsx", "lists/FormPopover.tsx"].map(
  (file) => `common/${file}`,
);

test("a test opens and checks every layer over a page", () => {
  const tests = globSync("test/dashboard/*.test.ts")
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const missing = globSync("**/*.tsx", { cwd: "dashboard" })
    .filter((file) => !shared.includes(file))
    .flatMap((file) => {
      const opened = readFileSync(`dashboard/${file}`, "utf8").match(layers)?.length ?? 0;
      const checked = tests.split(`"${file}"`).length - 1;
      return checked < opened ? [`${file}: ${opened} layers, ${checked} checked with checkLayer`] : [];
    });
  expect(missing).toEqual([]);
});
