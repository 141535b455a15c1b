// Serves the configuration as a file. References are read from the request only: a caller must not read the environment or the
// files of the server.

import { applyFile } from "../../configFile/apply.ts";
import { describePlan, lossText } from "../../configFile/diff.ts";
import { exportConfiguration, toYaml } from "../../configFile/export.ts";
import { planFile, type FileText } from "../../configFile/plan.ts";
import type { ConfigurationContext, FileRights } from "../../configFile/planning.ts";
import { may, type Actor } from "../../access/actor.ts";
import type { configurationRoutes } from "../../contract/configuration.ts";
import { shortId } from "../../kernel/ids.ts";
import { say } from "../../kernel/messages/message.ts";
import { Denied, Fault } from "../../kernel/refusal.ts";
import type { Call, Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { refuseDashboardHost } from "../dashboardHost.ts";

type Name = keyof typeof configurationRoutes;

export function configurationHandlers(context: ApiContext): Handlers<Name> {
  const { store, directory, access, allowPrivate, exportFolder, publicUrl, now } = context;
  const contextFor = ({ actor, by, host }: Pick<Call<Name>, "actor" | "by" | "host">): ConfigurationContext => ({
    store,
    directory,
    access,
    allowPrivate,
    exportFolder,
    rights: rightsOf(actor),
    checkHost: (name) => refuseDashboardHost(name, host, publicUrl),
    by,
  });

  return {
    async "GET /configuration"(call) {
      const exported = await exportConfiguration(contextFor(call));
      return { text: toYaml(exported), variables: exported.variables };
    },

    async "POST /configuration/plan"(call) {
      return describePlan(await planFile(contextFor(call), toFile(call.body), call.body));
    },

    async "POST /configuration/apply"(call) {
      const { body } = call;
      const { plan, notes } = await applyFile(contextFor(call), toFile(body), {
        prune: body.prune,
        owner: `API ${shortId()}`,
        now,
        elapsed: () => performance.now(),
        async confirm(planned) {
          const losses = lossText(planned);
          if (losses && !body.yes) throw new Denied("conflict", say("yes_needed", { losses }), undefined, "yes");
        },
      });
      return { ...describePlan(plan), notes };
    },
  };
}

function rightsOf(actor: Actor | null): FileRights {
  const isOwner = actor !== null && may(actor, "owner", null);
  const keys = actor?.kind !== "API key" || actor.scopes.includes("keys");
  return { keys, members: isOwner, siteDeletion: isOwner };
}

const toFile = ({ text, secrets }: { text: string; secrets: Record<string, string> }): FileText => ({
  name: "file",
  text,
  lookup: {
    variable: (name) =>
      (Object.hasOwn(secrets, name) && secrets[name]) || new Fault(`the field secrets of the request has no ${name}.`),
    file: () =>
      new Fault("a request cannot refer to a file: write ${NAME}, and the value into the field secrets of the request."),
  },
});
