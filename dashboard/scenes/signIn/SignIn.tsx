import { Anchor, Button, PasswordInput, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fieldError, otherError } from "../../common/fields.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { CodeStep } from "./CodeStep.tsx";
import { useEnter } from "./enter.ts";
import { SignInCard } from "./SignInCard.tsx";
import { SignInError } from "./SignInError.tsx";

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

  if (setup.data?.needed)
    return (
      <SignInCard
        title="Not set up yet"
        about="This installation has no owner yet. Open the set-up link that the console printed when Cleancast started."
      />
    );
  if (isCodeNeeded) return <CodeStep onBack={() => setCodeNeeded(false)} />;
  const provider = setup.data?.singleSignOn;
  const toProvider = provider && (
    <Button component="a" href="/oauth/sign-in" variant={setup.data?.passwords ? "default" : "filled"}>
      Sign in with {provider}
    </Button>
  );
  if (setup.data?.passwords === false) return <SignInCard title="Sign in">{toProvider}</SignInCard>;
  return (
    <SignInCard
      title="Sign in"
      onSubmit={() => mutate({ body: { email, password } })}
      footer={
        <Anchor component={Link} to="/forgotten" size="sm">
          Forgot password?
        </Anchor>
      }
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
      <PasswordInput
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        error={fieldError(error, "password")}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ "aria-label": "Show or hide the password" }}
      />
      <SignInError error={otherError(error, "email", "password")} />
      <Button type="submit" loading={isPending}>
        Sign in
      </Button>
      {toProvider}
    </SignInCard>
  );
}
