import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
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
