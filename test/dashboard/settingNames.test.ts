import { expect, test } from "vitest";
import { settingGroups, settingNames } from "../../dashboard/common/settings/settingNames.ts";
import { settingLabels } from "../../src/sites/settings.ts";

test("the dashboard has a label for every setting of a site, and for no other", () => {
  const labels = settingLabels.map(({ label }) => label);
  expect(Object.keys(settingNames).toSorted()).toEqual(labels.toSorted());
  const grouped = settingGroups.flatMap((group) => Object.keys(group.labels));
  // Inbound has a switch of its own.
  expect(["inbound", ...grouped].toSorted()).toEqual(labels.toSorted());
});
