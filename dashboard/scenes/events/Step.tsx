// One step of a trace: title, outcome and details.

import "./steps.css";
import { Box, Group, ThemeIcon, Title } from "@mantine/core";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** The list of steps. */
export function Steps({ children }: { children: ReactNode }) {
  return (
    <Box component="ol" m={0} p={0} className="cc-steps">
      {children}
    </Box>
  );
}

export function Step({
  icon: Icon,
  mark,
  title,
  state,
  action,
  children,
}: {
  icon?: LucideIcon;
  /** Replaces the icon. */
  mark?: ReactNode;
  title: ReactNode;
  state?: ReactNode;
  action?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Box component="li" className="cc-step">
      <ThemeIcon size={32} radius="xl" variant="default" className="cc-step-icon">
        {Icon ? <Icon size={16} aria-hidden /> : mark}
      </ThemeIcon>
      <Box style={{ flex: 1, minWidth: 0 }} pb="lg">
        <Group justify="space-between" gap="sm" mih={32} wrap="wrap">
          <Group gap="sm">
            <Title order={3}>{title}</Title>
            {state}
          </Group>
          {action}
        </Group>
        {children}
      </Box>
    </Box>
  );
}

/** Names and values; empty values are left out. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  const shown = of.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  if (shown.length === 0) return null;
  return (
    <Box component="dl" m={0} mt={4}>
      {shown.map(([name, value]) => (
        <Box key={name} className="cc-fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Box>
      ))}
    </Box>
  );
}
