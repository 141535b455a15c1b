// The imports of this site, newest first.

import { Text } from "@mantine/core";
import { FileUp } from "lucide-react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { countText } from "../../../common/format/numbers.ts";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { Empty } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import { importsText } from "../../../messages/imports.ts";

type Import = Answer<"GET /sites/:site/imports">["items"][number];

export function ImportList() {
  const texts = importsText.list;
  const params = { site: useSiteId() };
  const { data, error, refetch } = useApi("GET /sites/:site/imports", { params }, { everyMs: 30_000 });
  const number = (title: string, name: "imported" | "duplicates" | "refused", wide = false): Column<Import> => ({
    title,
    align: "right",
    wide,
    cell: ({ tally }) => countText(tally[name] ?? 0),
  });
  const columns: Column<Import>[] = [
    { title: texts.started, wide: true, cell: ({ startedAt }) => <Time at={startedAt} /> },
    {
      title: texts.file,
      cell: ({ file, kind }) => (
        <>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {file}
          </Text>
          <Text size="xs" c="dimmed">
            {importsText.kinds[kind]}
          </Text>
        </>
      ),
    },
    { title: texts.state, cell: ({ state }) => texts.states[state] },
    number(texts.imported, "imported"),
    number(texts.duplicates, "duplicates", true),
    number(texts.refused, "refused"),
  ];
  return (
    <Card title={texts.title} about={texts.about} padded={false}>
      <Rows
        label={texts.title}
        columns={columns}
        rows={data?.items}
        keyOf={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={
          <Empty icon={FileUp} title={texts.emptyTitle}>
            {texts.empty}
          </Empty>
        }
      />
    </Card>
  );
}
