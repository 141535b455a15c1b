import { Anchor, Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { useCallback } from "react";
import { useMay } from "../../common/api/session.ts";
import { commonText } from "../../messages/common.ts";
import { resultsText } from "../../messages/results.ts";
import type { PlatformRepair, Repair } from "./repairs.ts";

/** Returns a function that tells whether this user may make a repair. */
function useMayRepair(site: string): (repair: Repair) => boolean {
  const mayChange = useMay("admin", site);
  const isOwner = useMay("owner", null);
  return useCallback(({ needsOwner }) => (needsOwner ? isOwner : mayChange), [mayChange, isOwner]);
}

/**
 * Leads to the page that mends what is reported next to it. Only those who can change the site are offered it, and are told whom to
 * ask for what they may not change.
 */
export function RepairButton({ site, repair }: { site: string; repair: Repair | null }) {
  const mayChange = useMay("admin", site);
  const mayRepair = useMayRepair(site);
  if (!repair || !mayChange) return null;
  if (!mayRepair(repair))
    return (
      <Text size="sm" c="dimmed">
        {commonText.ownersOnly}
      </Text>
    );
  return (
    <Button
      renderRoot={(props) => <Link to={`/sites/${site}/${repair.path}`} search={repair.search} {...props} />}
      size="compact-sm"
      variant="light"
      // Above the link that covers a card.
      style={{ alignSelf: "flex-start", position: "relative", zIndex: 1, flex: "none" }}
    >
      {repair.label}
    </Button>
  );
}

const maxShown = 4;

/** The same above a list, once for all its rows: each repair with the number of deliveries that wait for it. */
export function RepairLine({ site, repairs }: { site: string; repairs: readonly PlatformRepair[] }) {
  const mayRepair = useMayRepair(site);
  const groups = [...Map.groupBy(repairs, ({ path, search }) => `${path} ${JSON.stringify(search)}`).values()]
    // Most conversions have no click of most platforms: that a click id is missing is no fault to repair.
    .filter(([first]) => first?.isLikely && mayRepair(first))
    .toSorted((one, other) => other.length - one.length)
    .slice(0, maxShown);
  if (groups.length === 0) return null;
  return (
    <Group component="ul" aria-label={resultsText.repair.title} m={0} px="md" py="xs" gap="4px 16px" className="cc-list">
      {groups.map(([repair, ...others]) => (
        <Text component="li" key={`${repair?.path} ${repair?.label}`} size="sm">
          <TriangleAlert
            size={14}
            aria-hidden
            color="var(--mantine-color-yellow-text)"
            style={{ verticalAlign: -2, marginRight: 6 }}
          />
          {resultsText.repair.waiting(others.length + 1, repair?.platform ?? "")}{" "}
          <Anchor
            renderRoot={(props) => <Link to={`/sites/${site}/${repair?.path}`} search={repair?.search} {...props} />}
            fz="sm"
            py={4}
          >
            {repair?.label}
          </Anchor>
        </Text>
      ))}
    </Group>
  );
}
