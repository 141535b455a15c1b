// Rejected inbound requests with their reasons: most errors of a new integration show here.

import { Alert, Group, Text } from "@mantine/core";
import { LockKeyhole, ShieldCheck } from "lucide-react";
import { Card } from "../../../common/Page.tsx";
import { urlOf, type Answer } from "../../../common/api/api.ts";
import { useRows } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { CsvButton } from "../../../common/lists/CsvButton.tsx";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { Empty } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";

type Call = Answer<"GET /sites/:site/rejected-requests">["items"][number];

const columns: Column<Call>[] = [
  { title: "When", cell: ({ at }) => <Time at={at} /> },
  { title: "Status", cell: ({ status }) => <span className="cc-mono">{status}</span> },
  { title: "Why", cell: ({ error }) => <Text size="sm">{error}</Text> },
  {
    title: "Key",
    cell: ({ key }) => key?.name ?? <span className="cc-quiet">not a key of this site</span>,
    wide: true,
  },
  { title: "Host", cell: ({ host }) => <span className="cc-mono">{host}</span>, wide: true },
  { title: "From", cell: ({ address }) => <span className="cc-mono">{address ?? "–"}</span>, wide: true },
];

export function RejectedRequests() {
  const site = useSiteId();
  const { rows, first, error, more, isLoadingMore, retry } = useRows("GET /sites/:site/rejected-requests", {
    params: { site },
    query: { limit: 10 },
  });
  return (
    <Card
      title="Rejected requests"
      about="Requests to the inbound webhook that were rejected. Only this line is stored of each."
      padded={false}
      actions={
        <CsvButton
          href={urlOf("GET /sites/:site/rejected-requests.csv", { params: { site } })}
          of="rejected requests"
        />
      }
    >
      {first?.lockouts.map(({ host, startedAt, lockedUntil }) => (
        <Alert key={host} mx="md" mb="md" variant="light" color="red" icon={<LockKeyhole size={18} />}>
          <Group gap={4}>
            <Text size="sm">
              Too many wrong keys on {host}, <Time at={startedAt} />. Wrong keys get 429; the lock ends{" "}
              <Time at={lockedUntil} />. Valid keys still work.
            </Text>
          </Group>
        </Alert>
      ))}
      <Rows
        label="Rejected requests"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        error={error}
        onRetry={retry}
        more={more}
        isLoadingMore={isLoadingMore}
        empty={
          <Empty icon={ShieldCheck} title="No rejected requests">
            Requests with a wrong key or a missing field, or while the webhook is off, appear here with the
            reason.
          </Empty>
        }
      />
    </Card>
  );
}
