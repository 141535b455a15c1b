import { Button, Group, PasswordInput, Stack } from "@mantine/core";
import { useState } from "react";
import { told } from "../../common/notices.tsx";
import { faultAt, faultElse } from "../../common/fields.ts";
import { Card } from "../../common/Page.tsx";
import { useSend } from "../../common/query.ts";
import { NewPassword } from "../signIn/NewPassword.tsx";
import { RefusedOrWait } from "../signIn/Waiting.tsx";

export function PasswordCard({ email }: { email: string }) {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const { mutate, error, isPending } = useSend("POST /me/password", {
    onDone: () => {
      setCurrent("");
      setPassword("");
      told("Your password is changed. All other sessions have ended.");
    },
  });
  return (
    <Card title="Password" about="A new password signs you out everywhere else.">
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
            error={faultAt(error, "current")}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            visibilityToggleButtonProps={{ "aria-label": "Show or hide the current password" }}
          />
          <NewPassword
            label="New password"
            value={password}
            onChange={setPassword}
            fault={faultAt(error, "password")}
          />
          <RefusedOrWait error={faultElse(error, "current", "password")} />
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
