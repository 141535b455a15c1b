// Creates the first owner, with the link that the console printed.

import { Anchor, Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { send, useApi } from "../../common/api/query.ts";
import { useForm } from "../../common/forms/useForm.ts";
import { LoadState } from "../../common/states.tsx";
import { NewPassword } from "./NewPassword.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { useBegin } from "./enter.ts";
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
  const begin = useBegin();
  const form = useForm({
    values: { name: "", email: "", password: "" },
    save: (values) => send("POST /setup", { body: { token, ...values } }),
    onDone: begin,
  });
  return (
    <SignInCard
      title={signInText.setUp.title}
      about={signInText.setUp.about}
      form={form.props}
      footer={
        <Anchor component={Link} to="/sign-in" size="sm">
          {signInText.setUp.hasAccount}
        </Anchor>
      }
    >
      <TextInput {...form.text("name")} label={signInText.yourName} autoComplete="name" required autoFocus maxLength={100} />
      <TextInput {...form.text("email")} label={commonText.email} type="email" autoComplete="username" required />
      <NewPassword {...form.text("password")} />
      <SignInError error={form.error} />
      <Button type="submit" loading={form.isPending}>
        {signInText.setUp.submit}
      </Button>
    </SignInCard>
  );
}
