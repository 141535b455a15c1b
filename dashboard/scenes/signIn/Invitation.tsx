// Accepts an invitation: with a name and a new password, or with the password of an existing account.

import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useEffect } from "react";
import type { Answer } from "../../common/api/api.ts";
import { send, useSend } from "../../common/api/query.ts";
import { useForm } from "../../common/forms/useForm.ts";
import { Loading } from "../../common/states.tsx";
import { NewPassword } from "./NewPassword.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { useEnter } from "./enter.ts";
import { useLinkToken } from "./linkToken.ts";
import { signInText } from "../../messages/signIn.ts";
import { commonText } from "../../messages/common.ts";

export default function Invitation() {
  const token = useLinkToken();
  const { mutate, data, error } = useSend("POST /invitations/lookup");
  useEffect(() => {
    if (token !== null) mutate({ body: { token } });
  }, [token, mutate]);

  if (token === null) return <SignInCard title={signInText.invitation.title} about={signInText.invitation.noToken} />;
  if (error)
    return (
      <SignInCard title={signInText.invitation.unusableTitle} about={signInText.invitation.unusable}>
        <SignInError error={error} />
      </SignInCard>
    );
  if (!data)
    return (
      <SignInCard title={signInText.invitation.title}>
        <Loading rows={3} />
      </SignInCard>
    );
  return <Accept token={token} invitation={data} />;
}

function Accept({ token, invitation }: { token: string; invitation: Answer<"POST /invitations/lookup"> }) {
  const { email, role, site, invitedBy, known } = invitation;
  const enter = useEnter();
  const form = useForm({
    values: { name: "", password: "" },
    save: ({ name, password }) => send("POST /invitations/accept", { body: { token, password, ...(known ? {} : { name }) } }),
    onDone: enter,
  });
  const place = site === null ? signInText.invitation.allSites : site;
  return (
    <SignInCard
      title={signInText.invitation.title}
      about={`${signInText.invitation.about(invitedBy, place, signInText.invitation.roles[role])} ${commonText.roleSentences[role]}`}
      form={form.props}
    >
      <TextInput label={commonText.email} type="email" name="email" autoComplete="username" value={email} readOnly />
      {known ? (
        <PasswordInput
          {...form.text("password")}
          label={signInText.invitation.yourPassword}
          description={signInText.invitation.known}
          autoComplete="current-password"
          required
          autoFocus
          visibilityToggleButtonProps={{ "aria-label": commonText.showPassword }}
        />
      ) : (
        <>
          <TextInput {...form.text("name")} label={signInText.yourName} autoComplete="name" required autoFocus maxLength={100} />
          <NewPassword {...form.text("password")} />
        </>
      )}
      <SignInError error={form.error} />
      <Button type="submit" loading={form.isPending}>
        {signInText.invitation.accept}
      </Button>
    </SignInCard>
  );
}
