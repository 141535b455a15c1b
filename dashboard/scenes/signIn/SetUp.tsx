// Creates the first owner, with the link that the console printed.

import { Anchor, Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi, useSend } from "../../common/api/query.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { LoadState } from "../../common/states.tsx";
import { NewPassword } from "./NewPassword.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { useEnter } from "./enter.ts";
import { useLinkToken } from "./linkToken.ts";
import { signInText } from "../../messages/signIn.ts";
import { commonText } from "../../messages/common.ts";

export default function SetUp() {
  const token = useLinkToken();
  const { data, error, refetch } = useApi("GET /setup", {});
  if (error || !data)
    return (
      <SignInCard title={signInText.setUp.title}>
        <LoadState of={{ data, error, refetch }} rows={3} />
      </SignInCard>
    );
  if (!data.needed)
    return (
      <SignInCard title={signInText.setUp.title} about={signInText.setUp.hasOwner}>
        <Button component={Link} to="/sign-in">
          {signInText.signIn}
        </Button>
      </SignInCard>
    );
  if (token === null) return <SignInCard title={signInText.setUp.title} about={signInText.setUp.noToken} />;
  return <OwnerForm token={token} />;
}

function OwnerForm({ token }: { token: string }) {
  const enter = useEnter();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { mutate, error, isPending } = useSend("POST /setup", { onDone: enter });
  return (
    <SignInCard
      title={signInText.setUp.title}
      about={signInText.setUp.about}
      onSubmit={() => mutate({ body: { token, name, email, password } })}
      footer={
        <Anchor component={Link} to="/sign-in" size="sm">
          {signInText.setUp.hasAccount}
        </Anchor>
      }
    >
      <TextInput
        label={signInText.yourName}
        name="name"
        autoComplete="name"
        required
        autoFocus
        maxLength={100}
        value={name}
        error={fieldError(error, "name")}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={commonText.email}
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        error={fieldError(error, "email")}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NewPassword value={password} onChange={setPassword} fault={fieldError(error, "password")} />
      <SignInError error={otherError(error, "name", "email", "password")} />
      <Button type="submit" loading={isPending}>
        {signInText.setUp.submit}
      </Button>
    </SignInCard>
  );
}
