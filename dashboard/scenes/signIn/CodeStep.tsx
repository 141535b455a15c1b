// The second step of sign-in: a code of the authenticator app, or a backup code.

import { Anchor, Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
import { useEnter } from "./enter.ts";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { signInText } from "../../messages/signIn.ts";

export function CodeStep({ onBack }: { onBack: () => void }) {
  const enter = useEnter();
  const [code, setCode] = useState("");
  const [isBackup, setBackup] = useState(false);
  const { mutate, error, isPending, reset } = useSend("POST /session/code", { onDone: enter });
  const change = () => {
    setBackup(!isBackup);
    setCode("");
    reset();
  };
  return (
    <SignInCard
      title={signInText.code.title}
      about={isBackup ? signInText.code.aboutBackup : signInText.code.aboutApp}
      onSubmit={() => mutate({ body: { code: code.replaceAll(" ", "") } })}
      footer={
        <Anchor component="button" type="button" size="sm" onClick={onBack}>
          {signInText.code.anotherAccount}
        </Anchor>
      }
    >
      <TextInput
        key={String(isBackup)}
        label={isBackup ? signInText.code.backupCode : signInText.code.code}
        name="code"
        autoComplete={isBackup ? "off" : "one-time-code"}
        inputMode={isBackup ? "text" : "numeric"}
        required
        autoFocus
        maxLength={40}
        value={code}
        error={fieldError(error, "code")}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <SignInError error={otherError(error, "code")} />
      <Button type="submit" loading={isPending}>
        {signInText.signIn}
      </Button>
      <Anchor component="button" type="button" size="sm" onClick={change}>
        {isBackup ? signInText.code.useApp : signInText.code.useBackup}
      </Anchor>
    </SignInCard>
  );
}
