import { Box, Button, Group, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import { call, type ApiError, type Answer } from "../../common/api/api.ts";
import { useSiteId } from "../../common/api/session.ts";
import { fieldError, otherError } from "../../common/forms/faults.ts";
import { RequestError } from "../../common/states.tsx";
import { Explanation } from "./Explanation.tsx";
import { botsText } from "../../messages/bots.ts";

/** Shows the verdict on a visit that the user describes. The request changes nothing, so no query is refreshed. */
export function CheckVisit() {
  const site = useSiteId();
  const [userAgent, setUserAgent] = useState("");
  const [address, setAddress] = useState("");
  const { mutate, data, error, isPending } = useMutation<Answer<"POST /sites/:site/traffic/check">, ApiError>({
    mutationFn: () =>
      call("POST /sites/:site/traffic/check", {
        params: { site },
        body: {
          ...(userAgent.trim() ? { userAgent: userAgent.trim() } : {}),
          ...(address.trim() ? { address: address.trim() } : {}),
        },
      }),
  });
  return (
    <Card title={botsText.check.title} about={botsText.check.about}>
      <Stack gap={0}>
        <Form onSubmit={() => mutate()}>
          <Stack gap="sm">
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <TextInput
                label={botsText.check.userAgent}
                placeholder="Mozilla/5.0 …"
                maxLength={1000}
                autoComplete="off"
                spellCheck={false}
                value={userAgent}
                error={fieldError(error, "userAgent", "user-agent")}
                onChange={(event) => setUserAgent(event.currentTarget.value)}
              />
              <TextInput
                label={botsText.check.address}
                placeholder="192.0.2.10"
                maxLength={60}
                autoComplete="off"
                spellCheck={false}
                value={address}
                error={fieldError(error, "address", "ip")}
                onChange={(event) => setAddress(event.currentTarget.value)}
              />
            </SimpleGrid>
            <Group gap="xs">
              <Button type="submit" variant="default" loading={isPending} disabled={!userAgent.trim() && !address.trim()}>
                {botsText.check.check}
              </Button>
              <Button variant="subtle" color="gray" onClick={() => setUserAgent(navigator.userAgent)}>
                {botsText.check.thisBrowser}
              </Button>
            </Group>
          </Stack>
        </Form>
        <RequestError error={otherError(error, "userAgent", "user-agent", "address", "ip")} />
        <div aria-live="polite">
          {data && (
            <Box mt="md">
              <Explanation of={data} />
            </Box>
          )}
        </div>
      </Stack>
    </Card>
  );
}
