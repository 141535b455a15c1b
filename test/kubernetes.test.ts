// The manifests of ops/kubernetes: checked against the types of the Kubernetes API by the compiler, against the relay, and built with
// the overlays of the page by kustomize, where kubectl is installed.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { HorizontalPodAutoscaler } from "kubernetes-types/autoscaling/v2.d.ts";
import type { Job } from "kubernetes-types/batch/v1.d.ts";
import type { PodSpec, PodTemplateSpec, Service } from "kubernetes-types/core/v1.d.ts";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.d.ts";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "../src/installation/config.ts";
import { freshFolder } from "./support/databases.ts";
import { blocksOf } from "./support/documents/documents.ts";
import { findProgram } from "./support/servers/programs.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const readYaml = (path: string): unknown => parse(read(path), { strict: true, uniqueKeys: true });
const { version } = JSON.parse(read("package.json")) as { version: string };
const known = [...read(".env.example").matchAll(/^# ([A-Z_]+)=/gm)].map(([, name]) => name);

/** The module and the type of each kind of object. */
const types: Readonly<Record<string, string>> = {
  "apps/v1 Deployment": "apps/v1",
  "v1 Service": "core/v1",
  "policy/v1 PodDisruptionBudget": "policy/v1",
  "autoscaling/v2 HorizontalPodAutoscaler": "autoscaling/v2",
  "batch/v1 Job": "batch/v1",
};

type Kustomization = {
  resources?: string[];
  components?: string[];
  configMapGenerator?: { name: string; literals: string[] }[];
  images?: { name: string; newName: string; newTag: string }[];
  patches?: { path: string; target: Record<string, string> }[];
};

const kustomizationOf = (folder: string) => readYaml(`ops/kubernetes/${folder}/kustomization.yaml`) as Kustomization;
const deployment = readYaml("ops/kubernetes/relay/deployment.yaml") as Deployment;
const autoscaler = readYaml("ops/kubernetes/relay/autoscaler.yaml") as HorizontalPodAutoscaler;
const budget = readYaml("ops/kubernetes/relay/disruption-budget.yaml") as PodDisruptionBudget;
const service = readYaml("ops/kubernetes/relay/service.yaml") as Service;
const job = readYaml("ops/kubernetes/migrate/job.yaml") as Job;

/** The blocks of the page that contain these words. */
const pageBlocks = (words: string) => blocksOf("docs/how-to/kubernetes.md").filter(({ text }) => text.includes(words));
const componentsOf = (text = "") => (parse(text) as Kustomization).components ?? [];
/** The files that the page tells its reader to write, by their paths. */
const overlays = Object.fromEntries(
  pageBlocks("apiVersion: kustomize").map(({ text }) => [/^# (\S+)\n/.exec(text)?.[1] ?? "", text]),
);

const podOf = (template: PodTemplateSpec | undefined): PodSpec => template?.spec ?? expect.unreachable("no pod");
const relayPod = podOf(deployment.spec?.template);
const relay = relayPod.containers[0] ?? expect.unreachable("no container");
const settings = Object.fromEntries(
  (kustomizationOf("relay").configMapGenerator?.[0]?.literals ?? []).map((line) => line.split("=") as [string, string]),
);

/** Writes each object as a constant of its type; returns what the compiler reports. */
async function typeErrors(objects: readonly unknown[]): Promise<string> {
  const folder = freshFolder();
  const lines = objects.map((object, i) => {
    const { apiVersion, kind } = object as { apiVersion: string; kind: string };
    const module = types[`${apiVersion} ${kind}`] ?? expect.unreachable(`${apiVersion} ${kind}`);
    const from = join(root, "node_modules/kubernetes-types", module);
    return `import type { ${kind} as T${i} } from ${JSON.stringify(from)};\nexport const o${i}: T${i} = ${JSON.stringify(object)};`;
  });
  writeFileSync(join(folder, "objects.ts"), lines.join("\n"));
  const compilerOptions = {
    noEmit: true,
    strict: true,
    module: "preserve",
    target: "es2024",
    types: [],
    skipLibCheck: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["objects.ts"] }));
  const tsc = join(root, "node_modules/.bin/tsc");
  return run(process.execPath, [tsc, "-p", folder], { cwd: root }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
}

type Operation = { op: string; path: string; value: unknown };

/** Applies a JSON patch that only adds. A path that leads nowhere is an error, as it is for kustomize. */
function applyPatch<T extends object>(to: T, patch: unknown): T {
  const patched = structuredClone(to);
  for (const { op, path, value } of patch as Operation[]) {
    expect(op).toBe("add");
    addAt(patched as Record<string, unknown>, path.split("/").slice(1), value);
  }
  return patched;
}

function addAt(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length > 0) return addAt(into[name] as Record<string, unknown>, rest, value);
  if (Array.isArray(into) && name === "-") into.push(value);
  else into[name] = value;
}

describe("the manifests for Kubernetes", () => {
  test("every object has the fields and types of the Kubernetes API", async () => {
    const objects = ["relay", "migrate"].flatMap((folder) =>
      (kustomizationOf(folder).resources ?? []).map((file) => readYaml(`ops/kubernetes/${folder}/${file}`)),
    );
    expect(objects).toHaveLength(5);
    expect(await typeErrors(objects)).toBe("");
    const misspelt = structuredClone(budget) as unknown as { spec: Record<string, unknown> };
    misspelt.spec["maxUnavailible"] = 1;
    expect(await typeErrors([misspelt])).toContain("maxUnavailible");
  });

  test("every file is part of a kustomization", () => {
    for (const folder of readdirSync(join(root, "ops/kubernetes"))) {
      const named = read(`ops/kubernetes/${folder}/kustomization.yaml`);
      for (const file of readdirSync(join(root, "ops/kubernetes", folder)))
        if (file !== "kustomization.yaml") expect(named).toContain(file);
    }
  });

  test("settings and secrets are variables of the relay, with values that it accepts", () => {
    const secrets = [...read("docs/how-to/kubernetes.md").matchAll(/--from-literal=([A-Z_]+)=/g)].map(([, name]) => name);
    expect(secrets).toHaveLength(3);
    for (const name of [...Object.keys(settings), ...secrets]) expect(known).toContain(name);
    const config = readConfig({ ...settings, DATABASE_URL: "postgres://cleancast@database/cleancast" });
    expect(config.store.engine).toBe("postgres");
    expect(relay.envFrom?.map((from) => from.configMapRef?.name ?? from.secretRef?.name)).toEqual(["cleancast", "cleancast"]);
  });

  test("the patch of the page applies a configuration file with a command of the relay", async () => {
    const block = blocksOf("docs/how-to/kubernetes.md").find(({ text }) => text.includes("patches:"));
    const overlay = parse(block?.text ?? "") as {
      configMapGenerator: { name: string; files: string[] }[];
      patches: { patch: string; target: { kind: string; name: string } }[];
    };
    const [{ patch, target } = expect.unreachable("no patch")] = overlay.patches;
    expect(target).toEqual({ kind: deployment.kind, name: deployment.metadata?.name });
    const patched = applyPatch(deployment, parse(patch));
    expect(await typeErrors([patched])).toBe("");
    const pod = podOf(patched.spec?.template);
    const [{ name, files } = expect.unreachable("no file")] = overlay.configMapGenerator;
    const folder = pod.containers[0]?.volumeMounts?.find(({ name: volume }) => volume === "configuration");
    expect(pod.containers[0]?.args).toEqual(["serve", "--config", `${folder?.mountPath}/${files[0]}`]);
    expect(pod.volumes?.at(-1)).toEqual({ name: "configuration", configMap: { name } });
  });

  test("a node has time to drain and to stop before it is killed", () => {
    const drain = Number(settings["CLEANCAST_DRAIN_SECONDS"]);
    expect(relayPod.terminationGracePeriodSeconds).toBeGreaterThan(drain + 25);
    const { periodSeconds = 0, failureThreshold = 0 } = relay.readinessProbe ?? {};
    expect(drain).toBeGreaterThan(periodSeconds * failureThreshold);
  });

  test("probes ask the paths of the relay on its port, and only readiness checks the database", () => {
    expect(relay.ports).toEqual([{ name: "http", containerPort: readConfig({}).port }]);
    const asked = [relay.startupProbe, relay.livenessProbe, relay.readinessProbe].map((probe) => probe?.httpGet);
    expect(asked).toEqual(["/healthz", "/healthz", "/readyz"].map((path) => ({ path, port: "http" })));
    expect(service.spec?.ports?.[0]?.targetPort).toBe("http");
  });

  test("every object selects the pods of the relay", () => {
    const labels = { "app.kubernetes.io/name": "cleancast" };
    expect(deployment.spec?.template.metadata?.labels).toEqual(labels);
    for (const selector of [deployment.spec?.selector, budget.spec?.selector]) expect(selector?.matchLabels).toEqual(labels);
    expect(service.spec?.selector).toEqual(labels);
    expect(autoscaler.spec?.scaleTargetRef.name).toBe(deployment.metadata?.name);
    // Otherwise the service would send requests to the migration.
    expect(job.spec?.template.metadata?.labels).not.toEqual(labels);
  });

  test("containers run as the numeric user of the image, without rights and on a read-only disk", () => {
    const [, user] = /useradd --uid (\d+)/.exec(read("Dockerfile")) ?? [];
    for (const pod of [relayPod, podOf(job.spec?.template)]) {
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: Number(user),
        fsGroup: Number(user),
      });
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.containers.map(({ securityContext }) => securityContext)).toEqual([
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      ]);
      const mounted = pod.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath);
      expect(mounted).toEqual(["/data", "/tmp"]);
    }
  });

  test("the overlays of the page fit to the manifests, and name their image", () => {
    const { resources, configMapGenerator } = parse(overlays["kustomization.yaml"] ?? "") as Required<Kustomization>;
    const folders = [...resources, ...componentsOf(pageBlocks("components:").at(-1)?.text)].filter((one) => one !== "image");
    expect(folders).toEqual(["ops/kubernetes/relay", "ops/kubernetes/backlog"]);
    for (const folder of folders) expect(existsSync(join(root, folder, "kustomization.yaml")), folder).toBe(true);
    const merged = configMapGenerator.flatMap(({ literals }) => literals.map((line) => line.split("=")));
    expect(readConfig({ ...settings, ...Object.fromEntries(merged) }).unknownVariables).toEqual([]);
    for (const [name = ""] of merged) expect(Object.keys(settings)).toContain(name);
    const [image = expect.unreachable("no image")] =
      (parse(overlays["image/kustomization.yaml"] ?? "") as Kustomization).images ?? [];
    expect(image.newTag).toBe(version);
    // A base that renames the image itself leaves nothing that an overlay could rename.
    for (const folder of ["relay", "migrate"]) expect(kustomizationOf(folder).images).toBeUndefined();
    for (const pod of [relayPod, podOf(job.spec?.template)]) expect(pod.containers.map((one) => one.image)).toEqual([image.name]);
  });

  const kubectl = findProgram("kubectl");
  const sentence = "the overlays of the page make nodes and a migration with the reader's registry, version and settings";
  test.skipIf(!kubectl)(`${sentence}${kubectl ? "" : " (skipped: kubectl is not installed)"}`, async () => {
    const folder = freshFolder();
    cpSync(join(root, "ops"), join(folder, "ops"), { recursive: true });
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    for (const [path, text] of Object.entries(overlays)) write(path, text);
    const [looking] = pageBlocks("kubectl kustomize");
    const look = async () =>
      (await run("sh", ["-c", looking?.text ?? ""], { cwd: folder })).stdout.replaceAll(/^ +image: /gm, "");
    expect(await look()).toBe(`registry.example.com/cleancast:${version}\n`.repeat(2));

    // Another registry and version than those of the page, its file of the configuration and its component.
    const image = overlays["image/kustomization.yaml"] ?? "";
    write("image/kustomization.yaml", image.replace("registry.example.com/", "10.0.0.5:5000/team/").replace(version, "9.9.9"));
    expect(await look()).toBe("10.0.0.5:5000/team/cleancast:9.9.9\n".repeat(2));
    const main = parse(overlays["kustomization.yaml"] ?? "") as Kustomization;
    const patching = parse(pageBlocks("patches:")[0]?.text ?? "") as Kustomization;
    const components = componentsOf(pageBlocks("components:").at(-1)?.text);
    const configMapGenerator = [...(main.configMapGenerator ?? []), ...(patching.configMapGenerator ?? [])];
    write("kustomization.yaml", JSON.stringify({ ...main, ...patching, components, configMapGenerator }));
    write("cleancast.yaml", "version: 1\n");
    const { stdout } = await run(kubectl as string, ["kustomize", "."], { cwd: folder });
    const built = parseAllDocuments(stdout).map((one) => one.toJS() as { kind: string } & Record<string, unknown>);
    const ofKind = (kind: string) => built.filter((one) => one.kind === kind);
    const checked = built.filter(({ kind }) => kind !== "ConfigMap");
    expect(checked).toHaveLength(4);
    expect(await typeErrors(checked)).toBe("");
    const maps = ofKind("ConfigMap") as unknown as { metadata: { name: string }; data: Record<string, string> }[];
    const own = maps.find(({ data }) => data["CLEANCAST_URL"]) ?? expect.unreachable("no settings");
    expect(own.data).toEqual({ ...settings, CLEANCAST_URL: "https://cc.example.com", CLEANCAST_TRUST_PROXY: "10.42.0.0/16" });
    const pod = podOf((ofKind("Deployment")[0] as unknown as Deployment).spec?.template);
    expect(pod.containers[0]).toMatchObject({
      image: "10.0.0.5:5000/team/cleancast:9.9.9",
      args: ["serve", "--config", "/etc/cleancast/cleancast.yaml"],
    });
    // kustomize names the maps after their content; the node must ask for these names.
    expect(pod.containers[0]?.envFrom?.[0]?.configMapRef?.name).toBe(own.metadata.name);
    expect(maps.map(({ metadata }) => metadata.name)).toContain(pod.volumes?.at(-1)?.configMap?.name);
    const scaled = ofKind("HorizontalPodAutoscaler")[0] as unknown as HorizontalPodAutoscaler;
    expect(scaled.spec?.metrics).toHaveLength(2);
  });

  test("the patched autoscaler has the fields and types of the Kubernetes API", async () => {
    const { patches } = kustomizationOf("backlog");
    const [{ path, target } = expect.unreachable("no patch")] = patches ?? [];
    const [group, objectVersion] = autoscaler.apiVersion?.split("/") ?? [];
    const { kind, metadata } = autoscaler;
    expect(target).toEqual({ group, version: objectVersion, kind, name: metadata?.name });
    const patch = read(`ops/kubernetes/backlog/${path}`);
    expect(await typeErrors([applyPatch(autoscaler, parse(patch))])).toBe("");
    const misspelt = parse(patch.replace("target:", "targets:"));
    expect(await typeErrors([applyPatch(autoscaler, misspelt)])).toContain("targets");
  });

  test("the autoscaler uses CPU, and the backlog from metrics that the relay has", () => {
    const { spec } = applyPatch(autoscaler, readYaml("ops/kubernetes/backlog/autoscaler-patch.yaml"));
    const metrics = spec?.metrics?.map(({ resource, external }) => resource?.name ?? external?.metric.name);
    const rules = readYaml("ops/prometheus/backlog.yml") as {
      groups: { rules: { record: string; expr: string }[] }[];
    };
    const rule = rules.groups[0]?.rules[0] ?? expect.unreachable("no rule");
    expect(metrics).toEqual(["cpu", rule.record]);
    const source = read("src/observability/metrics.ts");
    const used = rule.expr.match(/cleancast_\w+/g) ?? [];
    expect(used).toHaveLength(2);
    for (const name of used) expect(source).toContain(`"${name}"`);
  });
});
