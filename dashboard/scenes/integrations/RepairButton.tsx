import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCallback } from "react";
import { useMay } from "../../common/api/session.ts";
import { commonText } from "../../messages/common.ts";
import type { Repair } from "./repairs.ts";

/** Returns a function that tells whether this user may make a repair. */
export function useMayRepair(site: string): (repair: Repair) => boolean {
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

/** The same in a row of a list, which only has space for two short lines: the tooltip has the label that may be cut. */
export const RepairLink = ({
  site,
  repair,
  tip = repair.label,
  isShort = false,
}: {
  site: string;
  repair: Repair;
  tip?: string;
  /** The row already names the platform. */
  isShort?: boolean;
}) => (
  <Link
    to={`/sites/${site}/${repair.path}`}
    search={repair.search}
    className="cc-row-action"
    aria-label={repair.label}
    data-tip={tip}
  >
    {isShort ? repair.shortLabel : repair.label}
  </Link>
);
