// Sends a test event in the platform's own test mode and shows the response.

import { Alert, Autocomplete, Button, Group, Stack, Text } from "@mantine/core";
import { CircleAlert, CircleCheck, CircleSlash, Clock, KeyRound, Send, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { durationText } from "../../../common/format/format.ts";
import { RequestError } from "../../../common/states.tsx";
import { Code } from "../../../common/values.tsx";
import { withFullStop, type Platform } from "../connections.tsx";
import { useSeenEvents } from "./EventsForm.tsx";
import type { Editor } from "./editor.ts";

type Outcome = Answer<"POST /sites/:site/connections/:connection/test">;

export function TestEvent({ editor }: { editor: Editor }) {
  const { site, platform, connection, draft, mayChange } = editor;
  const seen = useSeenEvents(site);
  const [name, setName] = useState("purchase");
  const test = useSend("POST /sites/:site/connections/:connection/test");
  if (!connection)
    return (
      <Card title="Test event">
        <Text size="sm" c="dimmed">
          Connect {platform.name} first. The preview shows what it would get.
        </Text>
      </Card>
    );
  return (
    <Card
      title="Test event"
      about={
        platform.guide?.testMode ??
        "Sends a sample event. It is never counted and does not affect real conversions."
      }
    >
      <Stack gap="md">
        {draft.isChanged && (
          <Text size="sm" c="var(--cc-warn)">
            The test uses the saved settings, without your unsaved changes.
          </Text>
        )}
        {mayChange ? (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              test.mutate({
                params: { site, connection: connection.id },
                body: { name: name.trim() || "purchase" },
              });
            }}
          >
            <Group gap="xs" align="flex-end">
              <Autocomplete
                label="Event name"
                value={name}
                onChange={setName}
                data={[...new Set([...seen, "purchase", "lead", "sign_up"])]}
                style={{ flex: 1, minWidth: 160, maxWidth: 320 }}
              />
              <Button type="submit" loading={test.isPending} leftSection={<Send size={15} aria-hidden />}>
                Send test event
              </Button>
            </Group>
          </form>
        ) : (
          <Text size="sm" c="dimmed">
            Only admins can send test events.
          </Text>
        )}
        <RequestError error={test.error} />
        <div aria-live="polite">{test.data && <TestResult platform={platform} outcome={test.data} />}</div>
      </Stack>
    </Card>
  );
}

type Summary = { icon: LucideIcon; colour: string; title: string; text: string | null };

function summarize({ name }: Platform, { skipped, outcome, error }: Outcome): Summary {
  if (skipped !== null)
    return { icon: CircleSlash, colour: "gray", title: "Not sent: it would be skipped", text: skipped };
  switch (outcome) {
    case "accepted":
      return { icon: CircleCheck, colour: "green", title: `${name} accepted it`, text: null };
    case "rejected":
      return { icon: CircleAlert, colour: "red", title: `${name} rejected it`, text: error };
    case "unauthorized":
      return {
        icon: KeyRound,
        colour: "red",
        title: `${name} did not accept the credentials`,
        text: [error && withFullStop(error), "Sign in again, or enter a new token under Connection."]
          .filter(Boolean)
          .join(" "),
      };
    case "retry":
    case null:
      return {
        icon: Clock,
        colour: "yellow",
        title: `${name} is temporarily unavailable`,
        text: [error && withFullStop(error), "A real conversion would be retried automatically."]
          .filter(Boolean)
          .join(" "),
      };
  }
}

function TestResult({ platform, outcome }: { platform: Platform; outcome: Outcome }) {
  const { icon: Icon, colour, title, text } = summarize(platform, outcome);
  const facts = [
    outcome.httpStatus === null ? null : `HTTP ${outcome.httpStatus}`,
    outcome.skipped === null ? durationText(outcome.durationMs) : null,
  ].filter(Boolean);
  return (
    <Stack gap="sm">
      <Alert variant="light" color={colour} icon={<Icon size={18} />} title={title}>
        {text && <Text size="sm">{text}</Text>}
        {facts.length > 0 && (
          <Text size="sm" className="cc-number">
            {facts.join(" · ")}
          </Text>
        )}
      </Alert>
      {outcome.response !== null && (
        <div>
          <Text size="sm" fw={500} mb={4}>
            {platform.name}'s answer
          </Text>
          <Code label="Response">{pretty(outcome.response)}</Code>
        </div>
      )}
      {outcome.request !== null && (
        <div>
          <Text size="sm" fw={500} mb={4}>
            What was sent
          </Text>
          <Code label="Request">{pretty(outcome.request)}</Code>
        </div>
      )}
    </Stack>
  );
}

/** Indents JSON; returns any other text unchanged. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
