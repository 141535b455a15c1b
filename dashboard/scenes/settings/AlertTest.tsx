import { Button, Stack, Text } from "@mantine/core";
import { Send } from "lucide-react";
import { useSend } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { RequestError } from "../../common/states.tsx";
import { State } from "../../common/values.tsx";

/** Sends a test alert to the saved recipients and shows the results. */
export function AlertTest() {
  const site = useSiteId();
  const { mutate, data, error, isPending } = useSend("POST /sites/:site/alerts/test");
  return (
    <Stack gap="xs" mt="lg" align="flex-start">
      <Button
        variant="default"
        leftSection={<Send size={15} />}
        loading={isPending}
        onClick={() => mutate({ params: { site } })}
      >
        Send test alert
      </Button>
      <RequestError error={error} />
      <div role="status">
        {data?.channels.length === 0 && (
          <Text size="sm">No alert recipient is configured. Save one first.</Text>
        )}
        {data?.channels.map(({ channel, to, ok, error: fault }) => (
          <Text key={channel} size="sm" component="div">
            <State of={ok ? "sent" : "rejected"} word={ok ? "sent" : "failed"} /> {channel} to {to}
            {fault && `: ${fault}`}
          </Text>
        ))}
      </div>
    </Stack>
  );
}
