import { Anchor, Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "../../common/forms/useForm.ts";
import { queryClient, send } from "../../common/api/query.ts";
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
  const [isSuccess, setSuccess] = useState(false);
  const form = useForm({
    values: { password: "" },
    save: ({ password }) => send("POST /password-resets/finish", { body: { token: token ?? "", password } }),
    onDone: () => {
      queryClient.clear();
      setSuccess(true);
    },
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
    <SignInCard title={signInText.forgotten.title} about={signInText.reset.about} form={form.props} footer={another()}>
      <NewPassword {...form.text("password")} label={signInText.newPassword.label} />
      <SignInError error={form.error} />
      <Button type="submit" loading={form.isPending}>
        {signInText.reset.submit}
      </Button>
    </SignInCard>
  );
}
