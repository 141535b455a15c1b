// Sends past conversions to a connection: counts them first, shows the progress, and can be cancelled.

import { Alert, Button, Group, List, NumberInput, Progress, Stack, Text } from "@mantine/core";
import { Form } from "../../../common/Form.tsx";
import { CircleCheck, CircleSlash, History, Info } from "lucide-react";
import { useState } from "react";
import { defaultBackfillPace, maxBackfillDays, maxBackfillPace } from "../../../../src/kernel/backfill.ts";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";

import { countText } from "../../../common/format/numbers.ts";
import { notify } from "../../../common/notices.tsx";
import { LoadState, RequestError } from "../../../common/states.tsx";
import { stateWord, Time } from "../../../common/values.tsx";
import type { Connection, Platform } from "../connections.tsx";
import type { Editor } from "./editor.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { commonText } from "../../../messages/common.ts";
import { serverText } from "../../../messages/server.ts";

export function CountField({
  onChange,
  ...field
}: {
  label: string;
  max: number;
  value: number;
  onChange: (value: number) => void;
}) {
  const change = (value: string | number) => onChange(Number(value) || 1);
  return <NumberInput {...field} min={1} clampBehavior="strict" allowDecimal={false} w={160} onChange={change} />;
}

type Path = "/sites/:site/connections/:connection/backfill";
type State = NonNullable<Answer<`GET ${Path}`>["backfill"]>;
type Count = Answer<`POST ${Path}/count`>;

export function Backfill({ editor: { site, platform, connection, mayChange } }: { editor: Editor }) {
  const about = integrationsText.backfill.about(platform.name);
  if (!connection)
    return (
      <Card title={integrationsText.backfill.title} about={about}>
        <Text size="sm" c="dimmed">
          {integrationsText.backfill.connectFirst(platform.name)}
        </Text>
      </Card>
    );
  return (
    <Card title={integrationsText.backfill.title} about={about}>
      <LastBackfill site={site} platform={platform} connection={connection} mayChange={mayChange} />
    </Card>
  );
}

type Props = { site: string; platform: Platform; connection: Connection };

function LastBackfill({ site, platform, connection, mayChange }: Props & { mayChange: boolean }) {
  const params = { site, connection: connection.id };
  const last = useApi(
    "GET /sites/:site/connections/:connection/backfill",
    { params },
    { everyMs: (answer) => (answer?.backfill?.state === "running" ? 2000 : 15_000) },
  );
  if (last.error || !last.data) return <LoadState of={last} rows={2} />;
  const { backfill } = last.data;
  const isRunning = backfill?.state === "running";
  return (
    <Stack gap="lg">
      {backfill && (
        <Progression backfill={backfill} site={site} platform={platform} connection={connection} mayChange={mayChange} />
      )}
      {!isRunning && mayChange && <StartForm site={site} platform={platform} connection={connection} />}
      {!mayChange && !backfill && (
        <Text size="sm" c="dimmed">
          {integrationsText.backfill.adminsOnly}
        </Text>
      )}
    </Stack>
  );
}

function StartForm({ site, platform, connection }: Props) {
  const params = { site, connection: connection.id };
  const [days, setDays] = useState(defaultDays(platform));
  const [perMinute, setPerMinute] = useState(defaultBackfillPace);
  const count = useSend("POST /sites/:site/connections/:connection/backfill/count");
  const start = useSend("POST /sites/:site/connections/:connection/backfill", {
    onDone: () => {
      count.reset();
      notify(integrationsText.backfill.started);
    },
  });
  const changeDays = (value: number) => {
    setDays(value);
    count.reset();
  };
  return (
    <Stack gap="md">
      <Form onSubmit={() => count.mutate({ params, body: { days } })}>
        <Group gap="sm" align="flex-end">
          <CountField label={integrationsText.backfill.days} max={maxBackfillDays} value={days} onChange={changeDays} />
          <CountField label={integrationsText.backfill.pace} max={maxBackfillPace} value={perMinute} onChange={setPerMinute} />
          <Button type="submit" variant="default" loading={count.isPending}>
            {integrationsText.backfill.count}
          </Button>
        </Group>
      </Form>
      <RequestError error={count.error ?? start.error} />
      <div aria-live="polite">
        {count.data && (
          <Stack gap="sm">
            <Counted count={count.data} />
            {(count.data.sendable > 0 || !count.data.isComplete) && (
              <Group>
                <Button
                  leftSection={<History size={15} aria-hidden />}
                  loading={start.isPending}
                  onClick={() => start.mutate({ params, body: { days, perMinute } })}
                >
                  {count.data.isComplete
                    ? integrationsText.backfill.send(count.data.sendable)
                    : integrationsText.backfill.sendAll}
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </div>
    </Stack>
  );
}

/** The proposed period: no longer than the platform takes conversions. */
export const defaultDays = ({ maxAgeDays }: Platform) => Math.min(maxAgeDays ?? 30, 30);

export function Counted({ count: { found, sendable, leftOut, isComplete } }: { count: Count }) {
  const title =
    found === 0
      ? integrationsText.backfill.none
      : isComplete
        ? integrationsText.backfill.sendable(sendable)
        : integrationsText.backfill.sendableAtLeast(sendable);
  return (
    <Alert variant="light" color={sendable > 0 ? "blue" : "gray"} icon={<Info size={18} />} title={title}>
      <LeftOut leftOut={leftOut} />
      {!isComplete && (
        <Text size="sm" mt={4}>
          {integrationsText.backfill.manyMore}
        </Text>
      )}
    </Alert>
  );
}

function LeftOut({ leftOut }: { leftOut: Record<string, number> }) {
  const reasons = Object.entries(leftOut).toSorted(([, one], [, other]) => other - one);
  if (reasons.length === 0) return null;
  return (
    <div>
      <Text size="sm">{integrationsText.backfill.leftOut}</Text>
      <List size="sm" spacing={2}>
        {reasons.map(([reason, n]) => (
          <List.Item key={reason}>{integrationsText.backfill.leftOutLine(countText(n), serverText(reason))}</List.Item>
        ))}
      </List>
    </div>
  );
}

function Progression({ backfill, site, platform, connection, mayChange }: Props & { backfill: State; mayChange: boolean }) {
  const { state, queued, total, outcomes } = backfill;
  const cancel = useSend("POST /sites/:site/connections/:connection/backfill/cancel", {
    onDone: () => notify(integrationsText.backfill.cancelledNotice),
  });
  const isRunning = state === "running";
  const share = total ? Math.min(100, (queued / total) * 100) : isRunning ? 0 : 100;
  const waits = isRunning && connection.state !== "active";
  const Icon = state === "cancelled" ? CircleSlash : state === "done" ? CircleCheck : History;
  const title = {
    running: waits
      ? integrationsText.backfill.waits(platform.name, commonText.states[connection.state])
      : integrationsText.backfill.running,
    done: integrationsText.backfill.done,
    cancelled: integrationsText.backfill.cancelled,
  }[state];
  return (
    <Stack gap="sm" role="group" aria-label={integrationsText.backfill.progress}>
      <Group justify="space-between" gap="sm">
        <Group gap={8} wrap="nowrap">
          <Icon size={18} aria-hidden />
          <Text fw={500}>{title}</Text>
        </Group>
        {isRunning && mayChange && (
          <ConfirmButton
            label={integrationsText.backfill.cancel}
            question={integrationsText.backfill.cancelQuestion}
            consequence={integrationsText.backfill.cancelConsequence(queued, platform.name)}
            confirm={integrationsText.backfill.cancelConfirm}
            onConfirm={() => cancel.mutateAsync({ params: { site, connection: connection.id } })}
            of={cancel}
          />
        )}
      </Group>
      {isRunning && <Progress value={share} aria-label={integrationsText.backfill.share} />}
      <Text size="sm" className="cc-number">
        {[
          total === null
            ? integrationsText.backfill.conversions(queued)
            : integrationsText.backfill.conversionsOf(countText(queued), total),
          ...Object.entries(outcomes).map(([name, n]) =>
            integrationsText.backfill.outcome(
              countText(n),
              name === "queued" ? integrationsText.backfill.retrying : stateWord(name),
            ),
          ),
        ].join(" · ")}
      </Text>
      <LeftOut leftOut={backfill.leftOut} />
      <Text size="sm" c="dimmed">
        <RichText
          text={integrationsText.backfill.startedBy(backfill.days)}
          tags={{ user: () => backfill.startedBy, time: () => <Time at={backfill.startedAt} /> }}
        />
        {backfill.reason ? `; ${serverText(backfill.reason)}` : ""}
      </Text>
    </Stack>
  );
}
