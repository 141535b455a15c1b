// One webhook in a drawer: state, actions and log of pushes.

import { Alert, Button, Divider, Group, SimpleGrid, Stack, Title, Text } from "@mantine/core";
import { KeyRound, Play, Trash2 } from "lucide-react";
import { SidePanel } from "../../../common/SidePanel.tsx";
import { urlOf, type Answer } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";

import { countText } from "../../../common/format/numbers.ts";
import { CsvButton } from "../../../common/lists/CsvButton.tsx";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { Id, Time, State } from "../../../common/values.tsx";
import { Fact } from "../connections.tsx";
import { PushLog } from "./PushLog.tsx";
import { ReplayPeriods } from "./ReplayPeriods.tsx";
import { TestPush } from "./TestPush.tsx";
import { webhooksText } from "../../../messages/webhooks.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { serverText } from "../../../messages/server.ts";

export function WebhookPanel({
  site,
  webhook,
  mayChange,
  onSecret,
  onClose,
}: {
  site: string;
  webhook: Webhook;
  mayChange: boolean;
  onSecret: (secret: string) => void;
  onClose: () => void;
}) {
  return (
    <SidePanel title={webhook.url} onClose={onClose} size={720}>
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="md">
          <Fact label={webhooksText.columns.state}>
            <WebhookState webhook={webhook} />
          </Fact>
          <Fact label={webhooksText.columns.nextPush}>
            <Time at={webhook.nextPushAt} none="–" />
          </Fact>
          <Fact label={webhooksText.columns.waiting}>{countText(webhook.waiting)}</Fact>
          <Fact label={webhooksText.columns.lastPush}>
            <Time at={webhook.lastPushAt} />
          </Fact>
          <Fact label={webhooksText.panel.emptyPeriods}>
            {webhook.sendEmpty ? webhooksText.panel.pushed : webhooksText.panel.notPushed}
          </Fact>
          <Fact label={webhooksText.panel.added}>
            <Time at={webhook.createdAt} />
          </Fact>
          <Fact label={webhooksText.panel.id}>
            <Id value={webhook.id} />
          </Fact>
        </SimpleGrid>
        {mayChange && <Actions site={site} webhook={webhook} onSecret={onSecret} onDeleted={onClose} />}
        <Divider />
        <Stack gap="xs">
          <Group justify="space-between">
            <Title order={3}>{webhooksText.panel.pushes}</Title>
            <CsvButton
              href={urlOf("GET /sites/:site/webhooks/:webhook/pushes.csv", {
                params: { site, webhook: webhook.id },
              })}
              of={webhooksText.panel.thePushes}
            />
          </Group>
          <PushLog site={site} webhook={webhook.id} />
        </Stack>
      </Stack>
    </SidePanel>
  );
}

function Actions({
  site,
  webhook,
  onSecret,
  onDeleted,
}: {
  site: string;
  webhook: Webhook;
  onSecret: (secret: string) => void;
  onDeleted: () => void;
}) {
  const params = { site, webhook: webhook.id };
  const rotate = useSend("POST /sites/:site/webhooks/:webhook/rotate", {
    onDone: ({ secret }) => onSecret(secret),
  });
  const enable = useSend("POST /sites/:site/webhooks/:webhook/enable", {
    onDone: ({ waiting }) => notify(waiting > 0 ? webhooksText.panel.enabledAndPushed(waiting) : webhooksText.panel.enabled),
  });
  const disable = useSend("POST /sites/:site/webhooks/:webhook/disable", {
    onDone: () => notify(webhooksText.panel.disabledNotice, () => enable.mutate({ params })),
  });
  const remove = useSend("DELETE /sites/:site/webhooks/:webhook", {
    onDone: () => {
      notify(webhooksText.panel.deleted);
      onDeleted();
    },
  });
  const isDisabled = webhook.state === "disabled";
  return (
    <Stack gap="sm">
      {isDisabled && (
        <Alert variant="light" color="yellow" title={webhooksText.panel.disabled}>
          <Group justify="space-between">
            {webhook.waiting > 0 ? webhooksText.panel.waiting(webhook.waiting) : webhooksText.panel.waitsUntilEnabled}
            <Button
              size="xs"
              leftSection={<Play size={14} aria-hidden />}
              loading={enable.isPending}
              onClick={() => enable.mutate({ params })}
            >
              {webhooksText.panel.enable}
            </Button>
          </Group>
        </Alert>
      )}
      <TestPush site={site} webhook={webhook.id}>
        <ReplayPeriods site={site} webhook={webhook.id} />
        <ConfirmButton
          label={webhooksText.panel.rotate}
          question={webhooksText.panel.rotateQuestion}
          consequence={webhooksText.panel.rotateConsequence}
          confirm={webhooksText.panel.rotate}
          danger={false}
          icon={<KeyRound size={15} aria-hidden />}
          onConfirm={() => rotate.mutateAsync({ params })}
          of={rotate}
        />
        {!isDisabled && (
          <Button variant="default" loading={disable.isPending} onClick={() => disable.mutate({ params })}>
            {webhooksText.panel.disable}
          </Button>
        )}
        <ConfirmButton
          label={webhooksText.panel.delete}
          question={webhooksText.panel.deleteQuestion}
          consequence={webhooksText.panel.deleteConsequence(webhook.waiting)}
          confirm={webhooksText.panel.delete}
          icon={<Trash2 size={15} aria-hidden />}
          onConfirm={() => remove.mutateAsync({ params })}
          of={remove}
        />
      </TestPush>
      <RequestError error={enable.error ?? disable.error} />
    </Stack>
  );
}

export type Webhook = Answer<"GET /sites/:site/webhooks">["items"][number];

/** A failing webhook is still active: pushes are retried. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { state, failingSince, stateReason } = webhook;
  const isFailing = state === "active" && failingSince !== null;
  return (
    <Stack gap={0}>
      <State of={isFailing ? "failing" : state} />
      {isFailing && (
        <Text size="xs" c="dimmed">
          <RichText text={webhooksText.panel.since} tags={{ time: () => <Time at={failingSince} /> }} />
        </Text>
      )}
      {stateReason && (
        <Text size="xs" c="dimmed" maw={280}>
          {serverText(stateReason)}
        </Text>
      )}
    </Stack>
  );
}
