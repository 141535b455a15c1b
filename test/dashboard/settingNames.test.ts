import { expect, test } from "vitest";
import { settingGroups } from "../../dashboard/common/settings/settingNames.ts";
import { siteSettingsText } from "../../dashboard/messages/siteSettings.ts";
import { settingLabels } from "../../src/sites/settings.ts";

test("the dashboard has a label for every setting of a site, and for no other", () => {
  const labels = settingLabels.map(({ label }) => label);
  expect(Object.keys(siteSettingsText.names).toSorted()).toEqual(labels.toSorted());
  const grouped = settingGroups.flatMap((group): readonly string[] => group.names);
  // Inbound has a switch of its own.
  expect(["inbound", ...grouped].toSorted()).toEqual(labels.toSorted());
});
