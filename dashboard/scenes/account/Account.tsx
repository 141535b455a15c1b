// The user's own account: name, password, two-factor sign-in, sessions.

import { Button, Group, SimpleGrid, Stack, TextInput, PasswordInput } from "@mantine/core";
import { useState } from "react";
import { Card, Page } from "../../common/Page.tsx";
import { useSend } from "../../common/api/query.ts";
import { useSession } from "../../common/api/session.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { LoadError, Loading, RequestError } from "../../common/states.tsx";
import { NewPassword } from "../signIn/NewPassword.tsx";
import { SignInError } from "../signIn/SignInError.tsx";
import { Sessions } from "./Sessions.tsx";
import { TwoFactor } from "./TwoFactor.tsx";

export default function Account() {
  const { data, error, refetch } = useSession();
  return (
    <Page title="Account" about={data ? `Signed in as ${data.user.email}.` : undefined}>
      {error && <LoadError error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <Stack gap="lg">
              <NameCard key={data.user.name} name={data.user.name} />
              <TwoFactor isOn={data.user.twoFactor} />
            </Stack>
            <PasswordCard email={data.user.email} />
          </SimpleGrid>
          <Sessions />
        </>
      )}
    </Page>
  );
}

function NameCard({ name }: { name: string }) {
  const [text, setText] = useState(name);
  const { mutate, error, isPending } = useSend("PATCH /me", { onDone: () => notify("Name changed.") });
  return (
    <Card title="Name" about="Shown in the list of members.">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate({ body: { name: text } });
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Your name"
            autoComplete="name"
            required
            maxLength={100}
            value={text}
            error={fieldError(error, "name")}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <RequestError error={otherError(error, "name")} />
          <Group>
            <Button type="submit" loading={isPending} disabled={text.trim() === name || !text.trim()}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function PasswordCard({ email }: { email: string }) {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const { mutate, error, isPending } = useSend("POST /me/password", {
    onDone: () => {
      setCurrent("");
      setPassword("");
      notify("Password changed. All your other sessions have ended.");
    },
  });
  return (
    <Card title="Password" about="Changing your password signs you out everywhere else.">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate({ body: { current, password } });
        }}
      >
        <Stack gap="sm">
          {/* Tells password managers whose password this is. */}
          <input type="hidden" name="username" autoComplete="username" value={email} />
          <PasswordInput
            label="Current password"
            name="current-password"
            autoComplete="current-password"
            required
            value={current}
            error={fieldError(error, "current")}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            visibilityToggleButtonProps={{ "aria-label": "Show or hide the current password" }}
          />
          <NewPassword
            label="New password"
            value={password}
            onChange={setPassword}
            fault={fieldError(error, "password")}
          />
          <SignInError error={otherError(error, "current", "password")} />
          <Group>
            <Button type="submit" loading={isPending} disabled={!current || !password}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
