// Bar charts: over time, drawn on a canvas with the same figures as a table for screen readers, and by share.

import { Box, Group, Text, VisuallyHidden, useComputedColorScheme, useMantineTheme } from "@mantine/core";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { countText, shortCount } from "./format/numbers.ts";
import { dayText, hourText, timeText } from "./format/times.ts";
import { commonText } from "../messages/common.ts";

export type Series = {
  name: string;
  values: readonly number[];
  colour: string;
  text?: (value: number) => string;
};

/** The steps of the axis: counts are whole numbers. */
const wholeSteps = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat();

// uPlot's code for "values are colours".
const colourUnit = 3;
/** Appended to a six-digit colour, makes it paler. */
const unfinishedAlpha = "8c";

/** Measures the width before the first paint, and at every change. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const node = ref.current;
    if (!node) return undefined;
    const measure = () => setWidth(node.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

export function TimeChart({
  label,
  times,
  step,
  timeZone,
  series,
  height,
  onPick,
}: {
  /** Names the chart for screen readers. */
  label: string;
  /** The start of each step, milliseconds. */
  times: readonly number[];
  step: "hour" | "day";
  timeZone: string;
  series: readonly Series[];
  height: number;
  /** A click on a step opens its rows. */
  onPick?: (startsAt: number) => void;
}) {
  const { ref, width } = useWidth();
  const drawn = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  const theme = useMantineTheme();
  const timeLabel = (ms: number) => (step === "day" ? dayText(ms, timeZone) : timeText(ms, timeZone));
  // Hours of one day need no date.
  const isOneDay = step === "hour" && times.length <= 25;
  const axisLabel = (ms: number) => (isOneDay ? hourText(ms, timeZone) : timeLabel(ms));
  const textOf = (one: Series, value: number) => one.text?.(value) ?? countText(value);

  useEffect(() => {
    if (!drawn.current || width === 0 || times.length === 0) return undefined;
    const grid = scheme === "dark" ? "#2e343c" : "#e9ecef";
    const ink = scheme === "dark" ? "#949ca6" : "#636c76";
    const axis = {
      stroke: ink,
      font: `12px ${theme.fontFamily}`,
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
    };
    // Stacked bars: the first is drawn as high as the sum, the others in front of it.
    const stacked = series.map(({ values }, k) =>
      values.map((_, i) => series.slice(k).reduce((sum, one) => sum + (one.values[i] ?? 0), 0)),
    );
    // The last step is not over yet: its bar is paler.
    const fillOf = ({ colour }: Series) => ({
      unit: colourUnit,
      values: () => times.map((_, i) => (i === times.length - 1 ? `${colour}${unfinishedAlpha}` : colour)),
    });
    const plot = new uPlot(
      {
        width,
        height,
        legend: { show: true, live: true },
        cursor: { y: false, points: { size: 6 } },
        // The legend shows the values of the step under the pointer.
        hooks: {
          setCursor: [({ root, cursor }) => void root.toggleAttribute("data-pointing", cursor.idx != null)],
        },
        scales: {
          // Adds half a step at both ends: each bar is centred on its step.
          x: { time: false, range: (_plot, low, high) => [low - 0.5, high + 0.5] },
          y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 28,
            gap: 8,
            space: 64,
            values: (_plot, splits) =>
              splits.map((i) => (Number.isInteger(i) && times[i] !== undefined ? axisLabel(times[i]) : "")),
          },
          {
            ...axis,
            size: 56,
            incrs: wholeSteps,
            values: (_plot, splits) => splits.map((value) => shortCount(value)),
          },
        ],
        series: [
          {
            label: step === "day" ? commonText.time.day : commonText.time.hour,
            value: (_plot, i) => (i === null || times[i] === undefined ? "–" : timeLabel(times[i])),
          },
          ...(series.map((one) => ({
            label: one.name,
            stroke: one.colour,
            width: 0,
            fill: one.colour,
            points: { show: false },
            paths: uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15, disp: { fill: fillOf(one) } }),
            value: (_plot: uPlot, _drawn: number | null, _series: number, i: number | null) =>
              i === null ? "–" : textOf(one, one.values[i] ?? 0),
          })) as uPlot.Series[]),
        ],
      },
      [times.map((_, i) => i), ...stacked] as uPlot.AlignedData,
      drawn.current,
    );
    const pick = () => {
      const i = plot.cursor.idx;
      if (onPick && i !== null && i !== undefined && times[i] !== undefined) onPick(times[i]);
    };
    plot.over.addEventListener("click", pick);
    if (onPick) plot.over.style.cursor = "pointer";
    return () => plot.destroy();
  });

  return (
    <Box ref={ref} style={{ minHeight: height, minWidth: 0, overflow: "hidden" }}>
      <div ref={drawn} aria-hidden />
      <VisuallyHidden>
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">{step === "day" ? commonText.time.day : commonText.time.hour}</th>
              {series.map((one) => (
                <th key={one.name} scope="col">
                  {one.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((ms, i) => (
              <tr key={ms}>
                <th scope="row">{timeLabel(ms)}</th>
                {series.map((one) => (
                  <td key={one.name}>{textOf(one, one.values[i] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </Box>
  );
}

/** Shows shares as bars, in the given order. A click opens the rows of a share. */
export function BarList({
  label,
  items,
  onPick,
}: {
  label: string;
  items: readonly { name: string; value: number; text: string; key?: string }[];
  onPick: (key: string) => void;
}) {
  const max = Math.max(1, ...items.map(({ value }) => value));
  return (
    <Box component="ul" aria-label={label} m={0} p={0} style={{ listStyle: "none" }}>
      {items.map(({ name, value, text, key = name }) => {
        const line = (
          <Box pos="relative" px={8} py={6} w="100%">
            <Box
              aria-hidden
              pos="absolute"
              style={{
                inset: "2px auto 2px 0",
                width: `${(value / max) * 100}%`,
                borderRadius: 4,
                background: "light-dark(var(--mantine-color-accent-0), var(--mantine-color-dark-5))",
              }}
            />
            <Group justify="space-between" wrap="nowrap" pos="relative" gap="md">
              <Text size="sm" truncate>
                {name}
              </Text>
              <Text size="sm" className="cc-number" fw={500} style={{ whiteSpace: "nowrap" }}>
                {text}
              </Text>
            </Group>
          </Box>
        );
        return (
          <li key={key}>
            <button
              type="button"
              onClick={() => onPick(key)}
              style={{ all: "unset", display: "block", width: "100%", cursor: "pointer" }}
              className="cc-bar"
            >
              {line}
            </button>
          </li>
        );
      })}
    </Box>
  );
}
