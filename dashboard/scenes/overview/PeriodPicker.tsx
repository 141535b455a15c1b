// Chooses the period of the overview.

import { PeriodSelect } from "../../common/lists/PeriodSelect.tsx";
import { overviewText } from "../../messages/overview.ts";
import { defaultPeriod, periodNames, type ChosenPeriod } from "./periods.ts";

export function PeriodPicker({ chosen, timeZone }: { chosen: ChosenPeriod; timeZone: string | undefined }) {
  return (
    <PeriodSelect
      label={overviewText.range}
      names={periodNames.map((value) => ({ value, label: overviewText.periods[value] }))}
      byDefault={defaultPeriod}
      chosen={typeof chosen === "string" ? chosen : defaultPeriod}
      days={typeof chosen === "string" ? null : chosen}
      timeZone={timeZone}
    />
  );
}
