// Pushes closed periods again, for a receiver that lost its data.

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../../common/api/query.ts";
import { useSite } from "../../../common/api/session.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
import { dayOf, startOfDay } from "../../../common/format/days.ts";
import { counted } from "../../../common/format/format.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";

export function ReplayPeriods({ site, webhook }: { site: string; webhook: string }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" leftSection={<RotateCw size={15} aria-hidden />} onClick={open}>
        Replay…
      </Button>
      <Modal opened={isOpen} onClose={close} title="Replay closed periods?">
        <Days site={site} webhook={webhook} onClose={close} />
      </Modal>
    </>
  );
}

function Days({ site, webhook, onClose }: { site: string; webhook: string; onClose: () => void }) {
  const timeZone = useSite()?.timeZone;
  const [from, setFrom] = useState(() => dayOf(Date.now(), timeZone));
  const [to, setTo] = useState(from);
  const replay = useSend("POST /sites/:site/webhooks/:webhook/replay", {
    onDone: ({ periods, isDisabled }) => {
      notify(
        periods === 0
          ? "No closed periods in these days."
          : isDisabled
            ? `${counted(periods, "period waits", "periods wait")} until the webhook is enabled.`
            : `${counted(periods, "period is", "periods are")} pushed again.`,
      );
      onClose();
    },
  });
  const isReady = from !== "" && to !== "";
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isReady) return;
        replay.mutate({
          params: { site, webhook },
          body: { from: startOfDay(from, timeZone), to: startOfDay(to, timeZone, 1) },
        });
      }}
    >
      <Stack>
        <Text size="sm">
          All closed periods of these days are pushed again, with the same ids and totals. A receiver that
          remembers the ids counts none twice.
        </Text>
        <Group grow align="flex-start">
          <TextInput
            type="date"
            label="From"
            value={from}
            onChange={({ currentTarget }) => setFrom(currentTarget.value)}
            error={fieldError(replay.error, "from")}
          />
          <TextInput
            type="date"
            label="Until (inclusive)"
            value={to}
            onChange={({ currentTarget }) => setTo(currentTarget.value)}
            error={fieldError(replay.error, "to")}
          />
        </Group>
        <RequestError error={otherError(replay.error, "from", "to")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={replay.isPending} disabled={!isReady}>
            Replay
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
