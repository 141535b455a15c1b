// The user's own account: name, password, two-factor sign-in, sessions.

import { Button, Group, SimpleGrid, Stack, TextInput, PasswordInput } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { useState } from "react";
import { Card, Page } from "../../common/Page.tsx";
import { useSend } from "../../common/api/query.ts";
import { useSession } from "../../common/api/session.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { LoadState, RequestError } from "../../common/states.tsx";
import { NewPassword } from "../signIn/NewPassword.tsx";
import { SignInError } from "../signIn/SignInError.tsx";
import { Sessions } from "./Sessions.tsx";
import { TwoFactor } from "./TwoFactor.tsx";
import { accountText } from "../../messages/account.ts";
import { commonText } from "../../messages/common.ts";

export default function Account() {
  const { data, error, refetch } = useSession();
  return (
    <Page title={accountText.title} about={data ? accountText.signedInAs(data.user.email) : undefined}>
      <LoadState of={{ data, error, refetch }} />
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
  const { mutate, error, isPending } = useSend("PATCH /me", {
    onDone: () => notify(accountText.name.changed),
  });
  return (
    <Card title={accountText.name.title} about={accountText.name.about}>
      <Form onSubmit={() => mutate({ body: { name: text } })}>
        <Stack gap="sm">
          <TextInput
            label={accountText.name.label}
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
              {commonText.save}
            </Button>
          </Group>
        </Stack>
      </Form>
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
      notify(accountText.password.changed);
    },
  });
  return (
    <Card title={accountText.password.title} about={accountText.password.about}>
      <Form onSubmit={() => mutate({ body: { current, password } })}>
        <Stack gap="sm">
          {/* Tells password managers whose password this is. */}
          <input type="hidden" name="username" autoComplete="username" value={email} />
          <PasswordInput
            label={accountText.password.current}
            name="current-password"
            autoComplete="current-password"
            required
            value={current}
            error={fieldError(error, "current")}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            visibilityToggleButtonProps={{ "aria-label": accountText.password.showCurrent }}
          />
          <NewPassword
            label={accountText.password.new}
            value={password}
            onChange={setPassword}
            fault={fieldError(error, "password")}
          />
          <SignInError error={otherError(error, "current", "password")} />
          <Group>
            <Button type="submit" loading={isPending} disabled={!current || !password}>
              {accountText.password.submit}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Card>
  );
}
