// Two-factor sign-in: set up with the password, turned on by a first code.

import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { send } from "../../common/api/query.ts";
import { useForm } from "../../common/forms/useForm.ts";
import { notify } from "../../common/notices.tsx";
import { State } from "../../common/values.tsx";
import { SignInError } from "../signIn/SignInError.tsx";
import { TwoFactorSecret } from "./TwoFactorSecret.tsx";
import { accountText } from "../../messages/account.ts";
import { commonText } from "../../messages/common.ts";

export function TwoFactor({ isOn }: { isOn: boolean }) {
  const [isOpen, { open, close }] = useDisclosure();
  const [enrolment, setEnrolment] = useState<Answer<"POST /me/two-factor"> | null>(null);
  const closeAndReset = () => {
    close();
    setEnrolment(null);
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
          <PasswordStep isOn={isOn} onBegun={setEnrolment} onEnded={close} />
        )}
      </Modal>
    </Card>
  );
}

function PasswordStep({
  isOn,
  onBegun,
  onEnded,
}: {
  isOn: boolean;
  onBegun: (enrolment: Answer<"POST /me/two-factor">) => void;
  onEnded: () => void;
}) {
  const form = useForm({
    values: { password: "" },
    save: async (body) =>
      isOn ? void (await send("POST /me/two-factor/end", { body })) : await send("POST /me/two-factor", { body }),
    onDone: (enrolment) => {
      if (enrolment) return onBegun(enrolment);
      onEnded();
      return notify(accountText.twoFactor.isOff);
    },
  });
  return (
    <form {...form.props}>
      <Stack>
        <Text size="sm">{isOn ? accountText.twoFactor.turnOffAbout : accountText.twoFactor.passwordFirst}</Text>
        <PasswordInput
          {...form.text("password")}
          label={accountText.password.title}
          autoComplete="current-password"
          required
          data-autofocus
          visibilityToggleButtonProps={{ "aria-label": commonText.showPassword }}
        />
        <SignInError error={form.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={form.isPending}>
            {isOn ? accountText.twoFactor.turnOff : accountText.twoFactor.continue}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
