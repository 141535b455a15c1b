// Pushes closed periods again: for a receiver that lost what it had.

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { dayOf, startOfDay } from "../../common/days.ts";
import { told } from "../../common/notices.tsx";
import { faultAt, faultElse } from "../../common/fields.ts";
import { useSend } from "../../common/query.ts";
import { useSite } from "../../common/session.tsx";
import { Refused } from "../../common/states.tsx";
import { countOf } from "./parts.tsx";

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
      told(
        periods === 0
          ? "No closed period lies in that time."
          : isDisabled
            ? `${countOf(periods, "period waits", "periods wait")} until the webhook is enabled.`
            : `${countOf(periods, "period goes", "periods go")} out again.`,
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
          Every closed period of these days is sent again, under the id that it had and with the same numbers.
          A receiver that remembers ids counts none twice.
        </Text>
        <Group grow align="flex-start">
          <TextInput
            type="date"
            label="From"
            value={from}
            onChange={({ currentTarget }) => setFrom(currentTarget.value)}
            error={faultAt(replay.error, "from")}
          />
          <TextInput
            type="date"
            label="Until, with this day"
            value={to}
            onChange={({ currentTarget }) => setTo(currentTarget.value)}
            error={faultAt(replay.error, "to")}
          />
        </Group>
        <Refused error={faultElse(replay.error, "from", "to")} />
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
