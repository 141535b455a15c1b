// Checks whether members can sign in.

import { listDamagedSecrets } from "../access/twoFactorSecrets.ts";
import { error, type AsyncFindings, type StoreContext } from "./finding.ts";

export async function* checkMembers({ store }: StoreContext): AsyncFindings {
  for (const email of await listDamagedSecrets(await store.members.listTwoFactors(), store.accessSecret))
    yield error(
      `${email}: the two-factor sign-in cannot be read: its row in the database is damaged`,
      `cleancast member reset ${email} makes a link that sets a new password and turns two-factor sign-in off.`,
    );
}
