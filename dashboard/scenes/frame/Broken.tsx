import { Button } from "@mantine/core";
import { TriangleAlert } from "lucide-react";
import { Empty } from "../../common/states.tsx";

/** What stands in place of a page that failed. An upgrade of the relay changes the names of its parts. */
export function Broken() {
  return (
    <Empty
      icon={TriangleAlert}
      title="This page could not be shown"
      action={<Button onClick={() => location.reload()}>Load it again</Button>}
    >
      The relay may have been upgraded meanwhile. Nothing was lost.
    </Empty>
  );
}
