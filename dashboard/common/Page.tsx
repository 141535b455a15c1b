// The layout of every page: title, actions, tabs.

import { Anchor, Box, Group, Stack, Tabs, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { useLayoutEffect, useRef, type ReactNode } from "react";

type Tab = { value: string; label: string; to: string; search?: Record<string, unknown> };

export function Page({
  title,
  mark,
  back,
  about,
  actions,
  tabs,
  tab,
  children,
}: {
  title: string;
  /** A mark before the title. */
  mark?: ReactNode;
  /** The page that this one is a part of. */
  back?: { to: string; label: string; search?: Record<string, unknown> };
  about?: ReactNode;
  actions?: ReactNode;
  tabs?: readonly Tab[];
  tab?: string;
  children: ReactNode;
}) {
  const current = tabs?.find(({ value }) => value === tab)?.label;
  useDocumentTitle(`${current ? `${current} · ` : ""}${title} · Cleancast`);
  const navigate = useNavigate();
  const tabList = useActiveInView(tab);
  return (
    <Stack gap="lg" maw={1280} mx="auto" w="100%">
      <Group justify="space-between" align="flex-start" gap="md">
        <Box style={{ flex: "1 1 200px", minWidth: 0 }}>
          {back && (
            <Anchor renderRoot={(props) => <Link to={back.to} search={back.search ?? {}} {...props} />} size="sm" c="dimmed">
              <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
                <ChevronLeft size={14} aria-hidden />
                {back.label}
              </Group>
            </Anchor>
          )}
          <Group gap="sm" wrap="nowrap">
            {mark}
            <Title order={1} style={{ overflowWrap: "anywhere" }}>
              {title}
            </Title>
          </Group>
          {about && (
            <Text c="dimmed" size="sm" mt={4} maw={720} component="div">
              {about}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {tabs && (
        <Tabs
          value={tab ?? null}
          keepMounted={false}
          onChange={(value) => {
            const chosen = tabs.find((one) => one.value === value);
            if (chosen) void navigate({ to: chosen.to, search: chosen.search ?? {} });
          }}
        >
          <Tabs.List ref={tabList} className="cc-tabs" aria-label={title}>
            {tabs.map(({ value, label }) => (
              <Tabs.Tab key={value} value={value}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={tab ?? ""} pt="lg">
            <Stack gap="lg">{children}</Stack>
          </Tabs.Panel>
        </Tabs>
      )}
      {!tabs && children}
    </Stack>
  );
}

/** Where not all tabs fit, scrolls to the active one. */
function useActiveInView(tab: string | undefined) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const show = () => {
      const active = element.querySelector("[aria-selected=true]");
      if (!active) return;
      const [all, one] = [element.getBoundingClientRect(), active.getBoundingClientRect()];
      element.scrollLeft += (one.left + one.right - all.left - all.right) / 2;
    };
    // It reports the first size, too, once the page is laid out: reading it now would lay out the page twice.
    const observer = new ResizeObserver(show);
    observer.observe(element);
    return () => observer.disconnect();
  }, [tab]);
  return list;
}

/** A card with a heading. */
export function Card({
  title,
  about,
  actions,
  children,
  padded = true,
}: {
  title?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  padded?: boolean;
}) {
  return (
    <section className="cc-card">
      {(title !== undefined || actions) && (
        <Group justify="space-between" align="flex-start" gap="sm" px="md" pt="md" pb={padded ? 0 : "md"}>
          <Box style={{ flex: "1 1 220px", minWidth: 0 }}>
            {title !== undefined && <Title order={2}>{title}</Title>}
            {about && (
              <Text c="dimmed" size="sm" mt={2} component="div">
                {about}
              </Text>
            )}
          </Box>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      )}
      <Box p={padded ? "md" : 0}>{children}</Box>
    </section>
  );
}
