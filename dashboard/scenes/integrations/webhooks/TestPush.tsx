// Sends a test push of the current period and shows the receiver's response.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { CircleAlert, CircleCheck, Send } from "lucide-react";
import type { ReactNode } from "react";
import { durationText } from "../../../common/format/times.ts";
import { useSend } from "../../../common/api/query.ts";
import { RequestError } from "../../../common/states.tsx";
import { Code } from "../../../common/values.tsx";
import { webhooksText } from "../../../messages/webhooks.ts";
import { serverText } from "../../../messages/server.ts";

/** `children` are the other buttons of the row. */
export function TestPush({ site, webhook, children }: { site: string; webhook: string; children: ReactNode }) {
  const test = useSend("POST /sites/:site/webhooks/:webhook/test");
  return (
    <>
      <Group gap="xs">
        <Button
          leftSection={<Send size={15} aria-hidden />}
          loading={test.isPending}
          onClick={() => test.mutate({ params: { site, webhook } })}
        >
          {webhooksText.test.send}
        </Button>
        {children}
      </Group>
      <RequestError error={test.error} />
      <div aria-live="polite">
        {test.data && (
          <Stack gap="xs">
            <Alert
              variant="light"
              color={test.data.ok ? "green" : "red"}
              icon={test.data.ok ? <CircleCheck size={18} /> : <CircleAlert size={18} />}
              title={test.data.ok ? webhooksText.test.delivered : webhooksText.test.failed}
            >
              {test.data.error && <Text size="sm">{serverText(test.data.error)}</Text>}
              <Text size="sm" className="cc-number">
                {test.data.httpStatus === null ? webhooksText.pushes.noResponse : `HTTP ${test.data.httpStatus}`} ·{" "}
                {durationText(test.data.durationMs)}
              </Text>
            </Alert>
            <Text size="sm" fw={500}>
              {webhooksText.test.sent}
            </Text>
            <Code label={webhooksText.test.body}>{test.data.body}</Code>
            {test.data.response && (
              <>
                <Text size="sm" fw={500}>
                  {webhooksText.pushes.response}
                </Text>
                <Code label={webhooksText.pushes.response}>{test.data.response}</Code>
              </>
            )}
            <Text size="xs" c="dimmed">
              {webhooksText.test.about}
            </Text>
          </Stack>
        )}
      </div>
    </>
  );
}
