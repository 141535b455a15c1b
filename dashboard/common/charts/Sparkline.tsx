// The course of a figure, small and without labels: the figure itself stands next to it.

const width = 100;
const height = 28;

const box = { display: "block", marginTop: 6 } as const;

export function Sparkline({ values }: { values: readonly number[] }) {
  const max = Math.max(...values);
  if (values.length < 2 || !(max > 0)) return <div style={{ ...box, height }} />;
  const x = (i: number) => (i / (values.length - 1)) * width;
  const y = (value: number) => 2 + (height - 4) * (1 - value / max);
  const line = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return (
    <svg width="100%" height={height} style={box} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden>
      <polygon
        fill="light-dark(var(--mantine-color-accent-0), var(--mantine-color-dark-6))"
        points={`0,${height} ${line} ${width},${height}`}
      />
      <polyline
        fill="none"
        stroke="light-dark(var(--mantine-color-accent-5), var(--mantine-color-accent-4))"
        strokeWidth={1.5}
        points={line}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
