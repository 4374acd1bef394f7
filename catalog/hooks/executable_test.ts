import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { type Ending, temporaryFolder } from "../../tests/support/temporary.ts";
import { CONFIG, fill, testCatalog } from "../testing.ts";
import type { CoprocessOptions } from "./coprocess.ts";
import { executableHook } from "./executable.ts";
import { loadHooks } from "./load.ts";
import type { Hook } from "./mod.ts";

/** Makes a program of a shell script. */
function shellHook(t: Ending, script: string, options: CoprocessOptions = {}): Hook {
  const program = join(temporaryFolder(t), "hook");
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return executableHook("exec:hook", program, options);
}

/** Makes a program whose answers a JavaScript function of the question gives. */
function scriptHook(t: Ending, answer: string): Hook {
  const program = join(temporaryFolder(t), "hook.js");
  const text = `#!${process.execPath}
import { createInterface } from "node:readline";
const answer = (question) => { ${answer} };
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(answer(JSON.parse(line)) ?? {}));
}
`;
  writeFileSync(program, text, { mode: 0o755 });
  return executableHook("exec:hook", program);
}

async function catalogWith(t: Ending, hook: Hook) {
  const opened = await testCatalog(t, CONFIG, { configHooks: [hook] });
  await fill(opened.engine, { "t/a": "1", "t/b": "22", secret: "333" }, { message: "first" });
  return opened;
}

const stat = ["data://acme/sales/t/a", "lakefs-acme://acme-sales/main/t/a"] as const;

describe("hooks that are programs", () => {
  it("are told of each call before and after it, one line of JSON each, from the session's start to its end", async (t) => {
    const log = join(temporaryFolder(t), "log");
    const { catalog } = await catalogWith(
      t,
      shellHook(t, `while read -r line; do echo "$line" >> "${log}"; echo '{}'; done; echo end >> "${log}"`),
    );
    await catalog.stat(stat[0]);
    await assert.rejects(catalog.stat("data://acme/sales/none"));
    await catalog.close();
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    assert.equal(lines.pop(), "end");
    const told = lines.map((line) => JSON.parse(line));
    assert.deepEqual(told[0], { when: "hello", protocol: 1 });
    const session = told[1].request.session;
    assert.deepEqual(told.slice(1, 5).map(({ when, call, request }) => [when, call, request?.spot]), [
      ["before", 1, "session"],
      ["after", 1, undefined],
      ["before", 2, "resolve"],
      ["after", 2, undefined],
    ]);
    assert.deepEqual(told[5], {
      when: "before",
      call: 3,
      request: {
        spot: "stat",
        principal: "ann",
        session,
        uri: stat[0],
        logical: stat[0],
        physical: stat[1],
      },
    });
    const { answer } = told[6];
    assert.deepEqual([answer.name, answer.kind, answer.size_bytes], ["a", "file", 1]);
    const failed = told.find(({ error }) => error);
    assert.equal(failed.error.code, "object_not_found");
    assert.equal(told.at(-2).request.phase, "end");
  });

  it("refuse a call with what they say", async (t) => {
    const { catalog } = await catalogWith(
      t,
      scriptHook(t, `if (question.request?.spot === "stat") return { error: "ask Bob first\\nnot me" };`),
    );
    await assert.rejects(catalog.stat(stat[0]), {
      kind: "forbidden",
      code: "hook_refused",
      message: `Cannot look at "${stat[0]}": ask Bob first`,
    });
    await catalog.pin(stat[0]);
  });

  it("change the request, and nothing in it that is not theirs to change", async (t) => {
    const { catalog } = await catalogWith(
      t,
      scriptHook(
        t,
        `if (question.request?.spot === "stat") {
          return { next: { physical: "lakefs-acme://acme-sales/main/secret", principal: "root" } };
        }`,
      ),
    );
    assert.equal((await catalog.stat(stat[0])).sizeBytes, 3);
  });

  it("answer by themselves, and change answers", async (t) => {
    const { catalog } = await catalogWith(
      t,
      scriptHook(
        t,
        `if (question.when === "before" && question.request.spot === "fetch") return { answer: "/elsewhere" };
         if (question.answer?.kind === "file") return { answer: { ...question.answer, size_bytes: 99 } };
         if (question.answer?.base64) return { answer: { base64: btoa("X") } };
         if (Array.isArray(question.answer)) return { answer: question.answer.filter(({ name }) => name !== "b") };`,
      ),
    );
    assert.equal(await catalog.fetch(stat[0]), "/elsewhere");
    assert.equal((await catalog.stat(stat[0])).sizeBytes, 99);
    const names = [];
    for await (const page of catalog.list("data://acme/sales/t")) names.push(...page.map(({ name }) => name));
    assert.deepEqual(names, ["a"]);
  });

  it("see and change the blocks that are read", async (t) => {
    const { catalog } = await catalogWith(
      t,
      scriptHook(
        t,
        `if (question.answer?.base64) return { answer: { base64: btoa(atob(question.answer.base64) + "!") } };`,
      ),
    );
    await using file = await catalog.openFile(stat[0]);
    assert.equal(new TextDecoder().decode(await file.readBlock(0, 10)), "1!");
  });

  it("say which spots they are for, and whether they care for answers", async (t) => {
    const log = join(temporaryFolder(t), "log");
    const { catalog } = await catalogWith(
      t,
      shellHook(
        t,
        `while read -r line; do echo "$line" >> "${log}"; echo '{"spots":["fetch"],"after":false}'; done`,
      ),
    );
    await catalog.stat(stat[0]);
    await catalog.fetch(stat[0]);
    await catalog.close();
    const told = readFileSync(log, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(told.map(({ when, request }) => [when, request?.spot]), [
      ["hello", undefined],
      ["before", "fetch"],
    ]);
  });

  it("run with a bare environment, without a shell, and end with the session", async (t) => {
    const folder = temporaryFolder(t);
    process.env["TARN_TEST_SECRET"] = "hush";
    t.after(() => void delete process.env["TARN_TEST_SECRET"]);
    const { catalog } = await catalogWith(
      t,
      shellHook(
        t,
        `env > "${folder}/env"; pwd > "${folder}/pwd"; echo $$ > "${folder}/pid"; while read -r line; do echo '{}'; done`,
      ),
    );
    await catalog.stat(stat[0]);
    const known = /^(PATH|LANG|PWD|OLDPWD|SHLVL|_)=|^$/;
    const variables = readFileSync(join(folder, "env"), "utf8").split("\n");
    assert.deepEqual(variables.filter((line) => !known.test(line)), []);
    assert.equal(readFileSync(join(folder, "pwd"), "utf8"), "/\n");
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    process.kill(pid, 0);
    await catalog.close();
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });

  const failures: readonly (readonly [name: string, script: string, says: RegExp])[] = [
    ["ends", "read -r line; echo one >&2; echo two >&2; exit 3", /ended with 3: two$/],
    ["is killed", "read -r line; kill -9 $$", /ended with SIGKILL/],
    ["answers with no JSON", 'read -r line; echo "yes"; read -r line', /a line that is no JSON/],
    ["answers with JSON that is no object", "read -r line; echo '[]'; read -r line", /no object/],
    ["answers with too much", "read -r line; head -c 2000 /dev/zero; read -r line", /more than 1000 bytes/],
    [
      "answers twice",
      "read -r line; printf '{}\\n{}\\n'; read -r line",
      /more than one line|without being asked/,
    ],
    [
      "asks for spots that there are not",
      `read -r line; echo '{"spots":["fly"]}'`,
      /spots that there are not/,
    ],
    ["does not answer", "read -r line; exec sleep 100", /did not answer within 0.3 s/],
    ["answers in bytes that are no text", "read -r line; printf '\\377\\n'; read -r line", /not UTF-8/],
  ];
  for (const [name, script, says] of failures) {
    it(`a program that ${name} fails every call, and lets none through`, async (t) => {
      const hook = shellHook(t, script, { timeLimitMs: 300, maxAnswerBytes: 1000 });
      const { catalog } = await testCatalog(t, CONFIG, {}).then(({ again }) =>
        again({ configHooks: [hook] }).then((catalog) => ({ catalog }), (error) => {
          assert.equal(error.code, "hook_failed");
          assert.match(error.message, says);
          return { catalog: undefined };
        })
      );
      if (!catalog) return;
      await assert.rejects(catalog.stat(stat[0]), (error: { code: string; message: string }) => {
        assert.equal(error.code, "hook_failed");
        assert.match(error.message, says);
        return true;
      });
      await assert.rejects(catalog.pin(stat[0]), { code: "hook_failed" });
    });
  }

  it("are killed if they do not end with their session", async (t) => {
    const file = join(temporaryFolder(t), "pid");
    const { catalog } = await catalogWith(
      t,
      shellHook(t, `echo $$ > "${file}"; while read -r line; do echo '{}'; done; exec sleep 100`),
    );
    await catalog.close();
    const pid = Number(readFileSync(file, "utf8"));
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });
});

describe("loadHooks()", () => {
  function placesIn(folder: string, configFolder: string | undefined = folder) {
    mkdirSync(join(folder, "config/hooks"), { recursive: true });
    return {
      ...(configFolder === "" ? {} : { configFolder }),
      userConfigFolder: join(folder, "config"),
      userFolder: folder,
      log: () => {},
      clock: { now: () => 0 },
    };
  }
  const request = { spot: "stat", session: "s", principal: "ann" } as const;

  it("takes modules: a function as default export, the spots that it is for", async (t) => {
    const folder = temporaryFolder(t);
    const text = 'export const spots = ["stat"]; export default (request, next) => request.principal;';
    writeFileSync(join(folder, "hook.mjs"), text);
    for (const name of ["module:hook.mjs", "module:~/hook.mjs", `module:${folder}/hook.mjs`]) {
      const [hook] = await loadHooks([name], placesIn(folder));
      assert.equal(hook!.name, name);
      assert.deepEqual([...hook!.spots!], ["stat"]);
      assert.equal(await hook!.run(request, async () => undefined), "ann");
    }
  });

  it("takes programs and modules of the user's own by their names", async (t) => {
    const folder = temporaryFolder(t);
    const places = placesIn(folder, "");
    writeFileSync(join(folder, "config/hooks/audit"), "#!/bin/sh\nwhile read -r l; do echo '{}'; done\n", {
      mode: 0o755,
    });
    writeFileSync(join(folder, "config/hooks/tag.js"), "export default () => 1;");
    const hooks = await loadHooks(["audit", "tag"], places);
    assert.equal(await hooks[0]!.run(request, async () => "through"), "through");
    assert.equal(await hooks[1]!.run(request, async () => "through"), 1);
    await hooks[0]!.close?.();
  });

  it("takes no path from a configuration that lies in no file", async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, "hook.mjs"), `globalThis.ran = true; export default () => 1;`);
    for (const name of [`module:${folder}/hook.mjs`, "exec:/bin/true"]) {
      await assert.rejects(loadHooks([name], placesIn(folder, "")), { code: "invalid_configuration" });
    }
    assert.equal((globalThis as { ran?: boolean }).ran, undefined);
  });

  it("refuses names that stand for nothing, or lead out of the folder of hooks", async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, "evil"), "#!/bin/sh\n", { mode: 0o755 });
    for (const name of ["../../evil", "./evil", "evil", "a/b", ".x", "", "exec:", "provcat.logg"]) {
      await assert.rejects(loadHooks([name], placesIn(folder)), { code: "invalid_configuration" }, name);
    }
    await assert.rejects(loadHooks(["provcat.logg"], placesIn(folder)), (error: CodedLike) => {
      assert.equal(error.details["suggestion"], "provcat.log");
      return true;
    });
  });

  it("says what is wrong with a module or a program", async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, "none.mjs"), "export const spots = [];");
    writeFileSync(join(folder, "broken.mjs"), "export default {");
    writeFileSync(join(folder, "spots.mjs"), 'export const spots = ["fly"]; export default () => 1;');
    for (const name of ["none", "broken", "spots", "missing"]) {
      await assert.rejects(
        loadHooks([`module:${name}.mjs`], placesIn(folder)),
        { code: "hook_failed" },
        name,
      );
    }
    const [missing] = await loadHooks(["exec:missing"], placesIn(folder));
    await assert.rejects(async () => await missing!.run(request, async () => undefined), {
      code: "hook_failed",
      message: 'Cannot go on: the hook "exec:missing" cannot be run: there is no such program',
    });
    assert.ok(!existsSync(join(folder, "missing")));
  });
});

interface CodedLike {
  readonly details: Record<string, unknown>;
}
