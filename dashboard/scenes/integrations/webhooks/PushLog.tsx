// All pushes of a webhook, newest first, with the receiver's response.

import { Accordion, Button, Center, Group, Text } from "@mantine/core";
import { Send } from "lucide-react";
import type { Answer } from "../../../common/api/api.ts";
import { useRows } from "../../../common/api/query.ts";
import { useSite } from "../../../common/api/session.ts";

import { countText } from "../../../common/format/numbers.ts";
import { durationText, timeText } from "../../../common/format/times.ts";
import { Empty, LoadState } from "../../../common/states.tsx";
import { Code, State, TestBadge, Time } from "../../../common/values.tsx";
import { webhooksText } from "../../../messages/webhooks.ts";
import { commonText } from "../../../messages/common.ts";
import { serverText } from "../../../messages/server.ts";

type Push = Answer<"GET /sites/:site/webhooks/:webhook/pushes">["items"][number];

export function PushLog({ site, webhook }: { site: string; webhook: string }) {
  const list = useRows("GET /sites/:site/webhooks/:webhook/pushes", { params: { site, webhook } });
  const { rows, error, retry } = list;
  if (error || !rows?.length)
    return (
      <LoadState
        of={{ data: rows, error, refetch: retry }}
        rows={3}
        empty={
          <Empty icon={Send} title={webhooksText.pushes.emptyTitle}>
            {webhooksText.pushes.empty}
          </Empty>
        }
      />
    );
  return (
    <>
      <Accordion variant="contained" multiple order={4} chevronPosition="left">
        {rows.map((push) => (
          <PushItem key={push.id} push={push} />
        ))}
      </Accordion>
      {list.more && (
        <Center p="md">
          <Button variant="default" onClick={list.more} loading={list.isLoadingMore}>
            {commonText.list.more}
          </Button>
        </Center>
      )}
    </>
  );
}

function PushItem({ push }: { push: Push }) {
  const timeZone = useSite()?.timeZone;
  const { period } = push;
  return (
    <Accordion.Item value={push.id}>
      <Accordion.Control>
        <Group gap="sm">
          <State of={push.ok ? "sent" : "failing"} word={push.ok ? webhooksText.pushes.delivered : webhooksText.pushes.failed} />
          {period ? (
            <Text size="sm" component="span" className="cc-number">
              {webhooksText.pushes.totals(period.conversions, countText(period.removed))}
            </Text>
          ) : (
            <TestBadge />
          )}
          <Text size="sm" component="span" c="dimmed" className="cc-number">
            {push.httpStatus === null ? webhooksText.pushes.noResponse : `HTTP ${push.httpStatus}`} ·{" "}
            {durationText(push.durationMs)} · <Time at={push.startedAt} />
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        {period && (
          <Text size="sm" mb="xs">
            {webhooksText.pushes.period(timeText(period.startsAt, timeZone), timeText(period.endsAt, timeZone))}
          </Text>
        )}
        {push.error && (
          <Text size="sm" mb="xs" style={{ overflowWrap: "anywhere" }}>
            {serverText(push.error)}
          </Text>
        )}
        {push.response ? (
          <Code label={webhooksText.pushes.response}>{push.response}</Code>
        ) : (
          <Text size="sm" c="dimmed">
            {push.httpStatus === null ? webhooksText.pushes.noResponseSentence : webhooksText.pushes.emptyResponse}
          </Text>
        )}
      </Accordion.Panel>
    </Accordion.Item>
  );
}
