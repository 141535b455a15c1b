import { Anchor, Button, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
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
  const [email, setEmail] = useState("");
  const { mutate, error, isPending, data } = useSend("POST /password-resets");

  if (data?.mail)
    return (
      <SignInCard title={signInText.forgotten.sentTitle} footer={back()}>
        <Text size="sm" role="status">
          {signInText.forgotten.sent(email)}
        </Text>
      </SignInCard>
    );
  if (data)
    return (
      <SignInCard title={signInText.forgotten.noMailTitle} footer={back()}>
        <Text size="sm" role="status">
          {signInText.forgotten.noMail}
        </Text>
        <Code label={signInText.forgotten.command}>{`npx cleancast member reset ${email}`}</Code>
      </SignInCard>
    );
  return (
    <SignInCard
      title={signInText.forgotten.title}
      about={signInText.forgotten.about}
      onSubmit={() => mutate({ body: { email } })}
      footer={back()}
    >
      <TextInput
        label={commonText.email}
        type="email"
        name="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        error={fieldError(error, "email")}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <SignInError error={otherError(error, "email")} />
      <Button type="submit" loading={isPending}>
        {signInText.forgotten.send}
      </Button>
    </SignInCard>
  );
}
