// The events that are sent to the platform, and their names there.

import { Alert, Radio, Stack, TagsInput } from "@mantine/core";
import { useState } from "react";
import { Card } from "../../../../common/Page.tsx";
import { useApi } from "../../../../common/api/query.ts";
import { rangeOf } from "../../../../common/format/ranges.ts";
import { EventNames } from "./EventNames.tsx";
import { ValueRules } from "./ValueRules.tsx";
import { foldName } from "../../../../../src/platforms/shared/eventNames.ts";
import type { Editor } from "../editor.ts";
import { integrationsText } from "../../../../messages/integrations.ts";

/** Returns the event names of the last 30 days. */
export function useSeenEvents(site: string): string[] {
  const [{ from, to }] = useState(() => rangeOf("30d", undefined));
  const { data } = useApi("GET /sites/:site/statistics", {
    params: { site },
    query: { from, to, step: "day" },
  });
  return data?.events.map(({ name }) => name) ?? [];
}

export function EventsForm({ editor }: { editor: Editor }) {
  const { platform, connection, draft, site, mayChange } = editor;
  const seen = useSeenEvents(site);
  const chosen = draft.events === undefined ? (connection?.events ?? null) : draft.events;
  const [isSelection, setIsSelection] = useState(chosen !== null);
  // Removes names that differ only in spelling.
  const known = [...new Map([...Object.keys(platform.events?.standard ?? {}), ...seen].map((one) => [foldName(one), one]))].map(
    ([, name]) => name.toLowerCase(),
  );
  return (
    <>
      <Card title={integrationsText.events.title} about={integrationsText.events.about(platform.name)}>
        <Stack gap="md">
          <Radio.Group
            aria-label={integrationsText.events.title}
            value={isSelection ? "some" : "all"}
            onChange={(value) => {
              setIsSelection(value === "some");
              draft.setEvents(value === "some" ? (connection?.events ?? []) : null);
            }}
          >
            <Stack gap="xs">
              <Radio value="all" label={integrationsText.events.all} disabled={!mayChange} />
              <Radio value="some" label={integrationsText.events.some} disabled={!mayChange} />
            </Stack>
          </Radio.Group>
          {isSelection && (
            <TagsInput
              label={integrationsText.events.names}
              description={integrationsText.events.aboutNames}
              placeholder={chosen?.length ? "" : "purchase"}
              value={chosen ?? []}
              onChange={(names) => draft.setEvents(names)}
              data={[...new Set(known)]}
              error={editor.fault("events")}
              clearable
              disabled={!mayChange}
              maxDropdownHeight={240}
            />
          )}
        </Stack>
      </Card>
      {platform.events ? (
        <EventNames editor={editor} seen={seen} />
      ) : (
        <Alert variant="light" color="gray">
          {integrationsText.events.ownNames(platform.name)}
        </Alert>
      )}
      <ValueRules editor={editor} seen={seen} />
    </>
  );
}
