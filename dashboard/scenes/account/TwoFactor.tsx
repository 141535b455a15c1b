// Two-factor sign-in: set up with the password, turned on by a first code.

import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
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

export function TwoFactor({ isOn }: { isOn: boolean }) {
  const [isOpen, { open, close }] = useDisclosure();
  const [enrolment, setEnrolment] = useState<Answer<"POST /me/two-factor"> | null>(null);
  const begin = useSend("POST /me/two-factor", { onDone: setEnrolment });
  const end = useSend("POST /me/two-factor/end", {
    onDone: () => {
      close();
      notify("Two-factor sign-in is off.");
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
    <Card
      title="Two-factor sign-in"
      about="Requires a code from an authenticator app in addition to your password."
      actions={<State of={isOn ? "on" : "off"} />}
    >
      <Button variant="default" onClick={open}>
        {isOn ? "Turn off" : "Set up"}
      </Button>
      <Modal
        opened={isOpen}
        onClose={closeAndReset}
        title={isOn && !enrolment ? "Turn off two-factor sign-in" : "Set up two-factor sign-in"}
        closeOnClickOutside={enrolment === null}
        size={enrolment ? "lg" : "md"}
      >
        {enrolment ? (
          <TwoFactorSecret enrolment={enrolment} onDone={closeAndReset} />
        ) : (
          <PasswordStep
            about={
              isOn
                ? "After that, your password alone is enough to sign in. The backup codes stop working."
                : "First enter your password."
            }
            action={isOn ? "Turn off" : "Continue"}
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
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send(password);
      }}
    >
      <Stack>
        <Text size="sm">{about}</Text>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          data-autofocus
          value={password}
          error={fieldError(error, "password")}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": "Show or hide the password" }}
        />
        <SignInError error={otherError(error, "password")} />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={!password}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
