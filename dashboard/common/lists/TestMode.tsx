// Live or test data: one switch on the pages that show events. The URL holds it as `mode`, and the router keeps it from page to page.

import { Alert, Button, Switch } from "@mantine/core";
import { FlaskConical } from "lucide-react";
import type { Mode } from "../../../src/kernel/event.ts";
import { searchOfMode, useQueryParams } from "./queryParams.ts";
import { commonText } from "../../messages/common.ts";

/** Returns the chosen mode; whatever is not test is live. */
export const useMode = (): Mode => (useQueryParams().text("mode") === "test" ? "test" : "live");

const useSwitch = () => {
  const { change } = useQueryParams();
  const isTest = useMode() === "test";
  return { isTest, toggle: () => change(searchOfMode(isTest ? "live" : "test")) };
};

export function TestSwitch() {
  const { isTest, toggle } = useSwitch();
  return <Switch label={commonText.testData.label} checked={isTest} onChange={toggle} style={{ alignSelf: "center" }} />;
}

/** Says on every page of test data what it is. */
export function TestNotice() {
  if (useMode() !== "test") return null;
  return (
    <Alert
      role="status"
      variant="light"
      color="yellow"
      icon={<FlaskConical size={18} aria-hidden />}
      title={commonText.testData.label}
    >
      {commonText.testData.about}
    </Alert>
  );
}

/** In an empty list: what was looked for may be in the other mode. */
export function OtherMode() {
  const { isTest, toggle } = useSwitch();
  return (
    <Button variant="subtle" onClick={toggle}>
      {isTest ? commonText.testData.showLive : commonText.testData.showTest}
    </Button>
  );
}
