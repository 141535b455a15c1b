// Shares as bars, in the given order.

import { Group, Text } from "@mantine/core";

type Item = {
  name: string;
  value: number;
  text: string;
  key?: string;
  /** This one is chosen; another click undoes that. */
  isChosen?: boolean;
  /** False for a sum of many, which leads nowhere. */
  canPick?: boolean;
};

export function BarList({
  label,
  items,
  hint,
  onPick,
}: {
  label: string;
  items: readonly Item[];
  /** Says what a click does. */
  hint?: string;
  onPick: (key: string) => void;
}) {
  const max = Math.max(1, ...items.map(({ value }) => value));
  return (
    <ul aria-label={label} className="cc-list">
      {items.map(({ name, value, text, key = name, isChosen, canPick = true }) => {
        const content = (
          <>
            <span className="cc-bar-fill" style={{ width: `${(value / max) * 100}%` }} aria-hidden />
            <Group component="span" justify="space-between" wrap="nowrap" pos="relative" gap="md">
              <Text component="span" size="sm" lineClamp={2} title={name}>
                {name}
              </Text>
              <Text component="span" size="sm" className="cc-number" fw={500} style={{ whiteSpace: "nowrap" }}>
                {text}
              </Text>
            </Group>
          </>
        );
        return (
          <li key={key}>
            {canPick ? (
              <button type="button" className="cc-bar" title={hint} aria-pressed={isChosen} onClick={() => onPick(key)}>
                {content}
              </button>
            ) : (
              <span className="cc-bar">{content}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
