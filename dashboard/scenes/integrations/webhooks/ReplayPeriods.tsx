// Pushes closed periods again, for a receiver that lost its data.

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../../common/api/query.ts";
import { useSite } from "../../../common/api/session.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
import { dayOf, startOfDay } from "../../../common/format/days.ts";

import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { webhooksText } from "../../../messages/webhooks.ts";
import { commonText } from "../../../messages/common.ts";

export function ReplayPeriods({ site, webhook }: { site: string; webhook: string }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" leftSection={<RotateCw size={15} aria-hidden />} onClick={open}>
        {webhooksText.replay.open}
      </Button>
      <Modal opened={isOpen} onClose={close} title={webhooksText.replay.title}>
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
          ? webhooksText.replay.none
          : isDisabled
            ? webhooksText.replay.waiting(periods)
            : webhooksText.replay.done(periods),
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
        <Text size="sm">{webhooksText.replay.about}</Text>
        <Group grow align="flex-start">
          <TextInput
            type="date"
            label={commonText.timeFilter.from}
            value={from}
            onChange={({ currentTarget }) => setFrom(currentTarget.value)}
            error={fieldError(replay.error, "from")}
          />
          <TextInput
            type="date"
            label={commonText.timeFilter.until}
            value={to}
            onChange={({ currentTarget }) => setTo(currentTarget.value)}
            error={fieldError(replay.error, "to")}
          />
        </Group>
        <RequestError error={otherError(replay.error, "from", "to")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={replay.isPending} disabled={!isReady}>
            {webhooksText.replay.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
