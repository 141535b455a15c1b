// Inbound calls that were turned away, and why: most faults of a new integration show here.

import { Alert, Group, Text } from "@mantine/core";
import { LockKeyhole, ShieldCheck } from "lucide-react";
import { addressOf, type Answer } from "../../common/api.ts";
import { CsvButton } from "../../common/CsvButton.tsx";
import { Card } from "../../common/Page.tsx";
import { useRows } from "../../common/query.ts";
import { Rows, type Column } from "../../common/Rows.tsx";
import { useSiteId } from "../../common/session.tsx";
import { Empty } from "../../common/states.tsx";
import { When } from "../../common/values.tsx";

type Call = Answer<"GET /sites/:site/refused-calls">["items"][number];

const columns: Column<Call>[] = [
  { title: "When", cell: ({ at }) => <When at={at} /> },
  { title: "Status", cell: ({ status }) => <span className="cc-mono">{status}</span> },
  { title: "Why", cell: ({ error }) => <Text size="sm">{error}</Text> },
  {
    title: "Key",
    cell: ({ key }) => key?.name ?? <span className="cc-quiet">none of yours</span>,
    wide: true,
  },
  { title: "Host", cell: ({ host }) => <span className="cc-mono">{host}</span>, wide: true },
  { title: "From", cell: ({ address }) => <span className="cc-mono">{address ?? "–"}</span>, wide: true },
];

export function RefusedCalls() {
  const site = useSiteId();
  const { rows, first, error, more, isLoadingMore, again } = useRows("GET /sites/:site/refused-calls", {
    params: { site },
    query: { limit: 10 },
  });
  return (
    <Card
      title="Refused calls"
      about="Calls to the inbound webhook that were not accepted. Nothing of them was stored but this line."
      padded={false}
      actions={
        <CsvButton
          href={addressOf("GET /sites/:site/refused-calls.csv", { params: { site } })}
          of="refused calls"
        />
      }
    >
      {first?.lockouts.map(({ host, startedAt, lockedUntil }) => (
        <Alert key={host} mx="md" mb="md" variant="light" color="red" icon={<LockKeyhole size={18} />}>
          <Group gap={4}>
            <Text size="sm">
              Too many wrong keys on {host}, <When at={startedAt} />. Wrong keys get 429 there; the lock ends{" "}
              <When at={lockedUntil} />. Valid keys still pass.
            </Text>
          </Group>
        </Alert>
      ))}
      <Rows
        label="Refused calls"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        error={error}
        again={again}
        more={more}
        isLoadingMore={isLoadingMore}
        empty={
          <Empty icon={ShieldCheck} title="No call was refused">
            A wrong key, a missing field or a call while the webhook is off would stand here with its reason.
          </Empty>
        }
      />
    </Card>
  );
}
