import { Anchor, Button, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "../../common/forms/useForm.ts";
import { send } from "../../common/api/query.ts";
import { Code } from "../../common/values.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { signInText } from "../../messages/signIn.ts";
import { commonText } from "../../messages/common.ts";

const back = () => (
  <Anchor component={Link} to="/sign-in" size="sm">
    {signInText.backToSignIn}
  </Anchor>
);

export default function Forgotten() {
  const [asked, setAsked] = useState<{ email: string; mail: boolean } | null>(null);
  const form = useForm({
    values: { email: "" },
    save: ({ email }) => send("POST /password-resets", { body: { email } }),
    onDone: ({ mail }, { email }) => setAsked({ email, mail }),
  });

  if (asked?.mail)
    return (
      <SignInCard title={signInText.forgotten.sentTitle} footer={back()}>
        <Text size="sm" role="status">
          {signInText.forgotten.sent(asked.email)}
        </Text>
      </SignInCard>
    );
  if (asked)
    return (
      <SignInCard title={signInText.forgotten.noMailTitle} footer={back()}>
        <Text size="sm" role="status">
          {signInText.forgotten.noMail}
        </Text>
        <Code label={signInText.forgotten.command}>{`npx cleancast member reset ${asked.email}`}</Code>
      </SignInCard>
    );
  return (
    <SignInCard title={signInText.forgotten.title} about={signInText.forgotten.about} form={form.props} footer={back()}>
      <TextInput {...form.text("email")} label={commonText.email} type="email" autoComplete="username" required autoFocus />
      <SignInError error={form.error} />
      <Button type="submit" loading={form.isPending}>
        {signInText.forgotten.send}
      </Button>
    </SignInCard>
  );
}
