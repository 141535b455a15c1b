import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMay } from "../../common/api/session.ts";
import type { Repair } from "./repairs.ts";

/** Leads to the page that mends what is reported next to it. Only those who can change the site are offered it. */
export function RepairButton({ site, repair }: { site: string; repair: Repair | null }) {
  const mayChange = useMay("admin", site);
  if (!repair || !mayChange) return null;
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
