import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { sitesText } from "../../messages/sites.ts";

/** The next step where nothing was seen: without the tag there are no visits. */
export function GetTag() {
  const site = useSiteId();
  if (!useMay("admin", site)) return null;
  return (
    <Button component={Link} to={`/sites/${site}/configuration/tag`} variant="default">
      {sitesText.checklist.steps.tag.button}
    </Button>
  );
}
