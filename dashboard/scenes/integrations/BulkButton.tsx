// Sends a whole filtered set again, or stops it from being sent. It first asks the relay what would happen.

import { Alert, Button, Group, List, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Ban, Info, RotateCw } from "lucide-react";
import type { Answer } from "../../common/api.ts";
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
    title: "Send deliveries again",
    what: (n: number) => `${deliveries(n)} will be sent again.`,
    nothing: "Nothing here would be sent again.",
    confirm: (n: number) => `Send ${deliveries(n)} again`,
    done: (n: number) => `${deliveries(n)} ${n === 1 ? "is" : "are"} in line again.`,
    about:
      "Each carries the event id that it had, so platforms can tell that it is the same. Those that were sent go again only when the filter says the state sent.",
  },
  cancel: {
    route: "POST /sites/:site/deliveries/cancel",
    label: "Cancel…",
    icon: Ban,
    title: "Stop deliveries",
    what: (n: number) => `${deliveries(n)} will not be sent.`,
    nothing: "Nothing here waits to be sent.",
    confirm: (n: number) => `Stop ${deliveries(n)}`,
    done: (n: number) => `${deliveries(n)} ${n === 1 ? "is" : "are"} stopped.`,
    about: "Only what is queued or parked can be stopped. It is then skipped, and can be replayed later.",
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
  const { label, icon: Icon, title } = works[work];
  return (
    <>
      <Button variant="default" leftSection={<Icon size={15} aria-hidden />} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title}>
        {Object.keys(filter).length === 0 ? (
          <Alert variant="light" color="gray" icon={<Info size={18} />}>
            Choose a filter first: a platform, a state, an event or a time. It says which deliveries are
            meant.
          </Alert>
        ) : (
          <Question site={site} filter={filter} work={work} onClose={close} />
        )}
      </Modal>
    </>
  );
}

function Question({
  site,
  filter,
  work,
  onClose,
}: {
  site: string;
  filter: LogFilter;
  work: keyof typeof works;
  onClose: () => void;
}) {
  const { route, what, nothing, confirm, done, about } = works[work];
  const forecast = useApi(route, { params: { site }, body: { ...filter, dryRun: true } });
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
        <Text fw={500}>{changed > 0 ? what(changed) : nothing}</Text>
        <Rest tally={forecast.data} />
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      </Stack>
      <Refused error={send.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {changed > 0 ? "Back" : "Close"}
        </Button>
        {changed > 0 && (
          <Button
            {...(work === "cancel" ? { color: "red" } : {})}
            loading={send.isPending}
            onClick={() => send.mutate({ params: { site }, body: { ...filter, dryRun: false } })}
          >
            {confirm(changed)}
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
        `${deliveries(n)} of them ${n === 1 ? "waits" : "wait"} on: the connection ${state === "paused" ? "is paused" : state}.`,
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
