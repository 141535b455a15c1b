import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { fieldError, otherError } from "../../../common/fields.ts";
import { notify } from "../../../common/notices.tsx";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { RequestError } from "../../../common/states.tsx";

/** Adds a domain and checks at once whether it points here. */
export function AddHost() {
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
