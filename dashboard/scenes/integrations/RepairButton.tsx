import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Repair } from "./repairs.ts";

/** Leads to the page that mends what is reported next to it. */
export function RepairButton({ site, repair }: { site: string; repair: Repair | null }) {
  if (!repair) return null;
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
