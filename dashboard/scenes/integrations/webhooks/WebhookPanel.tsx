// One webhook in a drawer: state, actions and log of pushes.

import { Alert, Button, Divider, Group, SimpleGrid, Stack, Title, Text } from "@mantine/core";
import { KeyRound, Play, Trash2 } from "lucide-react";
import { SidePanel } from "../../../common/SidePanel.tsx";
import { urlOf, type Answer } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { countText, counted } from "../../../common/format/format.ts";
import { CsvButton } from "../../../common/lists/CsvButton.tsx";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { Id, Time, State } from "../../../common/values.tsx";
import { Fact } from "../connections.tsx";
import { PushLog } from "./PushLog.tsx";
import { ReplayPeriods } from "./ReplayPeriods.tsx";
import { TestPush } from "./TestPush.tsx";

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
            <Time at={webhook.nextPushAt} none="–" />
          </Fact>
          <Fact label="Periods waiting">{countText(webhook.waiting)}</Fact>
          <Fact label="Last push">
            <Time at={webhook.lastPushAt} />
          </Fact>
          <Fact label="Empty periods">{webhook.sendEmpty ? "pushed" : "not pushed"}</Fact>
          <Fact label="Added">
            <Time at={webhook.createdAt} />
          </Fact>
          <Fact label="Id">
            <Id value={webhook.id} />
          </Fact>
        </SimpleGrid>
        {mayChange && <Actions site={site} webhook={webhook} onSecret={onSecret} onDeleted={onClose} />}
        <Divider />
        <Stack gap="xs">
          <Group justify="space-between">
            <Title order={3}>Pushes</Title>
            <CsvButton
              href={urlOf("GET /sites/:site/webhooks/:webhook/pushes.csv", {
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
    onDone: ({ waiting }) =>
      notify(
        waiting > 0
          ? `Webhook enabled. ${counted(waiting, "period is", "periods are")} pushed now, oldest first.`
          : "Webhook enabled.",
      ),
  });
  const disable = useSend("POST /sites/:site/webhooks/:webhook/disable", {
    onDone: () => notify("Webhook disabled. Its periods wait.", () => enable.mutate({ params })),
  });
  const remove = useSend("DELETE /sites/:site/webhooks/:webhook", {
    onDone: () => {
      notify("Webhook deleted.");
      onDeleted();
    },
  });
  const isDisabled = webhook.state === "disabled";
  return (
    <Stack gap="sm">
      {isDisabled && (
        <Alert variant="light" color="yellow" title="This webhook is disabled">
          <Group justify="space-between">
            {webhook.waiting > 0
              ? `${counted(webhook.waiting, "period is", "periods are")} waiting.`
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
        <ConfirmButton
          label="Rotate secret"
          question="Rotate the secret?"
          consequence="The new secret is shown once and used immediately. The old one stays valid for 24 hours: pushes are signed with both, so that your receiver can switch. A second rotation within that time ends the oldest secret."
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
        <ConfirmButton
          label="Delete"
          question="Delete this webhook?"
          consequence={
            <>
              It receives no more pushes. Its queue ({counted(webhook.waiting, "period")}) and its log are
              deleted.
            </>
          }
          confirm="Delete"
          icon={<Trash2 size={15} aria-hidden />}
          onConfirm={() => remove.mutateAsync({ params })}
          isBusy={remove.isPending}
          error={remove.error}
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
          since <Time at={failingSince} />
        </Text>
      )}
      {stateReason && (
        <Text size="xs" c="dimmed" maw={280}>
          {stateReason}
        </Text>
      )}
    </Stack>
  );
}
