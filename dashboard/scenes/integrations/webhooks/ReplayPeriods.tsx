// Pushes closed periods again, for a receiver that lost its data.

import { Group, Text, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../../common/FormDialog.tsx";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { send } from "../../../common/api/query.ts";
import { useSite } from "../../../common/api/session.ts";
import { useForm } from "../../../common/forms/useForm.ts";
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
  const [today] = useState(() => dayOf(Date.now(), timeZone));
  const form = useForm({
    values: { from: today, to: today },
    save: ({ from, to }) =>
      send("POST /sites/:site/webhooks/:webhook/replay", {
        params: { site, webhook },
        body: { from: startOfDay(from, timeZone), to: startOfDay(to, timeZone, 1) },
      }),
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
  return (
    <DialogForm form={form} submit={webhooksText.replay.submit} onClose={onClose}>
      <Text size="sm">{webhooksText.replay.about}</Text>
      <Group grow align="flex-start">
        <TextInput {...form.text("from")} type="date" label={commonText.timeFilter.from} required withAsterisk={false} />
        <TextInput {...form.text("to")} type="date" label={commonText.timeFilter.until} required withAsterisk={false} />
      </Group>
    </DialogForm>
  );
}
