// The second step of sign-in: a code of the authenticator app, or a backup code.

import { Anchor, Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { useForm } from "../../common/forms/useForm.ts";
import { send } from "../../common/api/query.ts";
import { useEnter } from "./enter.ts";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { signInText } from "../../messages/signIn.ts";

export function CodeStep({ onBack }: { onBack: () => void }) {
  const enter = useEnter();
  const [isBackup, setBackup] = useState(false);
  const form = useForm({
    values: { code: "" },
    save: ({ code }) => send("POST /session/code", { body: { code: code.replaceAll(" ", "") } }),
    onDone: enter,
  });
  const change = () => {
    setBackup(!isBackup);
    form.discard();
  };
  return (
    <SignInCard
      title={signInText.code.title}
      about={isBackup ? signInText.code.aboutBackup : signInText.code.aboutApp}
      form={form.props}
      footer={
        <Anchor component="button" type="button" size="sm" onClick={onBack}>
          {signInText.code.anotherAccount}
        </Anchor>
      }
    >
      <TextInput
        key={String(isBackup)}
        {...form.text("code")}
        label={isBackup ? signInText.code.backupCode : signInText.code.code}
        autoComplete={isBackup ? "off" : "one-time-code"}
        inputMode={isBackup ? "text" : "numeric"}
        required
        autoFocus
        maxLength={40}
      />
      <SignInError error={form.error} />
      <Button type="submit" loading={form.isPending}>
        {signInText.signIn}
      </Button>
      <Anchor component="button" type="button" size="sm" onClick={change}>
        {isBackup ? signInText.code.useApp : signInText.code.useBackup}
      </Anchor>
    </SignInCard>
  );
}
