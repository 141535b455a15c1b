// One webhook in a drawer: how it stands, what can be done with it, and the log of its pushes.

import { Alert, Button, Divider, Group, SimpleGrid, Stack, Title } from "@mantine/core";
import { KeyRound, Play, Trash2 } from "lucide-react";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { addressOf } from "../../common/api.ts";
import { CsvButton } from "../../common/CsvButton.tsx";
import { countText } from "../../common/format.ts";
import { useSend } from "../../common/query.ts";
import { SidePanel } from "../../common/SidePanel.tsx";
import { Refused } from "../../common/states.tsx";
import { Id, When } from "../../common/values.tsx";
import { countOf, Fact } from "./parts.tsx";
import { PushLog } from "./PushLog.tsx";
import { ReplayPeriods } from "./ReplayPeriods.tsx";
import { TestPush } from "./TestPush.tsx";
import { WebhookState, type Webhook } from "./webhook.tsx";

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
          <Fact label="State">
            <WebhookState webhook={webhook} />
          </Fact>
          <Fact label="Next push">
            <When at={webhook.nextPushAt} none="–" />
          </Fact>
          <Fact label="Periods waiting">{countText(webhook.waiting)}</Fact>
          <Fact label="Last push">
            <When at={webhook.lastPushAt} />
          </Fact>
          <Fact label="Empty periods">{webhook.sendEmpty ? "are sent" : "are left out"}</Fact>
          <Fact label="Added">
            <When at={webhook.createdAt} />
          </Fact>
          <Fact label="Id">
            <Id value={webhook.id} />
          </Fact>
        </SimpleGrid>
        {mayChange && <Actions site={site} webhook={webhook} onSecret={onSecret} onGone={onClose} />}
        <Divider />
        <Stack gap="xs">
          <Group justify="space-between">
            <Title order={3}>Pushes</Title>
            <CsvButton
              href={addressOf("GET /sites/:site/webhooks/:webhook/pushes.csv", {
                params: { site, webhook: webhook.id },
              })}
              of="the pushes"
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
  onGone,
}: {
  site: string;
  webhook: Webhook;
  onSecret: (secret: string) => void;
  onGone: () => void;
}) {
  const params = { site, webhook: webhook.id };
  const rotate = useSend("POST /sites/:site/webhooks/:webhook/rotate", {
    onDone: ({ secret }) => onSecret(secret),
  });
  const enable = useSend("POST /sites/:site/webhooks/:webhook/enable", {
    onDone: ({ waiting }) =>
      told(
        waiting > 0
          ? `It is pushed to again: ${countOf(waiting, "period goes", "periods go")} out, the oldest first.`
          : "It is pushed to again.",
      ),
  });
  const disable = useSend("POST /sites/:site/webhooks/:webhook/disable", {
    onDone: () => told("It is disabled. Its periods wait.", () => enable.mutate({ params })),
  });
  const remove = useSend("DELETE /sites/:site/webhooks/:webhook", {
    onDone: () => {
      told("The webhook is removed.");
      onGone();
    },
  });
  const isDisabled = webhook.state === "disabled";
  return (
    <Stack gap="sm">
      {isDisabled && (
        <Alert variant="light" color="yellow" title="This webhook is disabled">
          <Group justify="space-between">
            {webhook.waiting > 0
              ? `${countOf(webhook.waiting, "period waits", "periods wait")} for it.`
              : "Its periods wait until it is enabled."}
            <Button
              size="xs"
              leftSection={<Play size={14} aria-hidden />}
              loading={enable.isPending}
              onClick={() => enable.mutate({ params })}
            >
              Enable
            </Button>
          </Group>
        </Alert>
      )}
      <TestPush site={site} webhook={webhook.id}>
        <ReplayPeriods site={site} webhook={webhook.id} />
        <AskButton
          label="Rotate secret"
          question="Rotate the secret?"
          consequence="A new secret is shown once and used at once. The old one is good for a day more: pushes are signed with both, so nothing is lost while you change over. A second rotation within the day ends the first secret."
          confirm="Rotate secret"
          danger={false}
          icon={<KeyRound size={15} aria-hidden />}
          onConfirm={() => rotate.mutateAsync({ params })}
          isBusy={rotate.isPending}
          error={rotate.error}
        />
        {!isDisabled && (
          <Button variant="default" loading={disable.isPending} onClick={() => disable.mutate({ params })}>
            Disable
          </Button>
        )}
        <AskButton
          label="Remove"
          question="Remove this webhook?"
          consequence={
            <>
              It gets no more pushes. What waits for it ({countOf(webhook.waiting, "period")}) is not sent,
              and its log goes.
            </>
          }
          confirm="Remove"
          icon={<Trash2 size={15} aria-hidden />}
          onConfirm={() => remove.mutateAsync({ params })}
          isBusy={remove.isPending}
          error={remove.error}
        />
      </TestPush>
      <Refused error={enable.error ?? disable.error} />
    </Stack>
  );
}
