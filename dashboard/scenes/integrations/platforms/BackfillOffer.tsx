// Asks after a platform was connected if the conversions of the last days are sent too, and says first how many there are.

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { Form } from "../../../common/Form.tsx";
import { History } from "lucide-react";
import { useState } from "react";
import { defaultBackfillPace, maxBackfillDays } from "../../../../src/kernel/backfill.ts";
import { useSend } from "../../../common/api/query.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import type { Platform } from "../connections.tsx";
import { CountField, Counted, defaultDays } from "./Backfill.tsx";
import { integrationsText } from "../../../messages/integrations.ts";

/** Counts for a connection that was just made, and opens the dialog if there is something to send. */
export function useBackfillOffer(site: string, platform: Platform) {
  const [offeredTo, setOfferedTo] = useState<string | null>(null);
  const [days, setDays] = useState(defaultDays(platform));
  const count = useSend("POST /sites/:site/connections/:connection/backfill/count");
  const countFor = (connection: string, onCounted: () => void = () => {}) =>
    count.mutate(
      { params: { site, connection }, body: { days } },
      { onSuccess: ({ sendable, isComplete }) => (sendable > 0 || !isComplete ? onCounted() : undefined) },
    );
  return {
    site,
    platform,
    connection: offeredTo,
    days,
    count,
    setDays: (wanted: number) => {
      setDays(wanted);
      count.reset();
    },
    recount: () => offeredTo !== null && countFor(offeredTo),
    offer: (connection: string) => countFor(connection, () => setOfferedTo(connection)),
    close: () => setOfferedTo(null),
  };
}

export function BackfillOffer({ offer }: { offer: ReturnType<typeof useBackfillOffer> }) {
  const { site, platform, connection, days, count, close } = offer;
  const start = useSend("POST /sites/:site/connections/:connection/backfill", {
    onDone: () => {
      close();
      notify(integrationsText.backfill.started);
    },
  });
  const canStart = count.data !== undefined && (count.data.sendable > 0 || !count.data.isComplete);
  return (
    <Modal opened={connection !== null} onClose={close} title={integrationsText.backfill.offer}>
      <Form
        onSubmit={() => {
          if (!canStart) offer.recount();
          else if (connection !== null)
            start.mutate({ params: { site, connection }, body: { days, perMinute: defaultBackfillPace } });
        }}
      >
        <Stack>
          <Text size="sm">{integrationsText.backfill.aboutOffer(platform.name)}</Text>
          <CountField label={integrationsText.backfill.days} max={maxBackfillDays} value={days} onChange={offer.setDays} />
          <div aria-live="polite">{count.data && <Counted count={count.data} />}</div>
          <RequestError error={count.error ?? start.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {integrationsText.backfill.notNow}
            </Button>
            {canStart ? (
              <Button type="submit" leftSection={<History size={15} aria-hidden />} loading={start.isPending}>
                {count.data?.isComplete ? integrationsText.backfill.send(count.data.sendable) : integrationsText.backfill.sendAll}
              </Button>
            ) : (
              <Button type="submit" loading={count.isPending}>
                {integrationsText.backfill.count}
              </Button>
            )}
          </Group>
        </Stack>
      </Form>
    </Modal>
  );
}
