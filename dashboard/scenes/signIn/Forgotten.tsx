import { Anchor, Button, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
import { Code } from "../../common/values.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";

const back = (
  <Anchor component={Link} to="/sign-in" size="sm">
    Back to sign-in
  </Anchor>
);

export default function Forgotten() {
  const [email, setEmail] = useState("");
  const { mutate, error, isPending, data } = useSend("POST /password-resets");

  if (data?.mail)
    return (
      <SignInCard title="Check your email" footer={back}>
        <Text size="sm" role="status">
          If {email} has an account here, a password reset link has been sent. It is valid for one hour.
        </Text>
      </SignInCard>
    );
  if (data)
    return (
      <SignInCard title="Email is not configured" footer={back}>
        <Text size="sm" role="status">
          This installation has no mail server. Ask an owner for a link (Settings, Members), or create one on
          the server:
        </Text>
        <Code label="command">{`npx cleancast member reset ${email}`}</Code>
      </SignInCard>
    );
  return (
    <SignInCard
      title="Set a new password"
      about="You will receive a link by email."
      onSubmit={() => mutate({ body: { email } })}
      footer={back}
    >
      <TextInput
        label="Email"
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
        Send link
      </Button>
    </SignInCard>
  );
}
