// The first steps of a new site. The list disappears once all are done, and can be folded before.

import { Box, Button, Collapse, Group, Progress, Stack, Text, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, CircleCheck, CircleDashed } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { useSite } from "../../common/api/session.ts";
import { Code } from "../../common/values.tsx";
import { inboundCurl } from "../configuration/inbound/inboundCurl.ts";

type StepName = Answer<"GET /sites/:site/checklist">["steps"][number]["step"];

const texts: Record<StepName, { title: string; about: string; button: string; path: string }> = {
  domain: {
    title: "Domain",
    about: "Add the domain where people convert, and point it here.",
    button: "Domains",
    path: "configuration/domains",
  },
  tag: {
    title: "Tag",
    about: "Add one line to your pages so that ad clicks are remembered.",
    button: "Get the tag",
    path: "configuration/tag",
  },
  key: {
    title: "Inbound key",
    about: "Your server needs a key to send conversions. It is shown once.",
    button: "Inbound keys",
    path: "configuration/keys",
  },
  platform: {
    title: "Platform",
    about: "Connect the platforms that should receive conversions.",
    button: "Connect",
    path: "integrations",
  },
  conversion: {
    title: "First conversion",
    about: "Send one from your server. It appears below as soon as it arrives.",
    button: "Events",
    path: "events",
  },
};

export function Checklist({ site }: { site: string }) {
  const { data } = useApi("GET /sites/:site/checklist", { params: { site } }, { everyMs: pollInterval });
  const [isFolded, setFolded] = useLocalStorage({
    key: `cc.checklist.${site}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  if (!data || data.steps.every(({ done }) => done)) return null;
  const done = data.steps.filter((one) => one.done).length;
  return (
    <Card
      title="First steps"
      about={`${done} of ${data.steps.length} done`}
      actions={
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={!isFolded}
          rightSection={isFolded ? <ChevronDown size={14} /> : <ChevronUp size={14} />}
          onClick={() => setFolded(!isFolded)}
        >
          {isFolded ? "Show" : "Hide"}
        </Button>
      }
    >
      <Progress
        value={(done / data.steps.length) * 100}
        size={4}
        aria-label={`First steps: ${done} of ${data.steps.length} done`}
      />
      <Collapse expanded={!isFolded}>
        <Stack gap={0} mt="xs" component="ol" m={0} p={0} style={{ listStyle: "none" }}>
          {data.steps.map((step) => (
            <ChecklistStep key={step.step} site={site} {...step} />
          ))}
        </Stack>
      </Collapse>
    </Card>
  );
}

const pollInterval = (answer: Answer<"GET /sites/:site/checklist"> | undefined) =>
  answer?.steps.every(({ done }) => done) ? false : 15_000;

function ChecklistStep({
  site,
  step,
  done,
  detail,
}: {
  site: string;
  step: StepName;
  done: boolean;
  detail: string | null;
}) {
  const { title, about, button, path } = texts[step];
  const Icon = done ? CircleCheck : CircleDashed;
  return (
    <Box component="li" className="cc-todo">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Icon
          size={18}
          aria-hidden
          style={{ flex: "none", marginTop: 1, color: done ? "var(--cc-good)" : "var(--cc-quiet)" }}
        />
        <Group justify="space-between" gap="sm" style={{ flex: 1, minWidth: 0 }} wrap="nowrap">
          <div style={{ minWidth: 0 }}>
            <Title order={3}>
              {title}{" "}
              <Text span size="xs" c="dimmed">
                {done ? "done" : "to do"}
              </Text>
            </Title>
            <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {detail ?? (done ? "" : about)}
            </Text>
          </div>
          {!done && (
            <Button
              component={Link}
              to={`/sites/${site}/${path}`}
              variant="light"
              size="compact-sm"
              style={{ flex: "none" }}
            >
              {button}
            </Button>
          )}
        </Group>
      </Group>
      {step === "conversion" && !done && <FirstCurl />}
    </Box>
  );
}

/** The command works once the key is filled in. */
function FirstCurl() {
  const site = useSite();
  const host = site?.hosts.find((one) => one !== "localhost" && one === location.hostname);
  const origin = host ? `https://${host}` : location.origin;
  return (
    <Box mt="xs" ml={30}>
      <Code label="First conversion">{inboundCurl(`${origin}/__cc/inbound`, "cc_…")}</Code>
    </Box>
  );
}
