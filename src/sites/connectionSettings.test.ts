import { expect, test } from "vitest";
import { platformOf } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import { checkValues } from "./connectionSettings.ts";

test.each([
  ["google_ads", "map.conversionValue"],
  ["linkedin", "map.conversionValue.amount"],
  ["segment", "map.properties.revenue"],
])("at %s a value rule and %s are refused together, because one would undo the other", (id, mapped) => {
  const platform = platformOf(id) as Platform;
  expect(() => checkValues(platform, { [mapped]: "extra.margin", "value.purchase": "20%" })).toThrow(
    expect.objectContaining({ field: mapped, message: expect.stringContaining("both set the value") }),
  );
  expect(() => checkValues(platform, { [mapped]: "extra.margin", "event.purchase": "x" })).not.toThrow();
  expect(() => checkValues(platform, { "value.purchase": "20%" })).not.toThrow();
});
