// Sends a test event in the platform's own test mode and shows the response.

import { Alert, Autocomplete, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { Form } from "../../../common/Form.tsx";
import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, CircleSlash, Clock, KeyRound, Send, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import { ApiError, type Answer } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { durationText } from "../../../common/format/times.ts";
import { fieldError, otherError } from "../../../common/forms/faults.ts";
import { RequestError } from "../../../common/states.tsx";
import { Code } from "../../../common/values.tsx";
import { withFullStop } from "../../../common/format/sentence.ts";
import type { Platform } from "../connections.tsx";
import { RepairButton } from "../RepairButton.tsx";
import { repairOf } from "../repairs.ts";
import { useSeenEvents } from "./events/EventsForm.tsx";
import type { Editor } from "./editor.ts";
import { resultsText } from "../../../messages/results.ts";
import { serverText } from "../../../messages/server.ts";

type Outcome = Answer<"POST /sites/:site/connections/:connection/test">;

export function TestEvent({ editor }: { editor: Editor }) {
  const { site, platform, connection, draft, mayChange } = editor;
  const seen = useSeenEvents(site);
  const [name, setName] = useState("purchase");
  const codeSetting = platform.settings.find(({ testCode }) => testCode);
  const savedCode = (codeSetting && connection?.settings[codeSetting.name]) ?? "";
  const [typed, setTyped] = useState<string | null>(null);
  const code = typed ?? savedCode;
  const test = useSend("POST /sites/:site/connections/:connection/test");
  const save = useSend("PATCH /sites/:site/connections/:connection");
  /** The code is part of the test: a new one is saved first. */
  const send = async (id: string) => {
    const params = { site, connection: id };
    test.reset();
    try {
      if (codeSetting && code.trim() !== savedCode) {
        await save.mutateAsync({
          params,
          body: { settings: { [codeSetting.name]: code.trim() }, verify: false },
        });
        setTyped(null);
      }
      await test.mutateAsync({ params, body: { name: name.trim() || "purchase" } });
    } catch (error) {
      // Both show their own refusals.
      if (!(error instanceof ApiError)) throw error;
    }
  };
  if (!connection)
    return (
      <Card title={resultsText.test.title}>
        <Text size="sm" c="dimmed">
          {resultsText.test.connectFirst(platform.name)}
        </Text>
      </Card>
    );
  return (
    <>
      <Card title={resultsText.test.title} about={platform.guide?.testMode ?? resultsText.test.about}>
        <Stack gap="md">
          {draft.isChanged && (
            <Text size="sm" c="var(--cc-warn)">
              {resultsText.test.usesSaved}
            </Text>
          )}
          {mayChange ? (
            <Form onSubmit={() => void send(connection.id)}>
              <Group gap="xs" align="flex-end">
                {codeSetting && (
                  <TextInput
                    label={codeSetting.label}
                    description={codeSetting.help}
                    value={code}
                    error={fieldError(save.error, codeSetting.name, `settings.${codeSetting.name}`)}
                    onChange={({ currentTarget }) => setTyped(currentTarget.value)}
                    autoComplete="off"
                    spellCheck={false}
                    style={{ flex: "1 1 100%", maxWidth: 520 }}
                  />
                )}
                <Autocomplete
                  label={resultsText.test.name}
                  value={name}
                  onChange={setName}
                  data={[...new Set([...seen, "purchase", "lead", "sign_up"])]}
                  style={{ flex: 1, minWidth: 160, maxWidth: 320 }}
                />
                <Button type="submit" loading={save.isPending || test.isPending} leftSection={<Send size={15} aria-hidden />}>
                  {code.trim() === savedCode ? resultsText.test.send : resultsText.test.saveAndSend}
                </Button>
              </Group>
            </Form>
          ) : (
            <Text size="sm" c="dimmed">
              {resultsText.test.adminsOnly}
            </Text>
          )}
          <RequestError
            error={test.error ?? (codeSetting ? otherError(save.error, codeSetting.name, `settings.${codeSetting.name}`) : null)}
          />
          <div aria-live="polite">
            {test.data && <TestResult site={site} platform={platform} connection={connection.id} outcome={test.data} />}
          </div>
        </Stack>
      </Card>
      <Card title={resultsText.test.log} about={resultsText.test.aboutLog(platform.name)}>
        <Group gap="xs">
          {mayChange && (
            <Button component={Link} to={`/sites/${site}/configuration/keys`} variant="default">
              {resultsText.test.createKey}
            </Button>
          )}
          <Button
            renderRoot={(props) => (
              <Link
                to={`/sites/${site}/integrations/${platform.id}`}
                search={{ connection: connection.id, tab: "log", mode: "test" }}
                {...props}
              />
            )}
            variant="default"
          >
            {resultsText.test.viewLog}
          </Button>
        </Group>
      </Card>
    </>
  );
}

type Summary = { icon: LucideIcon; colour: string; title: string; text: string | null };

function summarize({ name }: Platform, { skipped, outcome, error }: Outcome): Summary {
  if (skipped !== null)
    return {
      icon: CircleSlash,
      colour: "gray",
      title: resultsText.test.skipped,
      text: serverText(skipped),
    };
  switch (outcome) {
    case "accepted":
      return { icon: CircleCheck, colour: "green", title: resultsText.test.accepted(name), text: null };
    case "rejected":
      return {
        icon: CircleAlert,
        colour: "red",
        title: resultsText.test.rejected(name),
        text: error && serverText(error),
      };
    case "unauthorized":
      return {
        icon: KeyRound,
        colour: "red",
        title: resultsText.test.unauthorized(name),
        text: [error && withFullStop(serverText(error)), resultsText.test.signInAgain].filter(Boolean).join(" "),
      };
    case "retry":
    case null:
      return {
        icon: Clock,
        colour: "yellow",
        title: resultsText.test.unavailable(name),
        text: [error && withFullStop(serverText(error)), resultsText.test.retried].filter(Boolean).join(" "),
      };
  }
}

function TestResult({
  site,
  platform,
  connection,
  outcome,
}: {
  site: string;
  platform: Platform;
  connection: string;
  outcome: Outcome;
}) {
  const { icon: Icon, colour, title, text } = summarize(platform, outcome);
  const reason = outcome.outcome === "unauthorized" ? "needs reconnection" : (outcome.skipped ?? "");
  // The field for the code is on this page.
  const repair = repairOf(reason, { platform: platform.id, connection, name: platform.name });
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
        <RepairButton site={site} repair={repair?.search["tab"] === "test" ? null : repair} />
      </Alert>
      {outcome.response !== null && (
        <div>
          <Text size="sm" fw={500} mb={4}>
            {resultsText.test.answer(platform.name)}
          </Text>
          <Code label={resultsText.test.response}>{pretty(outcome.response)}</Code>
        </div>
      )}
      {outcome.request !== null && (
        <div>
          <Text size="sm" fw={500} mb={4}>
            {resultsText.test.sent}
          </Text>
          <Code label={resultsText.test.request}>{pretty(outcome.request)}</Code>
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
