// A line above the page while the relay cannot be reached.

import { Text } from "@mantine/core";
import { timeText } from "../../common/format/format.ts";
import { useLastReached } from "../../common/api/query.ts";
import { useSite } from "../../common/api/session.ts";

/** It disappears by itself: queries are repeated until the relay answers. */
export function Unreachable() {
  const reachedAt = useLastReached();
  const timeZone = useSite()?.timeZone;
  return (
    <Text role="status" size="sm" c="dimmed" maw={1280} mx="auto" mb={reachedAt === null ? 0 : "md"}>
      {reachedAt !== null &&
        `The relay cannot be reached. This page shows the state of ${timeText(reachedAt, timeZone)}.`}
    </Text>
  );
}
