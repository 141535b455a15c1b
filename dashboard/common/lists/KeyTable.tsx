// A list of keys: the active ones, and on request those that have expired or were revoked.

import { Group, Stack, Switch, Text } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { countText } from "../format/numbers.ts";
import { State, Time } from "../values.tsx";
import { Rows, type Column } from "./Rows.tsx";

type Key = {
  id: string;
  name: string;
  prefix: string;
  lastUsedAt: number | null;
  uses24h: number;
  expiresAt: number | null;
};
type KeyState = "active" | "revoked" | "expired";

type Texts = {
  title: string;
  columns: Readonly<Record<"name" | "state" | "lastUsed" | "uses" | "expires" | "actions", string>>;
  showAll: string;
};

export function KeyTable<K extends Key>({
  of: { data, error, refetch },
  texts,
  stateOf,
  badge,
  before = [],
  after = [],
  actions,
  empty,
}: {
  of: { data: { items: readonly K[] } | undefined; error: Parameters<typeof Rows>[0]["error"]; refetch: () => unknown };
  texts: Texts;
  stateOf: (key: K) => KeyState;
  /** Stands behind the name. */
  badge?: (key: K) => ReactNode;
  /** Columns after the name, and before the expiry. */
  before?: readonly Column<K>[];
  after?: readonly Column<K>[];
  /** The actions for an active key; there are none for members who may not change it. */
  actions?: ((key: K) => ReactNode) | false;
  empty: ReactNode;
}) {
  const [showAll, setShowAll] = useState(false);
  const active = data?.items.filter((key) => stateOf(key) === "active");
  const columns: Column<K>[] = [
    {
      title: texts.columns.name,
      cell: (key) => (
        <Stack gap={0} className="cc-name" miw={100}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {key.name}
            </Text>
            {badge?.(key)}
          </Group>
          <span className="cc-mono cc-quiet">{key.prefix}…</span>
        </Stack>
      ),
    },
    ...before,
    {
      title: texts.columns.state,
      cell: (key) => <State of={stateOf(key) === "expired" ? "expiredKey" : stateOf(key)} />,
      // A phone has room for one column beside name and actions.
      wide: before.some(({ wide }) => !wide),
    },
    { title: texts.columns.lastUsed, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />, wide: true },
    { title: texts.columns.uses, align: "right", cell: ({ uses24h }) => countText(uses24h), wide: true },
    ...after,
    { title: texts.columns.expires, cell: ({ expiresAt }) => <Time at={expiresAt} />, wide: true },
  ];
  if (actions)
    columns.push({
      title: texts.columns.actions,
      align: "right",
      cell: (key) => stateOf(key) === "active" && actions(key),
    });
  return (
    <>
      <Rows
        label={texts.title}
        columns={columns}
        rows={showAll ? data?.items : active}
        keyOf={({ id }) => id}
        {...(error === undefined ? {} : { error })}
        onRetry={() => void refetch()}
        empty={empty}
      />
      {active !== undefined && active.length < (data?.items.length ?? 0) && (
        <Switch
          m="md"
          size="sm"
          label={texts.showAll}
          checked={showAll}
          onChange={(event) => setShowAll(event.currentTarget.checked)}
        />
      )}
    </>
  );
}
