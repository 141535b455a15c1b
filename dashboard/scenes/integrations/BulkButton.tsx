// Sends a whole filtered set again, or stops it from being sent. It first asks the relay what would happen.

import { Alert, Button, Group, List, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Ban, Info, RotateCw } from "lucide-react";
import type { Answer, ApiError } from "../../common/api.ts";
import { told } from "../../common/notices.tsx";
import { useApi, useSend } from "../../common/query.ts";
import { Refused } from "../../common/states.tsx";
import type { LogFilter } from "./log.ts";
import { countOf } from "./parts.tsx";

type Tally = Answer<"POST /sites/:site/deliveries/replay">;
const deliveries = (n: number) => countOf(n, "delivery", "deliveries");

const works = {
  replay: {
    route: "POST /sites/:site/deliveries/replay",
    label: "Replay…",
    icon: RotateCw,
    title: "Replay deliveries?",
    counted: (n: number) => `Replay ${deliveries(n)}?`,
    nothing: "Nothing here would be replayed.",
    confirm: "Replay",
    keep: "Cancel",
    done: (n: number) => `Replayed: ${deliveries(n)} ${n === 1 ? "is" : "are"} in line again.`,
    about:
      "Each carries the event id that it had, so platforms can tell that it is the same. Those that were sent go again only when the filter says the state sent.",
  },
  cancel: {
    route: "POST /sites/:site/deliveries/cancel",
    label: "Cancel…",
    icon: Ban,
    title: "Cancel deliveries?",
    counted: (n: number) => `Cancel ${deliveries(n)}?`,
    nothing: "Nothing here waits to be sent.",
    confirm: "Cancel deliveries",
    keep: "Keep them",
    done: (n: number) => `Cancelled: ${deliveries(n)} ${n === 1 ? "is" : "are"} not sent.`,
    about: "Only what is queued or parked can be cancelled. It is then skipped, and can be replayed later.",
  },
} as const;

export function BulkButton({
  site,
  filter,
  work,
}: {
  site: string;
  filter: LogFilter;
  work: keyof typeof works;
}) {
  const [isOpen, { open, close }] = useDisclosure();
  const { label, icon: Icon, title, counted, route } = works[work];
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
      <Modal opened={isOpen} onClose={close} title={n > 0 ? counted(n) : title}>
        {!hasFilter ? (
          <Alert variant="light" color="gray" icon={<Info size={18} />}>
            Choose a filter first: a platform, a state, an event or a time. It says which deliveries are
            meant.
          </Alert>
        ) : (
          <Question site={site} filter={filter} work={work} forecast={forecast} onClose={close} />
        )}
      </Modal>
    </>
  );
}

function Question({
  site,
  filter,
  work,
  forecast,
  onClose,
}: {
  site: string;
  filter: LogFilter;
  work: keyof typeof works;
  forecast: { data: Tally | undefined; error: ApiError | null };
  onClose: () => void;
}) {
  const { route, nothing, confirm, keep, done, about } = works[work];
  const send = useSend(route, {
    onDone: ({ changed }) => {
      told(done(changed));
      onClose();
    },
  });
  if (forecast.error) return <Refused error={forecast.error} />;
  if (!forecast.data) return <Skeleton height={96} aria-label="Counting" role="status" />;
  const { changed } = forecast.data;
  return (
    <Stack>
      <Stack gap="xs" aria-live="polite">
        {changed === 0 && <Text fw={500}>{nothing}</Text>}
        <Rest tally={forecast.data} />
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      </Stack>
      <Refused error={send.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {changed > 0 ? keep : "Close"}
        </Button>
        {changed > 0 && (
          <Button
            {...(work === "cancel" ? { color: "red" } : {})}
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

/** What stays as it is and why, and what waits on because of its connection. */
function Rest({ tally: { leftAlone, waiting } }: { tally: Tally }) {
  const lines = [
    ...Object.entries(waiting).map(
      ([state, n]) =>
        `${n.toLocaleString("en")} of them ${n === 1 ? "waits" : "wait"} on: the connection ${state === "paused" ? "is paused" : state}.`,
    ),
    ...Object.entries(leftAlone).map(
      ([reason, n]) => `${deliveries(n)} ${n === 1 ? "is" : "are"} left alone: ${reason}.`,
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
