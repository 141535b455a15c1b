// The files around a release: workflows, templates and notes. GitHub runs the workflows; this checks what can be checked here.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { checkFrozen, notesOf } from "../scripts/releaseNotes.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const { version, scripts } = JSON.parse(read("package.json")) as {
  version: string;
  scripts: Record<string, string>;
};

type Step = { uses?: string; run?: string; with?: Record<string, unknown> };
type Permissions = Record<string, string>;
type Job = {
  uses?: string;
  needs?: string;
  permissions?: Permissions;
  "timeout-minutes"?: number;
  steps?: Step[];
};
type Workflow = { permissions: Permissions; jobs: Record<string, Job> };

const folder = ".github/workflows";
const workflows = readdirSync(join(root, folder)).map(
  (file) => [file, parse(read(`${folder}/${file}`), { strict: true, uniqueKeys: true }) as Workflow] as const,
);
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps);

describe.each(workflows)("the workflow %s", (file, workflow) => {
  test("a workflow may only read, and its jobs may write only what they publish", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const [name, { permissions = {} }] of Object.entries(workflow.jobs)) {
      const written = Object.entries(permissions).filter(([, access]) => access === "write");
      const expected = name === "package" ? ["contents", "id-token"] : [];
      expect(written.map(([what]) => what)).toEqual(expected);
    }
  });

  test("a workflow runs only scripts and files that exist, and every job has a time limit", () => {
    for (const { uses, needs, steps, ...job } of Object.values(workflow.jobs)) {
      if (uses !== undefined) expect(existsSync(join(root, uses)), uses).toBe(true);
      else expect(job["timeout-minutes"]).toBeGreaterThan(0);
      if (needs !== undefined) expect(workflow.jobs).toHaveProperty(needs);
      for (const { run = "" } of steps ?? []) {
        for (const [, script = ""] of run.matchAll(/npm run (?:-s )?(\S+)/g)) expect(scripts).toHaveProperty(script);
        for (const [path] of run.matchAll(/(?:\.ci|scripts)\/\S+/g)) expect(existsSync(join(root, path)), path).toBe(true);
      }
    }
  });

  test("a workflow uses actions by their commits, which cannot be changed afterwards, and names their versions", () => {
    const used = [...read(`${folder}/${file}`).matchAll(/uses: (?!\.\/)(.*)$/gm)].map(([, action]) => action);
    expect(used).toHaveLength(stepsOf(workflow).filter(({ uses }) => uses !== undefined).length);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("a workflow leaves no credentials in the folder of the sources", () => {
    for (const { uses, with: options } of stepsOf(workflow))
      if (uses?.startsWith("actions/checkout")) expect(options).toMatchObject({ "persist-credentials": false });
  });
});

test("a release is published only after the checks of its version and the tests, with provenance and a list of parts", () => {
  const release = new Map(workflows).get("release.yml") ?? expect.unreachable("no release workflow");
  for (const name of ["package", "image"]) expect(release.jobs[name]?.needs).toBe("test");
  expect(release.jobs["test"]).toEqual({ needs: "version", uses: "./.github/workflows/test.yml" });
  expect(release.jobs["version"]?.steps?.at(-1)?.run).toBe('node scripts/releaseNotes.ts "$GITHUB_REF_NAME"');
  const steps = stepsOf(release);
  expect(steps.some(({ run }) => run?.includes("npm publish") && run.includes("--provenance"))).toBe(true);
  const image = steps.find(({ uses }) => uses?.startsWith("docker/build-push-action"));
  expect(image?.with).toMatchObject({
    platforms: "linux/amd64,linux/arm64",
    sbom: true,
    provenance: "mode=max",
  });
});

test("forms for issues ask for something, and each field has an id of its own", () => {
  for (const file of ["bug.yml", "platform.yml"]) {
    const form = parse(read(`.github/ISSUE_TEMPLATE/${file}`), { strict: true }) as {
      name: string;
      description: string;
      body: { type: string; id?: string; attributes: { label?: string } }[];
    };
    const fields = form.body.filter(({ type }) => type !== "markdown");
    const ids = fields.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { attributes } of fields) expect(attributes.label).toBeTruthy();
  }
});

describe("the notes of a release", () => {
  const changelog =
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-20\n\n### Added\n\n- One thing.\n\n## 0.1.0 - 2026-01-02\n";

  test("the notes of a release are its section of the changelog", () => {
    expect(notesOf("v0.2.0", "0.2.0", changelog)).toBe("### Added\n\n- One thing.");
  });

  test("the changelog has dated notes for the version of this package, below a section for changes to come", () => {
    const text = read("CHANGELOG.md");
    expect(text.match(/^## .*$/m)?.[0]).toBe("## Unreleased");
    expect(notesOf(`v${version}`, version, text)).toMatch(/^### Added$/m);
  });

  test("a release whose statements are not recorded is refused", () => {
    expect(() => checkFrozen("0.3.0", () => false)).toThrow("test/releases/0.3.0.json is missing");
    expect(() => checkFrozen("0.3.0", (path) => path === "test/releases/0.3.0.json")).not.toThrow();
  });

  test.each([
    ["a tag of another version", "v0.2.1", "0.2.0", changelog, 'The tag is "v0.2.1"'],
    ["no tag", "", "0.2.0", changelog, 'The tag is ""'],
    ["no section", "v0.3.0", "0.3.0", changelog, "no section for 0.3.0"],
    ["no date", "v0.3.0", "0.3.0", "## 0.3.0\n\n- x\n", "has no date"],
  ])("a release with %s is refused", (_what, tag, released, text, message) => {
    expect(() => notesOf(tag, released, text)).toThrow(message);
  });
});
