// The filters of a list. On a phone all but the search are behind one button, or they would take the whole first screen.

import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { ListFilter } from "lucide-react";
import { useId, type ReactNode } from "react";
import { useIsNarrow } from "./Rows.tsx";
import { useQueryParams } from "./queryParams.ts";
import { commonText } from "../../messages/common.ts";

export function FilterGroup({
  search,
  names,
  fixed = {},
  children,
}: {
  search: ReactNode;
  /** The parameters of the URL that the filters set, besides those of the period. */
  names: readonly string[];
  /** Filters that the page sets itself do not count. */
  fixed?: object;
  children: ReactNode;
}) {
  const isNarrow = useIsNarrow();
  const [isOpen, { toggle }] = useDisclosure();
  const { text } = useQueryParams();
  const id = useId();
  const isSet = (name: string) => text(name) !== "";
  const count = names.filter((name) => isSet(name) && !(name in fixed)).length + (["range", "from", "to"].some(isSet) ? 1 : 0);
  return (
    <Group gap="sm" align="flex-start">
      {search}
      {isNarrow && (
        <Button
          variant="default"
          leftSection={<ListFilter size={15} aria-hidden />}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={toggle}
        >
          {commonText.filters.label(count)}
        </Button>
      )}
      {!isNarrow && children}
      {isNarrow && isOpen && (
        <Group id={id} gap="sm" align="flex-start">
          {children}
        </Group>
      )}
    </Group>
  );
}
