// The domains of the site: state of each, and what to do if one is not served.

import { Box, Divider, Group, Stack, Text, Button, TextInput } from "@mantine/core";
import { Fragment } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { send, useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { useForm } from "../../../common/forms/useForm.ts";
import { notify } from "../../../common/notices.tsx";
import { LoadState, RequestError } from "../../../common/states.tsx";
import { CopyButton, State, Time } from "../../../common/values.tsx";
import { HostActions } from "./HostActions.tsx";
import { configurationText } from "../../../messages/configuration.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { serverText } from "../../../messages/server.ts";

export type Host = Answer<"GET /sites/:site/hosts">["items"][number];

export function Hosts() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi(
    "GET /sites/:site/hosts",
    { params: { site } },
    // People keep this page open while they wait for the DNS.
    { everyMs: (answer) => (answer?.items.some(({ state }) => state === "waiting") ? 15_000 : false) },
  );
  return (
    <Card title={configurationText.domains.title} about={configurationText.domains.about}>
      <LoadState of={{ data, error, refetch }} rows={2} />
      {data && (
        <Stack gap="md">
          <Stack gap="sm" role="list" aria-label={configurationText.domains.list}>
            {data.items.map((host, index) => (
              <Fragment key={host.host}>
                {index > 0 && <Divider role="presentation" />}
                <HostLine host={host} isOnly={data.items.length === 1} mayChange={mayChange} />
              </Fragment>
            ))}
          </Stack>
          {mayChange ? (
            <AddHost />
          ) : (
            <Text size="sm" c="dimmed">
              {configurationText.domains.adminsCanAdd}
            </Text>
          )}
        </Stack>
      )}
    </Card>
  );
}

function HostLine({ host, isOnly, mayChange }: { host: Host; isOnly: boolean; mayChange: boolean }) {
  const { state, problem, checkedAt, verifiedBy } = host;
  return (
    <Group role="listitem" justify="space-between" align="flex-start" gap="xs">
      <Box flex="1 1 280px" miw={0}>
        <Group gap="sm">
          <Group gap={4} wrap="nowrap" miw={0}>
            <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
              {host.host}
            </Text>
            <CopyButton value={host.host} label={configurationText.domains.copy(host.host)} />
          </Group>
          <State of={state} />
        </Group>
        <Text size="sm" c="dimmed">
          {configurationText.domains.states[state]}{" "}
          {checkedAt !== null && (
            <RichText
              text={
                state === "verified" && verifiedBy !== null
                  ? configurationText.domains.checkedBy[verifiedBy]
                  : configurationText.domains.checked
              }
              tags={{ time: () => <Time at={checkedAt} /> }}
            />
          )}
        </Text>
        {problem && (
          <Text size="sm" mt={4}>
            {serverText(problem.what)} {serverText(problem.whatToDo)}
          </Text>
        )}
      </Box>
      {mayChange && <HostActions host={host} isOnly={isOnly} />}
    </Group>
  );
}

/** Adds a domain, then checks whether it points here. */
function AddHost() {
  const site = useSiteId();
  const verify = useSend("POST /sites/:site/hosts/:host/verify");
  const form = useForm({
    values: { host: "" },
    save: ({ host }) => send("POST /sites/:site/hosts", { params: { site }, body: { host } }),
    onDone: ({ hosts }) => {
      const added = hosts.at(-1);
      if (added === undefined) return;
      notify(configurationText.domains.added(added));
      verify.mutate({ params: { site, host: added } });
    },
  });
  return (
    <form {...form.props}>
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          <TextInput
            {...form.text("host")}
            label={configurationText.domains.addLabel}
            placeholder="www.example.com"
            required
            flex="1 1 200px"
            maw={400}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
          <Button type="submit" variant="default" loading={form.isPending}>
            {configurationText.domains.add}
          </Button>
        </Group>
        <RequestError error={form.error} />
      </Stack>
    </form>
  );
}
