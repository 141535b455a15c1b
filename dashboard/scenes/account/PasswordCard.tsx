import { Button, Group, PasswordInput, Stack } from "@mantine/core";
import { useState } from "react";
import { notify } from "../../common/notices.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { Card } from "../../common/Page.tsx";
import { useSend } from "../../common/api/query.ts";
import { NewPassword } from "../signIn/NewPassword.tsx";
import { SignInError } from "../signIn/SignInError.tsx";

export function PasswordCard({ email }: { email: string }) {
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
