import { PasswordInput } from "@mantine/core";

/** One field that can be looked at: typing it twice only teaches to copy it. */
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
      description="At least 12 characters. A few words in a row are easy to remember and hard to guess."
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
