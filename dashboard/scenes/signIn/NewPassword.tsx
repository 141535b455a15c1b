import { PasswordInput } from "@mantine/core";

/** One field whose text can be shown, instead of typing the password twice. */
export function NewPassword({
  label = "Password",
  value,
  onChange,
  fault = null,
}: {
  label?: string;
  value: string;
  onChange: (value: string) => void;
  fault?: string | null;
}) {
  return (
    <PasswordInput
      label={label}
      description="At least 12 characters. A few random words are easy to remember and hard to guess."
      name="new-password"
      autoComplete="new-password"
      minLength={12}
      maxLength={200}
      required
      value={value}
      error={fault}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ "aria-label": "Show or hide the password", tabIndex: 0 }}
    />
  );
}
