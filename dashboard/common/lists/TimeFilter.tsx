// The period of a list. The URL holds it as `range`, or as `from` and `to` in milliseconds.

import { useMemo } from "react";
import { useSite } from "../api/session.ts";
import { isRange, rangeNames, rangeOf } from "../format/ranges.ts";
import { PeriodSelect } from "./PeriodSelect.tsx";
import { useQueryParams } from "./queryParams.ts";
import { commonText } from "../../messages/common.ts";

/** Reads the period from the URL, as a query. */
export function usePeriod(): { from?: number; to?: number } {
  const { search, time } = useQueryParams();
  const from = time("from");
  const to = time("to");
  const range = isRange(search["range"]) ? search["range"] : null;
  // The start is computed once per range, so that the list does not move while it is read.
  const timeZone = useSite()?.timeZone;
  const since = useMemo(() => (range ? rangeOf(range, timeZone).from : undefined), [range, timeZone]);
  if (range) return { from: since as number };
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

export function TimeFilter() {
  const { search, time } = useQueryParams();
  const from = time("from");
  const to = time("to");
  const range = isRange(search["range"]) ? search["range"] : null;
  return (
    <PeriodSelect
      label={commonText.timeFilter.label}
      names={[
        { value: "any", label: commonText.timeFilter.any },
        ...rangeNames.map((value) => ({ value, label: commonText.lastRange[value] })),
      ]}
      byDefault="any"
      chosen={range ?? "any"}
      days={!range && (from !== undefined || to !== undefined) ? { from, to } : null}
      timeZone={useSite()?.timeZone}
    />
  );
}
