// Two-factor sign-in: begun with the password, switched on by a first code.

import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import type { Answer } from "../../common/api.ts";
import { told } from "../../common/notices.tsx";
import { faultAt, faultElse } from "../../common/fields.ts";
import { Card } from "../../common/Page.tsx";
import { useSend } from "../../common/query.ts";
import { State } from "../../common/values.tsx";
import { RefusedOrWait } from "../signIn/Waiting.tsx";
import { TwoFactorSecret } from "./TwoFactorSecret.tsx";

export function TwoFactor({ isOn }: { isOn: boolean }) {
  const [isOpen, { open, close }] = useDisclosure();
  const [begun, setBegun] = useState<Answer<"POST /me/two-factor"> | null>(null);
  const begin = useSend("POST /me/two-factor", { onDone: setBegun });
  const end = useSend("POST /me/two-factor/end", {
    onDone: () => {
      close();
      told("Two-factor sign-in is off.");
    },
  });
  const send = isOn ? end : begin;
  const shut = () => {
    close();
    setBegun(null);
    begin.reset();
    end.reset();
  };
  return (
    <Card
      title="Two-factor sign-in"
      about="After the password, a code of an authenticator app on your phone is asked for."
      actions={<State of={isOn ? "on" : "off"} />}
    >
      <Button variant="default" onClick={open}>
        {isOn ? "Switch off" : "Set up"}
      </Button>
      <Modal
        opened={isOpen}
        onClose={shut}
        title={isOn && !begun ? "Switch two-factor sign-in off" : "Set up two-factor sign-in"}
        closeOnClickOutside={begun === null}
        size={begun ? "lg" : "md"}
      >
        {begun ? (
          <TwoFactorSecret begun={begun} onDone={shut} />
        ) : (
          <PasswordStep
            about={
              isOn
                ? "From then on your password alone is enough to sign in. The backup codes end."
                : "First enter your password."
            }
            action={isOn ? "Switch off" : "Continue"}
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
  error: Parameters<typeof faultAt>[0];
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
          error={faultAt(error, "password")}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": "Show or hide the password" }}
        />
        <RefusedOrWait error={faultElse(error, "password")} />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={!password}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
