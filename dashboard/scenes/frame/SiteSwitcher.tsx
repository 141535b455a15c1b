// The menu of sites. It opens the same section of another site.

import { Group, Menu, Text, UnstyledButton } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown, Search } from "lucide-react";
import { useSites, type Site } from "../../common/api/session.ts";
import { frameText } from "../../messages/frame.ts";

/** Longer lists are searched. */
const shownSites = 10;

export function SiteSwitcher({ site, onFind }: { site: Site | undefined; onFind: () => void }) {
  const { data } = useSites();
  const navigate = useNavigate();
  const section = useLocation({ select: ({ pathname }) => pathname.split("/")[3] });
  const sites = data?.items ?? [];
  return (
    <Menu width={240} position="bottom-start">
      <Menu.Target>
        <UnstyledButton
          className="cc-card"
          px={12}
          py={6}
          w="100%"
          aria-label={frameText.switchSite(site?.name ?? frameText.allSites)}
        >
          <Group justify="space-between" wrap="nowrap" gap="xs">
            <Text size="sm" fw={500} truncate>
              {site?.name ?? frameText.allSites}
            </Text>
            <ChevronsUpDown size={15} aria-hidden className="cc-quiet" style={{ flex: "none" }} />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown style={{ maxHeight: 420, overflowY: "auto" }}>
        <Menu.Item onClick={() => void navigate({ to: "/sites" })}>{frameText.allSites}</Menu.Item>
        <Menu.Divider />
        {sites.slice(0, shownSites).map(({ id, name }) => (
          <Menu.Item
            key={id}
            rightSection={id === site?.id ? <Check size={15} /> : null}
            // Opens the same section of the other site.
            onClick={() => void navigate({ to: `/sites/${id}/${section ?? "overview"}` })}
          >
            <Text size="sm" truncate title={name}>
              {name}
            </Text>
          </Menu.Item>
        ))}
        {sites.length > shownSites && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<Search size={15} aria-hidden />} onClick={onFind}>
              {frameText.findSite(sites.length)}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
