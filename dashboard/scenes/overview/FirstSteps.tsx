// The first steps of a new site, which can be folded.

import { Box, Button, Collapse, Group, Progress, Text, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, CircleCheck, CircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useMay } from "../../common/api/session.ts";
import { stateWord } from "../../common/values.tsx";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";
import { sitesText } from "../../messages/sites.ts";

type Step = Answer<"GET /sites/:site/checklist">["steps"][number];

const paths: Record<Step["step"], string> = {
  domain: "configuration/domains",
  tag: "configuration/tag",
  key: "configuration/keys",
  platform: "integrations",
  conversion: "first-conversion",
};

export default function FirstSteps({ site, steps }: { site: string; steps: readonly Step[] }) {
  const [isFolded, setFolded] = useLocalStorage({
    key: `cc.checklist.${site}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const done = steps.filter((one) => one.done);
  const mayChange = useMay("admin", site);
  return (
    <Card
      title={sitesText.checklist.title}
      about={sitesText.checklist.progress(done.length, steps.length)}
      actions={
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={!isFolded}
          rightSection={isFolded ? <ChevronDown size={14} /> : <ChevronUp size={14} />}
          onClick={() => setFolded(!isFolded)}
        >
          {isFolded ? sitesText.checklist.show : sitesText.checklist.hide}
        </Button>
      }
    >
      <Progress
        value={(done.length / steps.length) * 100}
        size={4}
        aria-label={sitesText.checklist.progressLabel(done.length, steps.length)}
      />
      <Collapse expanded={!isFolded}>
        {!mayChange && (
          <Text size="sm" c="dimmed" mt="sm">
            {commonText.adminsOnly}
          </Text>
        )}
        <Box component="ol" mt="xs" mb={0} mx={0} p={0} className="cc-list cc-lines">
          {steps.map((step) => !step.done && <ToDo key={step.step} site={site} mayChange={mayChange} {...step} />)}
          {done.length > 0 && (
            <StepLine icon={<CircleCheck size={18} aria-hidden color="var(--cc-good)" />}>
              <Text size="sm">
                {done.map(({ step }) => sitesText.checklist.steps[step].title).join(", ")}{" "}
                <Text span size="xs" c="dimmed">
                  {sitesText.checklist.done}
                </Text>
              </Text>
            </StepLine>
          )}
        </Box>
      </Collapse>
    </Card>
  );
}

function StepLine({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <Group component="li" py="sm" gap="sm" wrap="nowrap" align="flex-start">
      <Box flex="none" lh={0} pt={1}>
        {icon}
      </Box>
      <Box flex={1} miw={0}>
        {children}
      </Box>
    </Group>
  );
}

/** "www.example.com: unverified, …" with the words that the page of the domains has. */
const hostsText = (detail: string) =>
  serverText(detail).replace(/: (\w+)(?=,|$)/g, (_, state: string) => `: ${stateWord(state)}`);

function ToDo({ site, mayChange, step, detail }: { site: string; mayChange: boolean } & Step) {
  const { title, about, button } = sitesText.checklist.steps[step];
  return (
    <StepLine icon={<CircleDashed size={18} aria-hidden color="var(--cc-quiet)" />}>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Title order={3}>
            {title}{" "}
            <Text span size="xs" c="dimmed">
              {sitesText.checklist.toDo}
            </Text>
          </Title>
          <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {detail === null ? about : step === "domain" ? hostsText(detail) : serverText(detail)}
          </Text>
        </div>
        {mayChange && (
          <Button
            component={Link}
            to={`/sites/${site}/${paths[step]}`}
            variant="light"
            size="compact-sm"
            style={{ flex: "none" }}
          >
            {button}
          </Button>
        )}
      </Group>
      {step === "conversion" && <FirstSource site={site} mayChange={mayChange} />}
    </StepLine>
  );
}

/** Most customers have a system that can send conversions without any code. */
function FirstSource({ site, mayChange }: { site: string; mayChange: boolean }) {
  return (
    <Group mt="xs" gap="sm" justify="space-between" wrap="nowrap">
      <Text size="sm">{sitesText.checklist.sources}</Text>
      {mayChange && (
        <Button component={Link} to={`/sites/${site}/sources`} variant="light" size="compact-sm" style={{ flex: "none" }}>
          {sitesText.checklist.addSource}
        </Button>
      )}
    </Group>
  );
}
