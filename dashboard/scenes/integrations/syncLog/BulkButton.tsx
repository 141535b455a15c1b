// Replays or cancels all deliveries of a filter, after a dry run.

import { Button, Group, List, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { DeliveryState } from "../../../../src/kernel/event.ts";
import { Ban, RotateCw } from "lucide-react";
import type { Answer, ApiError, Input } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useLinkedDialog } from "../../../common/linkedDialog.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { integrationsText } from "../../../messages/integrations.ts";
import { commonText } from "../../../messages/common.ts";
import { serverText } from "../../../messages/server.ts";

type Filter = Omit<Input<"POST /sites/:site/deliveries/replay">["body"], "dryRun">;
type Tally = Answer<"POST /sites/:site/deliveries/replay">;
const actions = {
  replay: { route: "POST /sites/:site/deliveries/replay", icon: RotateCw, presets: ["rejected", "expired", "skipped"] },
  cancel: { route: "POST /sites/:site/deliveries/cancel", icon: Ban, presets: ["queued", "parked"] },
} as const;

export function BulkButton({
  site,
  filter: given,
  action,
  isLinked = false,
}: {
  site: string;
  filter: Filter;
  action: keyof typeof actions;
  /** A link to this page can open the dialog. */
  isLinked?: boolean;
}) {
  const linked = useLinkedDialog(action);
  const own = useDisclosure();
  const [isOpen, { open, close }] = isLinked ? linked : own;
  const { icon: Icon, route, presets } = actions[action];
  const { label, title, titleWithCount } = integrationsText.bulk[action];
  // The relay refuses to change all deliveries, also all of one mode. Without a filter the dialog offers some.
  const [chosen, setChosen] = useState<DeliveryState | null>(null);
  const filter: Filter = chosen === null ? given : { ...given, state: chosen };
  const hasFilter = Object.keys(filter).some((name) => name !== "unselected" && name !== "mode");
  const forecast = useApi(route, { params: { site }, body: { ...filter, dryRun: true } }, { enabled: isOpen && hasFilter });
  const n = hasFilter ? (forecast.data?.changed ?? 0) : 0;
  return (
    <>
      <Button variant="default" leftSection={<Icon size={15} aria-hidden />} onClick={open}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        onExitTransitionEnd={() => setChosen(null)}
        title={n > 0 ? titleWithCount(n) : title}
      >
        {!hasFilter ? (
          <Stack>
            <Text size="sm">{integrationsText.bulk.chooseFilter}</Text>
            <Group gap="xs">
              {presets.map((state) => (
                <Button key={state} variant="default" onClick={() => setChosen(state)}>
                  {integrationsText.bulk.all(commonText.states[state])}
                </Button>
              ))}
            </Group>
          </Stack>
        ) : (
          <Confirmation site={site} filter={filter} action={action} forecast={forecast} onClose={close} />
        )}
      </Modal>
    </>
  );
}

function Confirmation({
  site,
  filter,
  action,
  forecast,
  onClose,
}: {
  site: string;
  filter: Filter;
  action: keyof typeof actions;
  forecast: { data: Tally | undefined; error: ApiError | null };
  onClose: () => void;
}) {
  const { nothing, confirm, keep, done, about } = integrationsText.bulk[action];
  const send = useSend(actions[action].route, {
    onDone: ({ changed }) => {
      notify(done(changed));
      onClose();
    },
  });
  if (forecast.error) return <RequestError error={forecast.error} />;
  if (!forecast.data) return <Skeleton height={96} aria-label={integrationsText.bulk.counting} role="status" />;
  const { changed } = forecast.data;
  return (
    <Stack>
      <Stack gap="xs" aria-live="polite">
        {changed === 0 && <Text fw={500}>{nothing}</Text>}
        <Exceptions tally={forecast.data} />
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      </Stack>
      <RequestError error={send.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {changed > 0 ? keep : commonText.close}
        </Button>
        {changed > 0 && (
          <Button
            {...(action === "cancel" ? { color: "red" } : {})}
            loading={send.isPending}
            onClick={() => send.mutate({ params: { site }, body: { ...filter, dryRun: false } })}
          >
            {confirm}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** Lists deliveries that stay unchanged, and those that wait for their connection. */
function Exceptions({ tally: { leftAlone, waiting } }: { tally: Tally }) {
  const lines = [
    ...Object.entries(waiting).map(([state, count]) => integrationsText.bulk.waiting(count, serverText(state))),
    ...Object.entries(leftAlone).map(([reason, count]) => integrationsText.bulk.unchanged(count, serverText(reason))),
  ];
  if (lines.length === 0) return null;
  return (
    <List size="sm" spacing={4}>
      {lines.map((text) => (
        <List.Item key={text}>{text}</List.Item>
      ))}
    </List>
  );
}
