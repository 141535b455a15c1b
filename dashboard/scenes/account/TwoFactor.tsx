// Two-factor sign-in: set up with the password, turned on by a first code.

import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useSend } from "../../common/api/query.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { State } from "../../common/values.tsx";
import { SignInError } from "../signIn/SignInError.tsx";
import { TwoFactorSecret } from "./TwoFactorSecret.tsx";
import { accountText } from "../../messages/account.ts";
import { commonText } from "../../messages/common.ts";

export function TwoFactor({ isOn }: { isOn: boolean }) {
  const [isOpen, { open, close }] = useDisclosure();
  const [enrolment, setEnrolment] = useState<Answer<"POST /me/two-factor"> | null>(null);
  const begin = useSend("POST /me/two-factor", { onDone: setEnrolment });
  const end = useSend("POST /me/two-factor/end", {
    onDone: () => {
      close();
      notify(accountText.twoFactor.isOff);
    },
  });
  const send = isOn ? end : begin;
  const closeAndReset = () => {
    close();
    setEnrolment(null);
    begin.reset();
    end.reset();
  };
  return (
    <Card title={accountText.twoFactor.title} about={accountText.twoFactor.about} actions={<State of={isOn ? "on" : "off"} />}>
      <Button variant="default" onClick={open}>
        {isOn ? accountText.twoFactor.turnOff : accountText.twoFactor.setUp}
      </Button>
      <Modal
        opened={isOpen}
        onClose={closeAndReset}
        title={isOn && !enrolment ? accountText.twoFactor.turnOffTitle : accountText.twoFactor.setUpTitle}
        closeOnClickOutside={enrolment === null}
        size={enrolment ? "lg" : "md"}
      >
        {enrolment ? (
          <TwoFactorSecret enrolment={enrolment} onDone={closeAndReset} />
        ) : (
          <PasswordStep
            about={isOn ? accountText.twoFactor.turnOffAbout : accountText.twoFactor.passwordFirst}
            action={isOn ? accountText.twoFactor.turnOff : accountText.twoFactor.continue}
            send={(password) => send.mutate({ body: { password } })}
            error={send.error}
            isBusy={send.isPending}
          />
        )}
      </Modal>
    </Card>
  );
}

function PasswordStep({
  about,
  action,
  send,
  error,
  isBusy,
}: {
  about: string;
  action: string;
  send: (password: string) => void;
  error: Parameters<typeof fieldError>[0];
  isBusy: boolean;
}) {
  const [password, setPassword] = useState("");
  return (
    <Form onSubmit={() => send(password)}>
      <Stack>
        <Text size="sm">{about}</Text>
        <PasswordInput
          label={accountText.password.title}
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          error={fieldError(error, "password")}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": commonText.showPassword }}
        />
        <SignInError error={otherError(error, "password")} />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={!password}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
