import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { Empty } from "../../common/states.tsx";

export function NotFound() {
  return (
    <Empty
      icon={Compass}
      title="There is no such page"
      action={
        <Button component={Link} to="/sites">
          To your sites
        </Button>
      }
    >
      The address may have been cut, or what was here is gone.
    </Empty>
  );
}
