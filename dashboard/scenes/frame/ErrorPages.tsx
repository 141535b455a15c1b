import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Compass, TriangleAlert } from "lucide-react";
import { Empty } from "../../common/states.tsx";

export function NotFound() {
  return (
    <Empty
      icon={Compass}
      title="Page not found"
      action={
        <Button component={Link} to="/sites">
          Go to your sites
        </Button>
      }
    >
      The link may be incomplete, or this page has been removed.
    </Empty>
  );
}

/** Replaces a page that failed to load. An upgrade of the relay changes the names of its chunks. */
export function Broken() {
  return (
    <Empty
      icon={TriangleAlert}
      title="This page could not be shown"
      action={<Button onClick={() => location.reload()}>Reload</Button>}
    >
      The relay may have been upgraded in the meantime. Nothing was lost.
    </Empty>
  );
}
