import { Button } from "@mantine/core";
import { TriangleAlert } from "lucide-react";
import { Empty } from "../../common/states.tsx";

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
