// Sends past conversions to a connection: counts them first, shows the progress, and can be cancelled.

import { Alert, Button, Group, List, NumberInput, Progress, Stack, Text } from "@mantine/core";
import { CircleCheck, CircleSlash, History, Info } from "lucide-react";
import { useState } from "react";
import { defaultBackfillPace, maxBackfillDays, maxBackfillPace } from "../../../../src/kernel/backfill.ts";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { countText, counted } from "../../../common/format/format.ts";
import { notify } from "../../../common/notices.tsx";
import { LoadError, Loading, RequestError } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import type { Connection, Platform } from "../connections.tsx";
import type { Editor } from "./editor.ts";

type Path = "/sites/:site/connections/:connection/backfill";
type State = NonNullable<Answer<`GET ${Path}`>["backfill"]>;
type Count = Answer<`POST ${Path}/count`>;

export function Backfill({ editor: { site, platform, connection, mayChange } }: { editor: Editor }) {
  const about = `Sends conversions from before ${platform.name} was connected, or that could not be sent then. Live events are sent first.`;
  if (!connection)
    return (
      <Card title="Backfill" about={about}>
        <Text size="sm" c="dimmed">
          Connect {platform.name} first.
        </Text>
      </Card>
    );
  return (
    <Card title="Backfill" about={about}>
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
  if (last.error) return <LoadError error={last.error} onRetry={() => void last.refetch()} />;
  if (!last.data) return <Loading rows={2} />;
  const { backfill } = last.data;
  const isRunning = backfill?.state === "running";
  return (
    <Stack gap="lg">
      {backfill && (
        <Progression
          backfill={backfill}
          site={site}
          platform={platform}
          connection={connection}
          mayChange={mayChange}
        />
      )}
      {!isRunning && mayChange && <StartForm site={site} platform={platform} connection={connection} />}
      {!mayChange && !backfill && (
        <Text size="sm" c="dimmed">
          Only admins can start a backfill.
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
      notify("The backfill has started.");
    },
  });
  const changeDays = (value: number) => {
    setDays(value);
    count.reset();
  };
  return (
    <Stack gap="md">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          count.mutate({ params, body: { days } });
        }}
      >
        <Group gap="sm" align="flex-end">
          <NumberInput
            label="Days back"
            min={1}
            max={maxBackfillDays}
            clampBehavior="strict"
            allowDecimal={false}
            value={days}
            onChange={(value) => changeDays(Number(value) || 1)}
            w={120}
          />
          <NumberInput
            label="At most, per minute"
            min={1}
            max={maxBackfillPace}
            clampBehavior="strict"
            allowDecimal={false}
            value={perMinute}
            onChange={(value) => setPerMinute(Number(value) || 1)}
            w={160}
          />
          <Button type="submit" variant="default" loading={count.isPending}>
            Count conversions
          </Button>
        </Group>
      </form>
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
                  {count.data.isComplete ? `Send ${conversions(count.data.sendable)}` : "Send them"}
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

export const conversions = (n: number) => counted(n, "conversion");

export function Counted({ count: { found, sendable, leftOut, isComplete } }: { count: Count }) {
  const title =
    found === 0
      ? "No conversions in this period"
      : `${isComplete ? "" : "At least "}${conversions(sendable)} can be sent`;
  return (
    <Alert variant="light" color={sendable > 0 ? "blue" : "gray"} icon={<Info size={18} />} title={title}>
      <LeftOut leftOut={leftOut} />
      {!isComplete && (
        <Text size="sm" mt={4}>
          There are so many that counting was stopped. A backfill sends all of them.
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
      <Text size="sm">Left out:</Text>
      <List size="sm" spacing={2}>
        {reasons.map(([reason, n]) => (
          <List.Item key={reason}>
            {countText(n)} {reason}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function Progression({
  backfill,
  site,
  platform,
  connection,
  mayChange,
}: Props & { backfill: State; mayChange: boolean }) {
  const { state, queued, total, outcomes } = backfill;
  const cancel = useSend("POST /sites/:site/connections/:connection/backfill/cancel", {
    onDone: () => notify("The backfill is cancelled."),
  });
  const isRunning = state === "running";
  const share = total ? Math.min(100, (queued / total) * 100) : isRunning ? 0 : 100;
  const waits = isRunning && connection.state !== "active";
  const Icon = state === "cancelled" ? CircleSlash : state === "done" ? CircleCheck : History;
  const title = {
    running: waits ? `Waiting: ${platform.name} ${connection.state}` : "Sending past conversions",
    done: "The last backfill is done",
    cancelled: "The last backfill was cancelled",
  }[state];
  return (
    <Stack gap="sm" role="group" aria-label="Progress of the backfill">
      <Group justify="space-between" gap="sm">
        <Group gap={8} wrap="nowrap">
          <Icon size={18} aria-hidden />
          <Text fw={500}>{title}</Text>
        </Group>
        {isRunning && mayChange && (
          <ConfirmButton
            label="Cancel"
            question="Cancel the backfill?"
            consequence={`${conversions(queued)} ${queued === 1 ? "was" : "were"} given to delivery. What ${platform.name} has received stays there; the rest is not sent.`}
            confirm="Cancel backfill"
            onConfirm={() => cancel.mutateAsync({ params: { site, connection: connection.id } })}
            isBusy={cancel.isPending}
            error={cancel.error}
          />
        )}
      </Group>
      {isRunning && <Progress value={share} aria-label="Share of the conversions that were sent" />}
      <Text size="sm" className="cc-number">
        {countText(queued)}
        {total === null ? "" : ` of ${countText(total)}`}{" "}
        {queued === 1 && total === null ? "conversion" : "conversions"}
        {Object.entries(outcomes).map(
          ([name, n]) => ` · ${countText(n)} ${name === "queued" ? "retrying" : name}`,
        )}
      </Text>
      <LeftOut leftOut={backfill.leftOut} />
      <Text size="sm" c="dimmed">
        Last {counted(backfill.days, "day")}, started by {backfill.startedBy} <Time at={backfill.startedAt} />
        {backfill.reason ? `; ${backfill.reason}` : ""}
      </Text>
    </Stack>
  );
}
