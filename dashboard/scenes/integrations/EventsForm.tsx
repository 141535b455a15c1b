// Which events go to the platform, and under which name.

import { Alert, Radio, Stack, TagsInput } from "@mantine/core";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import { useApi } from "../../common/query.ts";
import { rangeOf } from "../../common/ranges.ts";
import type { Bench } from "./bench.ts";
import { foldName, settingFault } from "./draft.ts";
import { EventNames } from "./EventNames.tsx";

/** The names that came in lately, most first. */
export function useSeenEvents(site: string): string[] {
  const [{ from, to }] = useState(() => rangeOf("30d", undefined));
  const { data } = useApi("GET /sites/:site/statistics", {
    params: { site },
    query: { from, to, step: "day" },
  });
  return data?.events.map(({ name }) => name) ?? [];
}

export function EventsForm({ bench }: { bench: Bench }) {
  const { platform, connection, draft, error, site, mayChange } = bench;
  const seen = useSeenEvents(site);
  const chosen = draft.events === undefined ? (connection?.events ?? null) : draft.events;
  const [isSome, setIsSome] = useState(chosen !== null);
  // Those that are unique whatever way they are written.
  const known = [
    ...new Map([...Object.keys(platform.events?.standard ?? {}), ...seen].map((one) => [foldName(one), one])),
  ].map(([, name]) => name.toLowerCase());
  return (
    <>
      <Card
        title="Which events go out"
        about={`An event that is not selected is skipped for ${platform.name} and shows so in the sync log.`}
      >
        <Stack gap="md">
          <Radio.Group
            aria-label="Which events go out"
            value={isSome ? "some" : "all"}
            onChange={(value) => {
              setIsSome(value === "some");
              draft.setEvents(value === "some" ? (connection?.events ?? []) : null);
            }}
          >
            <Stack gap="xs">
              <Radio value="all" label="All events" disabled={!mayChange} />
              <Radio value="some" label="Selected events" disabled={!mayChange} />
            </Stack>
          </Radio.Group>
          {isSome && (
            <TagsInput
              label="Events"
              description="Names as your senders write them. Upper and lower case are the same."
              placeholder={chosen?.length ? "" : "purchase"}
              value={chosen ?? []}
              onChange={(names) => draft.setEvents(names)}
              data={[...new Set(known)]}
              error={settingFault(error, "events", platform)}
              clearable
              disabled={!mayChange}
              maxDropdownHeight={240}
            />
          )}
        </Stack>
      </Card>
      {platform.events ? (
        <EventNames bench={bench} seen={seen} />
      ) : (
        <Alert variant="light" color="gray">
          {platform.name} gets every event under the name that your sender gave it.
        </Alert>
      )}
    </>
  );
}
