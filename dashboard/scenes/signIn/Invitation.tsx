// Accepts an invitation: with a name and a new password, or with the password of an existing account.

import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import type { Answer } from "../../common/api/api.ts";
import { useSend } from "../../common/api/query.ts";
import { roleSentences } from "../../common/api/session.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { Loading } from "../../common/states.tsx";
import { NewPassword } from "./NewPassword.tsx";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { useEnter } from "./enter.ts";
import { useLinkToken } from "./linkToken.ts";

const title = "You are invited";

export default function Invitation() {
  const token = useLinkToken();
  const { mutate, data, error } = useSend("POST /invitations/lookup");
  useEffect(() => {
    if (token !== null) mutate({ body: { token } });
  }, [token, mutate]);

  if (token === null)
    return <SignInCard title={title} about="Open the invitation link that you were sent." />;
  if (error)
    return (
      <SignInCard
        title="This invitation cannot be used"
        about="Ask the person who invited you for a new link. Each link works once, for seven days."
      >
        <SignInError error={error} />
      </SignInCard>
    );
  if (!data)
    return (
      <SignInCard title={title}>
        <Loading rows={3} />
      </SignInCard>
    );
  return <Accept token={token} invitation={data} />;
}

function Accept({ token, invitation }: { token: string; invitation: Answer<"POST /invitations/lookup"> }) {
  const { email, role, site, invitedBy, known } = invitation;
  const enter = useEnter();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const { mutate, error, isPending } = useSend("POST /invitations/accept", { onDone: enter });
  const place = site === null ? "all sites of this installation" : site;
  return (
    <SignInCard
      title={title}
      about={`${invitedBy} invites you to ${place} as ${role}. ${roleSentences[role]}`}
      onSubmit={() => mutate({ body: { token, password, ...(known ? {} : { name }) } })}
    >
      <TextInput label="Email" type="email" name="email" autoComplete="username" value={email} readOnly />
      {known ? (
        <PasswordInput
          label="Your password"
          description="You already have an account here."
          name="password"
          autoComplete="current-password"
          required
          autoFocus
          value={password}
          error={fieldError(error, "password")}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": "Show or hide the password" }}
        />
      ) : (
        <>
          <TextInput
            label="Your name"
            name="name"
            autoComplete="name"
            required
            autoFocus
            maxLength={100}
            value={name}
            error={fieldError(error, "name")}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <NewPassword value={password} onChange={setPassword} fault={fieldError(error, "password")} />
        </>
      )}
      <SignInError error={otherError(error, "password", "name")} />
      <Button type="submit" loading={isPending}>
        Accept
      </Button>
    </SignInCard>
  );
}
