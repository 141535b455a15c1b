import { Anchor, Button, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { faultAt, faultElse } from "../../common/fields.ts";
import { useSend } from "../../common/query.ts";
import { Code } from "../../common/values.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { RefusedOrWait } from "./Waiting.tsx";

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
      <SignInCard title="Look into your mail" foot={back}>
        <Text size="sm" role="status">
          If {email} has an account here, a link to set a new password is on its way. It is good for an hour.
        </Text>
      </SignInCard>
    );
  if (data)
    return (
      <SignInCard title="No mail can be sent" foot={back}>
        <Text size="sm" role="status">
          This installation has no mail server. Ask an owner for a link (Settings, Members), or run this on
          the server; it prints one:
        </Text>
        <Code label="command">{`npx cleancast member reset ${email}`}</Code>
      </SignInCard>
    );
  return (
    <SignInCard
      title="Set a new password"
      about="You get a link by mail."
      onSubmit={() => mutate({ body: { email } })}
      foot={back}
    >
      <TextInput
        label="Email"
        type="email"
        name="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        error={faultAt(error, "email")}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <RefusedOrWait error={faultElse(error, "email")} />
      <Button type="submit" loading={isPending}>
        Send the link
      </Button>
    </SignInCard>
  );
}
