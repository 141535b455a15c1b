// The domains of the site: state of each, and what to do if one is not served.

import { Box, Divider, Group, Stack, Text, Button, TextInput } from "@mantine/core";
import { Fragment, useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
import { notify } from "../../../common/notices.tsx";
import { LoadError, Loading, RequestError } from "../../../common/states.tsx";
import { CopyButton, State, Time } from "../../../common/values.tsx";
import { HostActions } from "./HostActions.tsx";

export type Host = Answer<"GET /sites/:site/hosts">["items"][number];

const stateTexts: Record<Host["state"], string> = {
  verified: "Points here and is served.",
  failing: "Served, but the last check found a problem.",
  unverified: "Served, but not yet verified to point here.",
  waiting:
    "Not served until it is verified to point here. Cleancast checks every ten minutes on the first day.",
  paused: "Not served: no tag, no visits. Events with a valid inbound key are still accepted.",
};

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
    <Card
      title="Domains"
      about="The domains where people convert. The tag and the inbound webhook work on each of them; everything else is shared."
    >
      {error && <LoadError error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading rows={2} />}
      {data && (
        <Stack gap="md">
          <Stack gap="sm" role="list" aria-label="Domains of this site">
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
              Admins of this site can add more.
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
            <CopyButton value={host.host} label={`Copy ${host.host}`} />
          </Group>
          <State of={state} />
        </Group>
        <Text size="sm" c="dimmed">
          {stateTexts[state]}
          {checkedAt !== null && (
            <>
              {" "}
              Checked <Time at={checkedAt} />
              {state === "verified" && verifiedBy !== null && ` through ${methodNames[verifiedBy]}`}.
            </>
          )}
        </Text>
        {problem && (
          <Text size="sm" mt={4}>
            {problem.what} {problem.whatToDo}
          </Text>
        )}
      </Box>
      {mayChange && <HostActions host={host} isOnly={isOnly} />}
    </Group>
  );
}

const methodNames: Record<NonNullable<Host["verifiedBy"]>, string> = {
  DNS: "its DNS records",
  "a request": "a request to it",
};

/** Adds a domain, then checks whether it points here. */
function AddHost() {
  const site = useSiteId();
  const [host, setHost] = useState("");
  const verify = useSend("POST /sites/:site/hosts/:host/verify");
  const { mutate, error, isPending } = useSend("POST /sites/:site/hosts", {
    onDone: ({ hosts }) => {
      notify(`${host.trim()} added.`);
      setHost("");
      const added = hosts.at(-1);
      if (added !== undefined) verify.mutate({ params: { site, host: added } });
    },
  });
  return (
    <Stack gap="xs">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate({ params: { site }, body: { host: host.trim() } });
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Add a domain"
            placeholder="www.example.com"
            required
            flex="1 1 200px"
            maw={400}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={host}
            error={fieldError(error, "host")}
            onChange={(event) => setHost(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={isPending}>
            Add
          </Button>
        </Group>
      </form>
      <RequestError error={otherError(error, "host")} />
    </Stack>
  );
}
