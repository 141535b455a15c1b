import { Anchor, Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fieldError, otherError } from "../../common/fields.ts";
import { queryClient, useSend } from "../../common/api/query.ts";
import { NewPassword } from "./NewPassword.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { useLinkToken } from "./linkToken.ts";
import { SignInError } from "./SignInError.tsx";

const title = "Set a new password";
const another = (
  <Anchor component={Link} to="/forgotten" size="sm">
    Request another link
  </Anchor>
);

export default function Reset() {
  const token = useLinkToken();
  const [password, setPassword] = useState("");
  const { mutate, error, isPending, isSuccess } = useSend("POST /password-resets/finish", {
    onDone: () => queryClient.clear(),
  });

  if (isSuccess)
    return (
      <SignInCard title="Your new password is set">
        <Text size="sm" role="status">
          You were signed out everywhere. Sign in with the new password.
        </Text>
        <Button component={Link} to="/sign-in">
          Sign in
        </Button>
      </SignInCard>
    );
  if (token === null)
    return (
      <SignInCard title={title} about="Open the link that you were sent. It works once." footer={another} />
    );
  return (
    <SignInCard
      title={title}
      about="You will be signed out everywhere else."
      onSubmit={() => mutate({ body: { token, password } })}
      footer={another}
    >
      <NewPassword
        label="New password"
        value={password}
        onChange={setPassword}
        fault={fieldError(error, "password")}
      />
      <SignInError error={otherError(error, "password")} />
      <Button type="submit" loading={isPending}>
        Set the password
      </Button>
    </SignInCard>
  );
}
