// Chooses rows of a list, to change them together.

import "./selection.css";
import { Button, Group, Text } from "@mantine/core";
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { Column } from "./Rows.tsx";
import { commonText } from "../../messages/common.ts";

/** One request changes at most this many. */
const maxChosen = 500;

/** `nameOf` names a row for screen readers. Rows that are no longer in the list are no longer chosen. */
export function useSelection<Row>(rows: readonly Row[] | undefined, keyOf: (row: Row) => string, nameOf: (row: Row) => string) {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const chosen = useMemo(() => (rows ?? []).filter((row) => keys.has(keyOf(row))), [rows, keys, keyOf]);
  const clear = useCallback(() => setKeys(new Set()), []);
  const toggle = useCallback(
    (row: Row) =>
      setKeys((before) => {
        const after = new Set(before);
        if (!after.delete(keyOf(row))) after.add(keyOf(row));
        return after;
      }),
    [keyOf],
  );
  const all = (rows ?? []).slice(0, maxChosen);
  const isAll = all.length > 0 && keys.size >= all.length && all.every((row) => keys.has(keyOf(row)));
  const current = useRef(all);
  useEffect(() => {
    current.current = all;
  });
  // All rows are rendered again when the column changes, so it does not with each row that arrives.
  const column = useMemo(
    (): Column<Row> => ({
      title: commonText.list.select,
      width: "40px",
      narrow: true,
      head: (
        <label className="cc-check">
          <input
            type="checkbox"
            aria-label={commonText.list.selectAll}
            checked={isAll}
            onChange={() => (isAll ? clear() : setKeys(new Set(current.current.map(keyOf))))}
          />
        </label>
      ),
      cell: (row) => (
        <label className="cc-check">
          <input
            type="checkbox"
            aria-label={commonText.list.selectRow(nameOf(row))}
            checked={keys.has(keyOf(row))}
            onChange={() => toggle(row)}
          />
        </label>
      ),
    }),
    [isAll, keys, keyOf, nameOf, clear, toggle],
  );
  return { chosen, clear, column };
}

/** The actions for the chosen rows, with their number. */
export function SelectionBar({ count, onClear, children }: { count: number; onClear: () => void; children: ReactNode }) {
  return (
    <div role="status">
      {count > 0 && (
        <Group px="md" py="xs" gap="xs" className="cc-selection">
          <Text size="sm" fw={500}>
            {commonText.list.selected(count)}
          </Text>
          {children}
          <Button variant="subtle" onClick={onClear}>
            {commonText.list.clearSelection}
          </Button>
        </Group>
      )}
    </div>
  );
}
