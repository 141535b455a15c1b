// The answer to "what became of it": for each platform one sentence, the evidence, and what to do.

import { Box, Group, List, Stack, Text, Title } from "@mantine/core";
import { CornerDownRight } from "lucide-react";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { eventsText } from "../../messages/events.ts";
import { serverText } from "../../messages/server.ts";
import type { EventTrace } from "./ReceivedSteps.tsx";

/** Asks again when the state of a delivery has changed. */
const stateOf = (trace: EventTrace) => trace.deliveries.map(({ state, updatedAt }) => `${state} ${updatedAt}`).join();

export function Why({ trace, site }: { trace: EventTrace; site: string }) {
  return <Answers key={stateOf(trace)} site={site} id={trace.id} />;
}

/** The platform has it. What needs attention comes first, and many that need none are folded. */
const isDelivered = (outcome: string) => /^(?:accepted|counted|unanswered)/.test(outcome);
/** More answers than these are folded, and their evidence. */
const maxOpen = 2;

type Answered = Answer<"GET /sites/:site/why">["answers"][number];

/** Nothing is shown while it loads: the steps below say the same in detail. */
function Answers({ site, id }: { site: string; id: string }) {
  const { data } = useApi("GET /sites/:site/why", { params: { site }, query: { id } });
  if (!data) return null;
  const delivered = data.answers.filter(({ outcome }) => isDelivered(outcome));
  const others = data.answers.filter(({ outcome }) => !isDelivered(outcome));
  const isOpen = data.answers.length <= maxOpen;
  return (
    <Box component="section" aria-labelledby="why" mb="lg">
      <Title order={3} id="why" mb="xs">
        {eventsText.why.title}
      </Title>
      <Stack gap="md">
        <OneByOne answers={others} isOpen={isOpen} />
        {delivered.length > maxOpen ? (
          <details>
            <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
              {eventsText.why.delivered(delivered.length)}
            </Text>
            <Stack gap="md" mt="sm" pl="md">
              <OneByOne answers={delivered} isOpen={false} />
            </Stack>
          </details>
        ) : (
          <OneByOne answers={delivered} isOpen={isOpen} />
        )}
      </Stack>
    </Box>
  );
}

const OneByOne = ({ answers, isOpen }: { answers: readonly Answered[]; isOpen: boolean }) =>
  answers.map(({ event, connection, answer, evidence, actions }) => (
    <div key={`${event?.id} ${connection}`}>
      <details open={isOpen}>
        <Text component="summary" size="sm" pl="md" style={{ overflowWrap: "anywhere", cursor: "pointer", textIndent: "-1rem" }}>
          {serverText(answer)}
        </Text>
        <List size="sm" c="dimmed" withPadding my={4} aria-label={eventsText.why.evidence}>
          {evidence.map((line) => (
            <List.Item key={line} style={{ overflowWrap: "anywhere" }}>
              {serverText(line)}
            </List.Item>
          ))}
        </List>
      </details>
      {actions.map((line) => (
        <Group key={line} gap={6} wrap="nowrap" align="flex-start" mt={2} pl="md">
          <CornerDownRight size={14} aria-hidden style={{ flex: "none", marginTop: 4 }} />
          <Text size="sm" c="dimmed">
            {serverText(line)}
          </Text>
        </Group>
      ))}
    </div>
  ));
