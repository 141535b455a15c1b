// Pushes closed periods again, for a receiver that lost its data.

import { Group, Text, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../../common/FormDialog.tsx";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../../common/api/query.ts";
import { useSite } from "../../../common/api/session.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
import { dayOf, startOfDay } from "../../../common/format/days.ts";

import { notify } from "../../../common/notices.tsx";
import { webhooksText } from "../../../messages/webhooks.ts";
import { commonText } from "../../../messages/common.ts";

export function ReplayPeriods({ site, webhook }: { site: string; webhook: string }) {
  return (
    <FormButton
      label={webhooksText.replay.open}
      title={webhooksText.replay.title}
      leftSection={<RotateCw size={15} aria-hidden />}
      variant="default"
    >
      {(close) => <Days site={site} webhook={webhook} onClose={close} />}
    </FormButton>
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
    <DialogForm
      submit={webhooksText.replay.submit}
      onSubmit={() => {
        if (!isReady) return;
        replay.mutate({
          params: { site, webhook },
          body: { from: startOfDay(from, timeZone), to: startOfDay(to, timeZone, 1) },
        });
      }}
      onClose={onClose}
      isBusy={replay.isPending}
      error={otherError(replay.error, "from", "to")}
      noValidate

      disabled={!isReady}
    >
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
    </DialogForm>
  );
}
