// The last requests of a source with what became of them.

import { Select, Stack, Text } from "@mantine/core";
import { Inbox } from "lucide-react";
import { useState } from "react";
import { sourceOutcomes } from "../../../src/kernel/event.ts";
import { Card } from "../../common/Page.tsx";
import { useApi } from "../../common/api/query.ts";
import { TextLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { Empty } from "../../common/states.tsx";
import { Id, State, stateWord, Time } from "../../common/values.tsx";
import { sourcesText } from "../../messages/sources.ts";
import { reasonText, type Source, type SourceRequest } from "./parts.tsx";

const pageSize = 50;
const maxShown = 200;
const everyMs = 5000;

export function Requests({ site, source }: { site: string; source: Source }) {
  const { text, change } = useQueryParams();
  const outcome = sourceOutcomes.find((one) => one === text("outcome"));
  const [limit, setLimit] = useState(pageSize);
  const { data, error, refetch, isFetching } = useApi(
    "GET /sites/:site/sources/:source/requests",
    { params: { site, source: source.id }, query: { limit, ...(outcome ? { outcome } : {}) } },
    { everyMs, keepPrevious: true },
  );
  return (
    <Card
      padded={false}
      title={sourcesText.requests.title}
      about={sourcesText.requests.about}
      actions={
        <Select
          aria-label={sourcesText.requests.filter}
          allowDeselect={false}
          w={180}
          value={outcome ?? ""}
          onChange={(chosen) => change({ outcome: chosen || undefined })}
          data={[
            { value: "", label: sourcesText.requests.all },
            ...sourceOutcomes.map((one) => ({ value: one, label: stateWord(one) })),
          ]}
        />
      }
    >
      <Rows
        label={sourcesText.requests.title}
        columns={columnsOf(site)}
        rows={data?.items}
        keyOf={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        more={data?.next && limit < maxShown ? () => setLimit(maxShown) : null}
        isLoadingMore={isFetching && limit === maxShown}
        empty={
          <Empty icon={Inbox} title={outcome ? sourcesText.requests.noMatch : sourcesText.requests.empty}>
            {outcome ? sourcesText.requests.aboutNoMatch : sourcesText.requests.aboutEmpty}
          </Empty>
        }
      />
    </Card>
  );
}

function columnsOf(site: string): Column<SourceRequest>[] {
  return [
    { title: sourcesText.requests.when, cell: ({ at }) => <Time at={at} /> },
    {
      title: sourcesText.requests.type,
      wide: true,
      cell: ({ type }) => <span className="cc-mono">{type || "–"}</span>,
    },
    {
      title: sourcesText.requests.outcome,
      cell: ({ outcome, type, reason, detail }) => (
        <Stack gap={0}>
          <State of={outcome} />
          <Text size="xs" c="dimmed" hiddenFrom="sm" style={{ overflowWrap: "anywhere" }}>
            {[type, reason === null ? "" : reasonText(reason), detail ?? ""].filter(Boolean).join(" · ")}
          </Text>
        </Stack>
      ),
    },
    {
      title: sourcesText.requests.reason,
      wide: true,
      cell: ({ reason, detail }) =>
        reason === null ? (
          <span className="cc-quiet">–</span>
        ) : (
          <Stack gap={0}>
            <Text size="sm">{reasonText(reason)}</Text>
            {detail && (
              <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                {detail}
              </Text>
            )}
          </Stack>
        ),
    },
    {
      title: sourcesText.requests.delivery,
      wide: "lg",
      cell: ({ deliveryId }) => (deliveryId === null ? <span className="cc-quiet">–</span> : <Id value={deliveryId} />),
    },
    {
      title: sourcesText.requests.event,
      align: "right",
      cell: ({ eventId, type }) =>
        eventId === null ? (
          <span className="cc-quiet">–</span>
        ) : (
          <TextLink to={`/sites/${site}/events/${eventId}`} aria-label={sourcesText.requests.viewOf(type)}>
            {sourcesText.requests.view}
          </TextLink>
        ),
    },
  ];
}
