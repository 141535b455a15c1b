// Requests of one person: stored data, consent, export and erasure.

import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { fieldError, otherError } from "../../../common/fields.ts";
import { Card } from "../../../common/Page.tsx";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { RequestError } from "../../../common/states.tsx";
import { PersonFound } from "./PersonFound.tsx";

export function FindPerson() {
  const site = useSiteId();
  const [email, setEmail] = useState("");
  const find = useSend("POST /sites/:site/people/find");
  const look = (text: string) => find.mutateAsync({ params: { site }, body: { email: text.trim() } });
  return (
    <Card
      title="Find a person"
      about="The email is hashed before the search: plain addresses are never stored. Each search is recorded in the audit log, without the person's identity."
    >
      <Stack gap={0}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void look(email).catch(() => {});
          }}
        >
          <Group align="flex-end" gap="xs">
            <TextInput
              label="Email"
              placeholder="ada@example.com"
              required
              maxLength={320}
              flex="1 1 200px"
              maw={400}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={email}
              error={fieldError(find.error, "email")}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <Button type="submit" variant="default" loading={find.isPending}>
              Find
            </Button>
          </Group>
        </form>
        <RequestError error={otherError(find.error, "email")} />
        <div aria-live="polite">
          {find.data && <PersonFound person={find.data} again={() => look(find.data.emailSha256)} />}
        </div>
      </Stack>
    </Card>
  );
}
