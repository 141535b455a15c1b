// The fields of the last requests, to be put into a mapping. Values are masked.

import { Box, Group, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { ListTree } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import { useApi, useSend } from "../../common/api/query.ts";
import { agoText } from "../../common/format/times.ts";
import { notify } from "../../common/notices.tsx";
import { Empty, LoadState, RequestError } from "../../common/states.tsx";
import { sourcesText } from "../../messages/sources.ts";
import type { Source } from "./parts.tsx";

const everyMs = 3000;

export const useShapes = (site: string, source: Source) =>
  useApi("GET /sites/:site/sources/:source/shapes", { params: { site, source: source.id } }, { everyMs });

export function FieldPicker({
  site,
  source,
  chosen,
  onChoose,
}: {
  site: string;
  source: Source;
  /** The label of the line that a field is put into. */
  chosen: string;
  onChoose: (path: string) => void;
}) {
  const shapes = useShapes(site, source);
  const [wanted, setWanted] = useState<string | null>(null);
  const [search, setSearch] = useState("");
  const items = shapes.data?.items ?? [];
  const shown = items.find(({ id }) => id === wanted) ?? items[0];
  const now = Date.now();
  const fields = (shown?.fields ?? []).filter(({ path }) => path.toLowerCase().includes(search.toLowerCase().trim()));
  return (
    <Card title={sourcesText.mapping.fields} about={sourcesText.mapping.aboutFields}>
      <Stack gap="sm">
        {!shown && (
          <LoadState
            of={shapes}
            empty={
              <Empty icon={ListTree} title={sourcesText.mapping.noFields}>
                {sourcesText.mapping.aboutNoFields}
              </Empty>
            }
          />
        )}
        {shown && (
          <>
            <Select
              label={sourcesText.mapping.request}
              allowDeselect={false}
              value={shown.id}
              onChange={setWanted}
              data={items.map(({ id, at, type }) => ({ value: id, label: [type, agoText(at, now)].filter(Boolean).join(", ") }))}
            />
            <TextInput
              aria-label={sourcesText.mapping.searchFields}
              placeholder={sourcesText.mapping.searchFields}
              value={search}
              onChange={({ currentTarget }) => setSearch(currentTarget.value)}
              autoComplete="off"
              maxLength={100}
            />
            <Box
              component="ul"
              m={0}
              p={4}
              mah={320}
              bd="1px solid var(--cc-line)"
              bdrs="sm"
              className="cc-list"
              aria-label={sourcesText.mapping.fields}
              tabIndex={0}
              style={{ overflowY: "auto" }}
            >
              {fields.map(({ path, sample }) => (
                <li key={path}>
                  <button type="button" className="cc-bar" onClick={() => onChoose(path)}>
                    <Group component="span" justify="space-between" gap="2px 12px">
                      <span className="cc-mono">{path}</span>
                      <span className="cc-quiet">{sample}</span>
                    </Group>
                  </button>
                </li>
              ))}
            </Box>
            <Text size="xs" c="dimmed" aria-live="polite">
              {sourcesText.mapping.into(chosen)}
            </Text>
          </>
        )}
        <KeepRequests site={site} source={source} />
      </Stack>
    </Card>
  );
}

/** Its switch is next to the preview that needs it. */
export const keepSetting = "keep_requests";

export function KeepRequests({ site, source }: { site: string; source: Source }) {
  const isKept = source.settings[keepSetting] === "on";
  const save = useSend("PATCH /sites/:site/sources/:source", {
    onDone: (_, { body }) =>
      notify(body.settings?.[keepSetting] === "on" ? sourcesText.mapping.keepOn : sourcesText.mapping.keepOff),
  });
  return (
    <>
      <Switch
        label={sourcesText.mapping.kept}
        description={sourcesText.mapping.aboutKept}
        checked={save.isPending ? save.variables.body.settings?.[keepSetting] === "on" : isKept}
        disabled={save.isPending}
        onChange={({ currentTarget }) =>
          save.mutate({
            params: { site, source: source.id },
            body: { settings: { [keepSetting]: currentTarget.checked ? "on" : "off" } },
          })
        }
      />
      <RequestError error={save.error} />
    </>
  );
}
