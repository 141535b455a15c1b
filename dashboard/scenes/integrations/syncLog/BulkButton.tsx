// Replays or cancels all deliveries of a filter, after a dry run.

import { Alert, Button, Group, List, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Ban, Info, RotateCw } from "lucide-react";
import type { Answer, ApiError } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { counted } from "../../../common/format/format.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import type { LogFilter } from "./LogFilters.tsx";

type Tally = Answer<"POST /sites/:site/deliveries/replay">;
const deliveries = (n: number) => counted(n, "delivery", "deliveries");

const actions = {
  replay: {
    route: "POST /sites/:site/deliveries/replay",
    label: "Replay…",
    icon: RotateCw,
    title: "Replay deliveries?",
    titleWithCount: (n: number) => `Replay ${deliveries(n)}?`,
    nothing: "No delivery can be replayed.",
    confirm: "Replay",
    keep: "Cancel",
    done: (n: number) => `Replayed: ${deliveries(n)} ${n === 1 ? "is" : "are"} queued again.`,
    about:
      "Each keeps its platform event id, so that platforms can recognise duplicates. Deliveries in the state sent are replayed only when you filter by that state.",
  },
  cancel: {
    route: "POST /sites/:site/deliveries/cancel",
    label: "Cancel…",
    icon: Ban,
    title: "Cancel deliveries?",
    titleWithCount: (n: number) => `Cancel ${deliveries(n)}?`,
    nothing: "No delivery is waiting to be sent.",
    confirm: "Cancel deliveries",
    keep: "Keep them",
    done: (n: number) => `Cancelled: ${deliveries(n)} ${n === 1 ? "is" : "are"} not sent.`,
    about:
      "Only queued and parked deliveries can be cancelled. They are then skipped, and can be replayed later.",
  },
} as const;

export function BulkButton({
  site,
  filter,
  action,
}: {
  site: string;
  filter: LogFilter;
  action: keyof typeof actions;
}) {
  const [isOpen, { open, close }] = useDisclosure();
  const { label, icon: Icon, title, titleWithCount, route } = actions[action];
  const hasFilter = Object.keys(filter).length > 0;
  const forecast = useApi(
    route,
    { params: { site }, body: { ...filter, dryRun: true } },
    { enabled: isOpen && hasFilter },
  );
  const n = hasFilter ? (forecast.data?.changed ?? 0) : 0;
  return (
    <>
      <Button variant="default" leftSection={<Icon size={15} aria-hidden />} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={n > 0 ? titleWithCount(n) : title}>
        {!hasFilter ? (
          <Alert variant="light" color="gray" icon={<Info size={18} />}>
            Choose a filter first: a platform, a state, an event or a period.
          </Alert>
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
  filter: LogFilter;
  action: keyof typeof actions;
  forecast: { data: Tally | undefined; error: ApiError | null };
  onClose: () => void;
}) {
  const { route, nothing, confirm, keep, done, about } = actions[action];
  const send = useSend(route, {
    onDone: ({ changed }) => {
      notify(done(changed));
      onClose();
    },
  });
  if (forecast.error) return <RequestError error={forecast.error} />;
  if (!forecast.data) return <Skeleton height={96} aria-label="Counting" role="status" />;
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
          {changed > 0 ? keep : "Close"}
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
    ...Object.entries(waiting).map(
      ([state, n]) =>
        `${n.toLocaleString("en")} of them ${n === 1 ? "waits" : "wait"}: the connection ${state === "paused" ? "is paused" : state}.`,
    ),
    ...Object.entries(leftAlone).map(
      ([reason, n]) => `${deliveries(n)} ${n === 1 ? "is" : "are"} left unchanged: ${reason}.`,
    ),
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
