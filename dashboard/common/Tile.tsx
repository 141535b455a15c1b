// A key figure on a card that links to its rows.

import { Box, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

const space = { display: "block", h: "100%", miw: 0, px: "md", py: "sm", c: "inherit", td: "none" } as const;

export function Tile({
  label,
  value,
  exact,
  to,
  search,
  children,
}: {
  label: string;
  value: string;
  /** The exact figure behind a shortened `value`. */
  exact?: string;
  /** Without it, the tile is no link. */
  to?: string;
  search?: Record<string, unknown>;
  children?: ReactNode;
}) {
  const content = (
    <>
      <Text size="sm" c="dimmed" component="span" display="block">
        {label}
      </Text>
      <Text
        component="span"
        display="block"
        // A long amount stays readable in a narrow tile.
        fz={value.length > 7 ? 18 : 24}
        lh="32px"
        fw={600}
        className="cc-number"
        truncate
        title={exact ?? value}
      >
        {value}
      </Text>
      <Text size="xs" c="dimmed" component="div" mt={2} className="cc-number">
        {children}
      </Text>
    </>
  );
  if (to === undefined)
    return (
      <Box className="cc-card cc-tile" {...space}>
        {content}
      </Box>
    );
  return (
    <Box renderRoot={(props) => <Link to={to} search={search ?? {}} {...props} />} className="cc-card cc-tile" {...space}>
      {content}
    </Box>
  );
}
