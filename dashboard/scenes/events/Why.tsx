// The answer to "what became of it": for each platform one sentence, the evidence, and what to do.

import { Box, List, Stack, Text, Title } from "@mantine/core";
import { useApi } from "../../common/api/query.ts";
import { eventsText } from "../../messages/events.ts";
import { serverText } from "../../messages/server.ts";
import type { EventTrace } from "./ReceivedSteps.tsx";

/** Asks again when the state of a delivery has changed. */
const stateOf = (trace: EventTrace) => trace.deliveries.map(({ state, updatedAt }) => `${state} ${updatedAt}`).join();

export function Why({ trace, site }: { trace: EventTrace; site: string }) {
  return <Answers key={stateOf(trace)} site={site} id={trace.id} />;
}

/** Nothing is shown while it loads: the steps below say the same in detail. */
function Answers({ site, id }: { site: string; id: string }) {
  const { data } = useApi("GET /sites/:site/why", { params: { site }, query: { id } });
  if (!data) return null;
  return (
    <Box component="section" aria-labelledby="why" mb="lg">
      <Title order={3} id="why" mb="xs">
        {eventsText.why.title}
      </Title>
      <Stack gap="sm">
        {data.answers.map(({ connection, answer, evidence, actions }) => (
          <div key={connection}>
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {serverText(answer)}
            </Text>
            <List size="sm" c="dimmed" withPadding aria-label={eventsText.why.evidence}>
              {evidence.map((line) => (
                <List.Item key={line} style={{ overflowWrap: "anywhere" }}>
                  {serverText(line)}
                </List.Item>
              ))}
            </List>
            {actions.map((line) => (
              <Text key={line} size="sm" fw={500}>
                {serverText(line)}
              </Text>
            ))}
          </div>
        ))}
      </Stack>
    </Box>
  );
}
