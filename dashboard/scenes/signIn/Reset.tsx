import { Anchor, Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fieldError, otherError } from "../../common/fields.ts";
import { queryClient, useSend } from "../../common/api/query.ts";
import { NewPassword } from "./NewPassword.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { useLinkToken } from "./linkToken.ts";
import { SignInError } from "./SignInError.tsx";
import { signInText } from "../../messages/signIn.ts";

const another = () => (
  <Anchor component={Link} to="/forgotten" size="sm">
    {signInText.reset.anotherLink}
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
      <SignInCard title={signInText.reset.doneTitle}>
        <Text size="sm" role="status">
          {signInText.reset.done}
        </Text>
        <Button component={Link} to="/sign-in">
          {signInText.signIn}
        </Button>
      </SignInCard>
    );
  if (token === null)
    return <SignInCard title={signInText.forgotten.title} about={signInText.reset.noToken} footer={another()} />;
  return (
    <SignInCard
      title={signInText.forgotten.title}
      about={signInText.reset.about}
      onSubmit={() => mutate({ body: { token, password } })}
      footer={another()}
    >
      <NewPassword
        label={signInText.newPassword.label}
        value={password}
        onChange={setPassword}
        fault={fieldError(error, "password")}
      />
      <SignInError error={otherError(error, "password")} />
      <Button type="submit" loading={isPending}>
        {signInText.reset.submit}
      </Button>
    </SignInCard>
  );
}
