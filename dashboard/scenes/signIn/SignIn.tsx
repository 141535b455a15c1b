import { Anchor, Button, PasswordInput, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fieldError, otherError } from "../../common/fields.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { CodeStep } from "./CodeStep.tsx";
import { useEnter } from "./enter.ts";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";
import { commonText } from "../../messages/common.ts";
import { signInText } from "../../messages/signIn.ts";

export default function SignIn() {
  const enter = useEnter();
  const setup = useApi("GET /setup", {});
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [isCodeNeeded, setCodeNeeded] = useState(false);
  const { mutate, error, isPending } = useSend("POST /session", {
    onDone: ({ step }) => {
      setPassword("");
      if (step === "signed in") enter();
      else setCodeNeeded(true);
    },
  });

  if (setup.data?.needed) return <SignInCard title={signInText.setUp.neededTitle} about={signInText.setUp.needed} />;
  if (isCodeNeeded) return <CodeStep onBack={() => setCodeNeeded(false)} />;
  const provider = setup.data?.singleSignOn;
  const toProvider = provider && (
    <Button component="a" href="/oauth/sign-in" variant={setup.data?.passwords ? "default" : "filled"}>
      {signInText.signInWith(provider)}
    </Button>
  );
  if (setup.data?.passwords === false) return <SignInCard title={signInText.signIn}>{toProvider}</SignInCard>;
  return (
    <SignInCard
      title={signInText.signIn}
      onSubmit={() => mutate({ body: { email, password } })}
      footer={
        <Anchor component={Link} to="/forgotten" size="sm">
          {signInText.forgotten.link}
        </Anchor>
      }
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
      <PasswordInput
        label={commonText.password}
        name="password"
        autoComplete="current-password"
        required
        value={password}
        error={fieldError(error, "password")}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": commonText.showPassword }}
      />
      <SignInError error={otherError(error, "email", "password")} />
      <Button type="submit" loading={isPending}>
        {signInText.signIn}
      </Button>
      {toProvider}
    </SignInCard>
  );
}
