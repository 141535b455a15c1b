import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { faultAt, faultElse } from "../../common/fields.ts";
import { told } from "../../common/notices.tsx";
import { useSend } from "../../common/query.ts";
import { useSiteId } from "../../common/session.tsx";
import { Refused } from "../../common/states.tsx";

/** Adds a domain, and looks at once whether it leads here. */
export function AddHost() {
  const site = useSiteId();
  const [host, setHost] = useState("");
  const verify = useSend("POST /sites/:site/hosts/:host/verify");
  const { mutate, error, isPending } = useSend("POST /sites/:site/hosts", {
    onDone: ({ hosts }) => {
      told(`${host.trim()} is added.`);
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
            error={faultAt(error, "host")}
            onChange={(event) => setHost(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={isPending}>
            Add
          </Button>
        </Group>
      </form>
      <Refused error={faultElse(error, "host")} />
    </Stack>
  );
}
