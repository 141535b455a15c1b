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
import { configurationText } from "../../../messages/configuration.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { serverText } from "../../../messages/server.ts";

type Call = Answer<"GET /sites/:site/rejected-requests">["items"][number];

const columnList = (): Column<Call>[] => [
  { title: configurationText.rejected.columns.when, cell: ({ at }) => <Time at={at} /> },
  {
    title: configurationText.rejected.columns.status,
    cell: ({ status }) => <span className="cc-mono">{status}</span>,
  },
  {
    title: configurationText.rejected.columns.why,
    cell: ({ error }) => <Text size="sm">{serverText(error)}</Text>,
  },
  {
    title: configurationText.rejected.columns.key,
    cell: ({ key }) => key?.name ?? <span className="cc-quiet">{configurationText.rejected.unknownKey}</span>,
    wide: true,
  },
  {
    title: configurationText.rejected.columns.host,
    cell: ({ host }) => <span className="cc-mono">{host}</span>,
    wide: true,
  },
  {
    title: configurationText.rejected.columns.from,
    cell: ({ address }) => <span className="cc-mono">{address ?? "–"}</span>,
    wide: true,
  },
];

export function RejectedRequests() {
  const site = useSiteId();
  const { first, listed } = useRows("GET /sites/:site/rejected-requests", {
    params: { site },
    query: { limit: 10 },
  });
  return (
    <Card
      title={configurationText.rejected.title}
      about={configurationText.rejected.about}
      padded={false}
      actions={
        <CsvButton
          href={urlOf("GET /sites/:site/rejected-requests.csv", { params: { site } })}
          of={configurationText.rejected.csv}
        />
      }
    >
      {first?.lockouts.map(({ host, startedAt, lockedUntil }) => (
        <Alert key={host} mx="md" mb="md" variant="light" color="red" icon={<LockKeyhole size={18} />}>
          <Group gap={4}>
            <Text size="sm">
              <RichText
                text={configurationText.rejected.lockout}
                tags={{
                  host: () => host,
                  start: () => <Time at={startedAt} />,
                  end: () => <Time at={lockedUntil} />,
                }}
              />
            </Text>
          </Group>
        </Alert>
      ))}
      <Rows
        label={configurationText.rejected.title}
        columns={columnList()}
        {...listed}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={ShieldCheck} title={configurationText.rejected.emptyTitle}>
            {configurationText.rejected.empty}
          </Empty>
        }
      />
    </Card>
  );
}
