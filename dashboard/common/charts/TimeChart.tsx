// Stacked bars over time, with a tooltip for the mouse, touch and arrow keys, and the same figures as a table for screen
// readers. A slider has the semantics of walking along the bars: its value text is read at every step.

import { Box, Group, Paper, Text, VisuallyHidden } from "@mantine/core";
import { useLayoutEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { countText, shortCount } from "../format/numbers.ts";
import { dayText, hourText, timeText } from "../format/times.ts";
import { commonText } from "../../messages/common.ts";
import { labelEvery, ticksFor } from "./scale.ts";

type Series = {
  name: string;
  values: readonly number[];
  tone: "accent" | "quiet";
  text?: (value: number) => string;
};

/** The earlier period: the sums of the steps with which those of the chart are compared. */
export type Earlier = { name: string; times: readonly number[]; values: readonly number[] };

type Props = {
  /** Names the chart for screen readers. */
  label: string;
  /** The start of each step, milliseconds. */
  times: readonly number[];
  step: "hour" | "day";
  timeZone: string;
  /** The first one is on top. */
  series: readonly Series[];
  /** Drawn as a pale line over the bars; without it, or without anything in it, there is none. */
  earlier?: Earlier;
  /** A moment that divides the chart, such as the one at which the site was added. */
  mark?: { name: string; at: number } | undefined;
  height: number;
  /** The last step is not over yet. */
  isRunning: boolean;
  /** Labels of the axis; counts if it is left out. */
  axisText?: (value: number) => string;
  /** A click on a step opens its rows. */
  onPick?: (startsAt: number) => void;
};

const top = 8;
const bottom = 24;
const labelWidth = 72;
const maxBarWidth = 40;
const minBarHeight = 3;
const digitWidth = 7;

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

/** The step that the pointer or the keyboard is at; null for none. */
function useActiveStep(count: number, stepAt: (x: number) => number, onPick?: (index: number) => void) {
  const [active, setActive] = useState<number | null>(null);
  // A first tap shows the tooltip, and a second one on the same bar opens its rows.
  const tap = useRef({ isTouch: false, wasActive: false });
  const indexOf = (event: PointerEvent<HTMLElement>) => {
    const { left } = event.currentTarget.getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, stepAt(event.clientX - left)));
  };
  const keys: Record<string, (index: number) => number> = {
    ArrowLeft: (index) => index - 1,
    ArrowDown: (index) => index - 1,
    ArrowRight: (index) => index + 1,
    ArrowUp: (index) => index + 1,
    PageUp: (index) => index + 7,
    PageDown: (index) => index - 7,
    Home: () => 0,
    End: () => count - 1,
  };
  const handlers = {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      const index = indexOf(event);
      tap.current = { isTouch: event.pointerType === "touch", wasActive: active === index };
      setActive(index);
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => setActive(indexOf(event)),
    onPointerLeave: (event: PointerEvent<HTMLElement>) => {
      if (event.pointerType !== "touch") setActive(null);
    },
    onClick: () => {
      if (active !== null && (!tap.current.isTouch || tap.current.wasActive)) onPick?.(active);
    },
    onFocus: ({ currentTarget }: { currentTarget: HTMLElement }) => {
      if (currentTarget.matches(":focus-visible")) setActive((before) => before ?? count - 1);
    },
    onBlur: () => setActive(null),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const move = keys[event.key];
      if (move) {
        event.preventDefault();
        setActive(Math.min(count - 1, Math.max(0, move(active ?? count - 1))));
      } else if (event.key === "Enter" && active !== null) onPick?.(active);
      else if (event.key === "Escape") setActive(null);
    },
  };
  return { active: active !== null && active < count ? active : null, handlers };
}

export function TimeChart(props: Props) {
  const { label, times, step, timeZone, series, height, isRunning, onPick } = props;
  const earlier = props.earlier?.values.some((value) => value > 0) ? props.earlier : null;
  const { ref, width } = useWidth();
  const axisText = props.axisText ?? shortCount;
  const timeLabel = (ms: number) => (step === "day" ? dayText(ms, timeZone) : timeText(ms, timeZone));
  // Hours of one day need no date.
  const axisLabel = (ms: number) => (step === "hour" && times.length <= 25 ? hourText(ms, timeZone) : timeLabel(ms));
  const textOf = (one: Series, index: number) => {
    const value = one.values[index] ?? 0;
    return one.text?.(value) ?? countText(value);
  };
  const earlierText = (of: Earlier, index: number): readonly [name: string, value: string] => {
    const value = of.values[index] ?? 0;
    return [`${of.name}, ${timeLabel(of.times[index] ?? 0)}`, series[0]?.text?.(value) ?? countText(value)];
  };

  const sums = times.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const ticks = ticksFor(Math.max(0, ...sums, ...(earlier?.values ?? [])), { isWhole: props.axisText === undefined });
  const highest = ticks.at(-1) ?? 1;
  const left = 12 + digitWidth * Math.max(...ticks.map((tick) => axisText(tick).length));
  const plot = { width: Math.max(1, width - left), height: height - top - bottom };
  const slot = plot.width / Math.max(1, times.length);
  const barWidth = Math.min(maxBarWidth, Math.max(1, slot * 0.7));
  const y = (value: number) => top + plot.height * (1 - value / highest);
  const centre = (index: number) => left + (index + 0.5) * slot;
  const every = labelEvery(times.length, plot.width, labelWidth);
  const { active, handlers } = useActiveStep(
    times.length,
    (x) => Math.floor((x - left) / slot),
    onPick && ((index) => times[index] !== undefined && onPick(times[index])),
  );
  const shown = active ?? times.length - 1;
  // Before the first step there is nothing to divide.
  const marked = props.mark ? times.findLastIndex((ms) => ms <= (props.mark?.at ?? 0)) : 0;
  const mark = props.mark && marked > 0 ? { ...props.mark, x: centre(marked) - slot / 2 } : null;

  return (
    <Box ref={ref} className="cc-chart">
      {(series.length > 1 || earlier || mark) && (
        <Group component="ul" gap="4px 16px" mb="xs" fz="xs" c="dimmed" className="cc-list" aria-hidden>
          {series.map(({ name, tone }) => (
            <li key={name} className="cc-inline">
              <span data-tone={tone} />
              {name}
            </li>
          ))}
          {earlier && (
            <li className="cc-inline">
              <span data-tone="earlier" />
              {earlier.name}
            </li>
          )}
          {mark && (
            <li className="cc-inline">
              <span data-tone="mark" />
              {mark.name}
            </li>
          )}
        </Group>
      )}
      <div
        style={{ position: "relative", height, cursor: onPick ? "pointer" : undefined, touchAction: "pan-y", userSelect: "none" }}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={times.length}
        aria-valuenow={shown + 1}
        aria-valuetext={
          times[shown] === undefined
            ? undefined
            : [
                timeLabel(times[shown]),
                ...series.map((one) => `${one.name}: ${textOf(one, shown)}`),
                ...(earlier ? [earlierText(earlier, shown).join(": ")] : []),
              ].join(", ")
        }
        {...handlers}
      >
        {width > 0 && (
          <svg width={width} height={height} display="block" overflow="visible" aria-hidden>
            {ticks.map((tick) => (
              <g key={tick}>
                <line x1={left} x2={width} y1={y(tick)} y2={y(tick)} stroke="var(--cc-line)" />
                <text x={left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
                  {axisText(tick)}
                </text>
              </g>
            ))}
            {active !== null && (
              <rect
                fill="var(--mantine-color-default-hover)"
                x={centre(active) - Math.max(slot, 3) / 2}
                y={top}
                width={Math.max(slot, 3)}
                height={plot.height}
              />
            )}
            {times.map((ms, i) => (
              <g key={ms} opacity={isRunning && i === times.length - 1 ? 0.55 : undefined}>
                {series.map((one, k) => {
                  const below = series.slice(k + 1).reduce((sum, { values }) => sum + (values[i] ?? 0), 0);
                  const value = one.values[i] ?? 0;
                  // A small number is not nothing.
                  const high = value > 0 ? Math.max(minBarHeight, y(below) - y(below + value)) : 0;
                  return (
                    <rect
                      key={one.name}
                      data-tone={one.tone}
                      x={centre(i) - barWidth / 2}
                      y={y(below) - high}
                      width={barWidth}
                      height={high}
                      rx={Math.min(2, barWidth / 4, high / 2)}
                    />
                  );
                })}
              </g>
            ))}
            {mark && (
              <line x1={mark.x} x2={mark.x} y1={top} y2={top + plot.height} className="cc-chart-mark" stroke="var(--cc-quiet)" />
            )}
            {earlier && (
              <path
                className="cc-chart-earlier"
                d={earlier.values
                  .map((value, i) => `${i === 0 ? "M" : "L"}${centre(i).toFixed(1)} ${y(value).toFixed(1)}`)
                  .join("")}
              />
            )}
            {times.map((ms, i) =>
              i % every === Math.floor(((times.length - 1) % every) / 2) ? (
                <AxisLabel key={ms} x={centre(i)} y={height - 6} width={width} text={axisLabel(ms)} />
              ) : null,
            )}
          </svg>
        )}
        {active !== null && times[active] !== undefined && (
          <Paper
            withBorder
            shadow="sm"
            px={10}
            py={6}
            fz="xs"
            className="cc-chart-tip"
            pos="absolute"
            top={4}
            maw="70%"
            style={tipPosition(centre(active), width)}
            aria-hidden
          >
            <b>{timeLabel(times[active])}</b>
            {series.map((one) => (
              <div key={one.name} className="cc-line">
                <span data-tone={one.tone} />
                {one.name}
                <Text span inherit fw={600} ml="auto" pl="sm" className="cc-number">
                  {textOf(one, active)}
                </Text>
              </div>
            ))}
            {earlier && <EarlierLine text={earlierText(earlier, active)} />}
          </Paper>
        )}
      </div>
      <FigureTable
        {...props}
        label={mark ? `${label}. ${mark.name}: ${timeLabel(mark.at)}` : label}
        timeLabel={timeLabel}
        textOf={textOf}
        earlier={earlier && { name: earlier.name, text: (index) => earlierText(earlier, index) }}
      />
    </Box>
  );
}

const EarlierLine = ({ text: [name, value] }: { text: readonly [string, string] }) => (
  <div className="cc-line">
    <span data-tone="earlier" />
    {name}
    <Text span inherit fw={600} ml="auto" pl="sm" className="cc-number">
      {value}
    </Text>
  </div>
);

/** Labels at the ends are not cut off. */
function AxisLabel({ x, y, width, text }: { x: number; y: number; width: number; text: string }) {
  const half = (text.length * digitWidth) / 2;
  const anchor = x + half > width ? "end" : "middle";
  return (
    <text x={anchor === "end" ? width : x} y={y} textAnchor={anchor}>
      {text}
    </text>
  );
}

/** The tooltip stands on the side of its bar that has more room. */
const tipPosition = (x: number, width: number) => (x > width / 2 ? { right: width - x + 12 } : { left: x + 12 });

function FigureTable({
  label,
  times,
  step,
  series,
  earlier,
  timeLabel,
  textOf,
}: Pick<Props, "label" | "times" | "step" | "series"> & {
  earlier: { name: string; text: (index: number) => readonly [name: string, value: string] } | null;
  timeLabel: (ms: number) => string;
  textOf: (series: Series, index: number) => string;
}) {
  return (
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
            {earlier && <th scope="col">{earlier.name}</th>}
          </tr>
        </thead>
        <tbody>
          {times.map((ms, i) => (
            <tr key={ms}>
              <th scope="row">{timeLabel(ms)}</th>
              {series.map((one) => (
                <td key={one.name}>{textOf(one, i)}</td>
              ))}
              {earlier && <td>{earlier.text(i).join(": ")}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </VisuallyHidden>
  );
}
