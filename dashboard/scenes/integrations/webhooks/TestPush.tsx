// Sends a test push of the current period and shows the receiver's response.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { CircleAlert, CircleCheck, Send } from "lucide-react";
import type { ReactNode } from "react";
import { durationText } from "../../../common/format/format.ts";
import { useSend } from "../../../common/api/query.ts";
import { RequestError } from "../../../common/states.tsx";
import { Code } from "../../../common/values.tsx";

/** `children` are the other buttons of the row. */
export function TestPush({
  site,
  webhook,
  children,
}: {
  site: string;
  webhook: string;
  children: ReactNode;
}) {
  const test = useSend("POST /sites/:site/webhooks/:webhook/test");
  return (
    <>
      <Group gap="xs">
        <Button
          leftSection={<Send size={15} aria-hidden />}
          loading={test.isPending}
          onClick={() => test.mutate({ params: { site, webhook } })}
        >
          Send test
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
              title={test.data.ok ? "Test push delivered" : "Test push failed"}
            >
              {test.data.error && <Text size="sm">{test.data.error}</Text>}
              <Text size="sm" className="cc-number">
                {test.data.httpStatus === null ? "No response" : `HTTP ${test.data.httpStatus}`} ·{" "}
                {durationText(test.data.durationMs)}
              </Text>
            </Alert>
            <Text size="sm" fw={500}>
              What was sent
            </Text>
            <Code label="Body">{test.data.body}</Code>
            {test.data.response && (
              <>
                <Text size="sm" fw={500}>
                  Response
                </Text>
                <Code label="Response">{test.data.response}</Code>
              </>
            )}
            <Text size="xs" c="dimmed">
              A test push carries the totals of the current period and is not counted.
            </Text>
          </Stack>
        )}
      </div>
    </>
  );
}
