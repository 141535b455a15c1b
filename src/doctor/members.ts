// Checks whether members can sign in.

import { listDamagedSecrets } from "../access/twoFactorSecrets.ts";
import { createSender } from "../delivery/send.ts";
import { error, ok, type AsyncFindings, type DoctorContext, type StoreContext } from "./finding.ts";

export async function* checkMembers({ store }: StoreContext): AsyncFindings {
  for (const email of await listDamagedSecrets(await store.members.listTwoFactors(), store.accessSecret))
    yield error(
      `${email}: the two-factor sign-in cannot be read: its row in the database is damaged`,
      `cleancast member reset ${email} makes a link that sets a new password and turns two-factor sign-in off.`,
    );
}

/** People notice only when they sign in that the address of the provider is wrong. */
export async function* checkSingleSignOn({ config }: Pick<DoctorContext, "config">): AsyncFindings {
  const { singleSignOn, connectMs, attemptMs, allowPrivate } = config;
  if (!singleSignOn) return;
  const { findProviderFault } = await import("../access/singleSignOn/provider.ts");
  const sender = createSender({ connectMs, attemptMs, allow: allowPrivate, origins: {} });
  try {
    const fault = await findProviderFault(singleSignOn, (request) =>
      sender.send(request, { platform: "oidc", customerAddress: true }),
    );
    yield fault === null
      ? ok(`the OpenID provider ${singleSignOn.issuer} answers`)
      : error(
          `nobody can sign in at the OpenID provider ${singleSignOn.issuer}: ${fault}`,
          "Correct CLEANCAST_OIDC_ISSUER. A provider in a private network needs its host in CLEANCAST_ALLOW_PRIVATE.",
        );
  } finally {
    await sender.close();
  }
}
