// The user's own account: name, password, two-factor sign-in, sessions.

import { Button, Group, SimpleGrid, Stack, TextInput, PasswordInput } from "@mantine/core";
import { Card, Page } from "../../common/Page.tsx";
import { send } from "../../common/api/query.ts";
import { useSession } from "../../common/api/session.ts";
import { useForm } from "../../common/forms/useForm.ts";
import { notify } from "../../common/notices.tsx";
import { LoadState, RequestError } from "../../common/states.tsx";
import { NewPassword } from "../signIn/NewPassword.tsx";
import { SignInError } from "../signIn/SignInError.tsx";
import { Devices } from "./Devices.tsx";
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
              <NameCard name={data.user.name} />
              <TwoFactor isOn={data.user.twoFactor} />
            </Stack>
            <PasswordCard email={data.user.email} />
          </SimpleGrid>
          <Devices />
          <Sessions />
        </>
      )}
    </Page>
  );
}

function NameCard({ name }: { name: string }) {
  const form = useForm({
    values: { name },
    save: (values) => send("PATCH /me", { body: values }),
    onDone: () => notify(accountText.name.changed),
  });
  return (
    <Card title={accountText.name.title} about={accountText.name.about}>
      <form {...form.props}>
        <Stack gap="sm">
          <TextInput {...form.text("name")} label={accountText.name.label} autoComplete="name" required maxLength={100} />
          <RequestError error={form.error} />
          <Group>
            <Button type="submit" loading={form.isPending} disabled={!form.isChanged}>
              {commonText.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function PasswordCard({ email }: { email: string }) {
  const form = useForm({
    values: { current: "", password: "" },
    save: (values) => send("POST /me/password", { body: values }),
    onDone: () => notify(accountText.password.changed),
  });
  return (
    <Card title={accountText.password.title} about={accountText.password.about}>
      <form {...form.props}>
        <Stack gap="sm">
          {/* Tells password managers whose password this is. */}
          <input type="hidden" name="username" autoComplete="username" value={email} />
          <PasswordInput
            {...form.text("current")}
            label={accountText.password.current}
            autoComplete="current-password"
            required
            visibilityToggleButtonProps={{ "aria-label": accountText.password.showCurrent }}
          />
          <NewPassword {...form.text("password")} label={accountText.password.new} />
          <SignInError error={form.error} />
          <Group>
            <Button type="submit" loading={form.isPending} disabled={!form.isChanged}>
              {accountText.password.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
