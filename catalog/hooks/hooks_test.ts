import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { CodedError } from "../../base/errors.ts";
import { CONFIG, fill, testCatalog } from "../testing.ts";
import type { LogRecord } from "./built_in.ts";
import { loadHooks } from "./load.ts";
import type { Hook, HookRequest, Next, Spot } from "./mod.ts";
import { SPOTS } from "./mod.ts";

/** Remembers what it is told, and lets everything through. */
function recorder(name = "recorder"): Hook & { readonly seen: HookRequest[] } {
  const seen: HookRequest[] = [];
  return {
    name,
    seen,
    run: (request, next) => {
      seen.push(request);
      return next();
    },
  };
}

const spotsOf = ({ seen }: { seen: HookRequest[] }) => seen.map(({ spot }) => spot);

describe("lifecycle spots", () => {
  it("every method of the catalog passes its own, after resolve", async (t) => {
    const hook = recorder();
    const { catalog, engine, folder } = await testCatalog(t, CONFIG, { hooks: [hook] });
    await fill(engine, { "t/a": "1" }, { message: "first" });
    const uri = "data://acme/sales/t/a";
    const passed: Record<string, string[]> = {};
    const during = async (name: string, call: () => Promise<unknown>) => {
      hook.seen.length = 0;
      await call();
      passed[name] = spotsOf(hook);
    };
    await during("resolve", () => catalog.resolve(uri));
    await during("pin", () => catalog.pin(uri));
    await during("stat", () => catalog.stat(uri));
    await during("list", async () => {
      for await (const _ of catalog.list("data://acme/sales/t"));
    });
    await during("fetch", () => catalog.fetch(uri));
    await during("put", () => catalog.put(uri, { body: new Uint8Array(1) }));
    await during("commit", () => catalog.commit(uri, { message: "m" }));
    await during("delete", () => catalog.delete(uri));
    await during("branch", () => catalog.branch("data://acme/sales?at=branch:dev", "main"));
    await during("snapshot", () => catalog.snapshot(uri, join(folder, "copy")));
    await during("open", async () => {
      const file = await catalog.openFile(uri + "?at=branch:dev");
      await file.readBlock(0, 1);
      await file.close();
    });
    await fill(engine, { "t/b": "2" }, { branch: "dev", message: "second" });
    await catalog.commit(uri, { message: "deleted" });
    await during("merge", () => catalog.merge("data://acme/sales", "dev"));
    await during("close", () => catalog.close());
    assert.deepEqual(passed, {
      resolve: ["resolve"],
      pin: ["resolve", "pin"],
      stat: ["resolve", "stat"],
      list: ["resolve", "list"],
      fetch: ["resolve", "fetch"],
      put: ["resolve", "put"],
      commit: ["resolve", "commit"],
      delete: ["resolve", "delete"],
      branch: ["resolve", "branch"],
      snapshot: ["resolve", "snapshot", "pin", "fetch"],
      open: ["resolve", "open", "pin", "fetch", "read_block", "close"],
      merge: ["resolve", "merge"],
      close: ["session"],
    });
    assert.deepEqual([...new Set(Object.values(passed).flat())].sort(), [...SPOTS].sort());
  });

  it("a hook sees the names, who asks, and the same session from its start to its end", async (t) => {
    const hook = recorder();
    const { catalog, engine } = await testCatalog(t, CONFIG, { hooks: [hook], principal: "bob" });
    await fill(engine, { "t/a": "1" });
    await catalog.stat("data://acme/sales/t/a?at=branch:main");
    await catalog.close();
    await catalog.close();
    const [start, resolve, stat, end, ...more] = hook.seen;
    const { session } = start!;
    assert.match(session, /^[0-9a-f]{16}$/);
    assert.deepEqual(more, []);
    assert.deepEqual(start, { spot: "session", phase: "start", principal: "bob", session });
    const uri = "data://acme/sales/t/a?at=branch:main";
    assert.deepEqual(resolve, { spot: "resolve", principal: "bob", session, uri, logical: uri });
    const physical = "lakefs-acme://acme-sales/main/t/a";
    assert.deepEqual(stat, { spot: "stat", principal: "bob", session, uri, logical: uri, physical });
    assert.deepEqual(end, { spot: "session", phase: "end", principal: "bob", session });
  });

  it("the principal is the user of the process unless the caller names another", async (t) => {
    const hook = recorder();
    const { again } = await testCatalog(t);
    await again({ hooks: [hook] });
    await again({ hooks: [hook], principal: "bob" });
    assert.deepEqual(hook.seen.map(({ principal }) => principal), ["ann", "bob"]);
  });

  it("a folder that is put passes the spot once a file, under the folder's own names", async (t) => {
    const hook = recorder();
    const { catalog, folder } = await testCatalog(t, CONFIG, { hooks: [hook] });
    mkdirSync(join(folder, "in/sub"), { recursive: true });
    for (const name of ["a", ".hidden", "sub/b"]) writeFileSync(join(folder, "in", name), name);
    const { filesIn } = await import("../local_folder.ts");
    await catalog.putFolder("data://acme/sales/t", filesIn(join(folder, "in")));
    const puts = hook.seen.filter(({ spot }) => spot === "put");
    assert.deepEqual(
      puts.map(({ uri, path, physical }) => [uri, path, physical]).sort(),
      [".hidden", "a", "sub/b"].map((path) => [
        "data://acme/sales/t",
        path,
        `lakefs-acme://acme-sales/main/t/${path}`,
      ]),
    );
  });

  it("the spots of fetch and snapshot: the answer is the local path, and the place is the one before the pin", async (t) => {
    const answers: unknown[] = [];
    const hook: Hook = {
      name: "answers",
      spots: new Set(["fetch", "snapshot"]),
      run: async (request, next) => {
        const answer = await next();
        answers.push([request.spot, request.uri, request.physical, answer]);
        return answer;
      },
    };
    const { catalog, engine, folder } = await testCatalog(t, CONFIG, { hooks: [hook] });
    const commit = await fill(engine, { "t/a": "1" }, { message: "first" });
    const copy = join(folder, "copy");
    await catalog.snapshot("data://acme/sales/t", copy);
    const cached = join(folder, "cache/lakefs-acme/acme-sales", commit!, "t");
    const pinned = `lakefs-acme://acme-sales/${commit}/t`;
    assert.deepEqual(answers, [
      ["fetch", "data://acme/sales/t", pinned, cached],
      ["snapshot", "data://acme/sales/t", "lakefs-acme://acme-sales/main/t", copy],
    ]);
  });

  it("stores that pin when they fetch are pinned before, and others are not", async (t) => {
    const { catalog, engine, asked } = await testCatalog(t);
    await fill(engine, { "t/a": "1" });
    await catalog.fetch("code://octo/repo/dev/src?at=ts:2026-01-01");
    assert.deepEqual(asked, [
      "pin github://octo/repo/src?at=ts:dev@2026-01-01",
      "fetch github://octo/repo/src?at=commit:c1",
    ]);
    // Nothing is committed on that branch: a pin first would not find what is there.
    assert.equal(readFileSync(await catalog.fetch("data://acme/sales/t/a"), "utf8"), "1");
  });
});

describe("hooks as middleware", () => {
  it("run in order, the caller's before the configuration's, and see what was changed before them", async (t) => {
    const order: string[] = [];
    const named = (
      name: string,
      change: (request: HookRequest) => HookRequest = (request) => request,
    ): Hook => ({
      name,
      spots: new Set(["stat"]),
      run: async (request, next) => {
        order.push(`${name} ${request.physical}`);
        const answer = await next(change(request));
        order.push(`after ${name}`);
        return answer;
      },
    });
    const moved = "lakefs-acme://acme-sales/main/other";
    const { catalog, engine } = await testCatalog(t, CONFIG, {
      configHooks: [named("own")],
      hooks: [named("one", (request) => ({ ...request, physical: moved })), named("two")],
    });
    await fill(engine, { other: "22" });
    assert.equal((await catalog.stat("data://acme/sales/t/a")).sizeBytes, 2);
    const asked = "lakefs-acme://acme-sales/main/t/a";
    assert.deepEqual(order, [
      `one ${asked}`,
      `two ${moved}`,
      `own ${moved}`,
      "after own",
      "after two",
      "after one",
    ]);
  });

  it("one that answers without calling next skips the cache and the store", async (t) => {
    const answering: Hook = { name: "a", spots: new Set(["fetch"]), run: () => "/elsewhere/copy" };
    const { catalog, asked } = await testCatalog(t, CONFIG, { hooks: [answering] });
    assert.equal(await catalog.fetch("data://acme/sales/nothing/is/here"), "/elsewhere/copy");
    assert.equal(await catalog.fetch("github://o/r/x?at=commit:c1"), "/elsewhere/copy");
    assert.deepEqual(asked, ["pin github://o/r/x?at=commit:c1"]);
  });

  it("the configuration's see what a caller's hook answers by itself, and may refuse it", async (t) => {
    const own = recorder("own");
    const answering: Hook = { name: "a", spots: new Set(["fetch"]), run: () => "/elsewhere" };
    const { catalog } = await testCatalog(t, CONFIG, { hooks: [answering], configHooks: [own] });
    await catalog.fetch("data://acme/sales/x");
    assert.deepEqual(spotsOf(own), ["session", "resolve", "fetch"]);
  });

  it("those of the process can neither be skipped nor shown another request than the one that runs", () => {
    const script = fileURLToPath(new URL("testdata/process_hooks.ts", import.meta.url));
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
    assert.deepEqual(JSON.parse(stdout || stderr), [
      "fetch open://x",
      "alone: /real",
      "fetch open://x",
      "answering: /forged",
      "fetch secret://x",
      "moving: Cannot go on: not this one",
    ]);
  });

  it("cannot change what they are not meant to: who asks, and for what", async (t) => {
    const own = recorder("own");
    const forging: Hook = {
      name: "forger",
      run: (request, next) =>
        next({
          ...request,
          principal: "root",
          uri: "data://other/x",
          logical: "data://other/x",
          session: "0",
        }),
    };
    const { catalog, engine } = await testCatalog(t, CONFIG, { hooks: [forging], configHooks: [own] });
    await fill(engine, { "t/a": "1" });
    await catalog.stat("data://acme/sales/t/a");
    for (const { principal, uri = "data://acme/sales/t/a", session } of own.seen) {
      assert.deepEqual([principal, uri], ["ann", "data://acme/sales/t/a"]);
      assert.notEqual(session, "0");
    }
  });

  it("an answer that is none of its spot fails the call", async (t) => {
    const wrong: Hook = { name: "wrong", spots: new Set(["stat"]), run: () => ({ kind: "fish" }) };
    const { catalog } = await testCatalog(t, CONFIG, { hooks: [wrong] });
    await assert.rejects(catalog.stat("data://acme/sales/t"), {
      code: "hook_failed",
      message: 'Cannot go on: the hook "wrong" gave no answer of the spot "stat"',
    });
  });

  it("what a hook throws is the call's failure, and stops it", async (t) => {
    const refusal = new CodedError("forbidden", "hook_refused", "Not today");
    const refusing: Hook = {
      name: "r",
      spots: new Set(["put"]),
      run: () => {
        throw refusal;
      },
    };
    const { catalog, engine } = await testCatalog(t, CONFIG, { hooks: [refusing] });
    await assert.rejects(catalog.put("data://acme/sales/x", { body: new Uint8Array(1) }), refusal);
    await assert.rejects(engine.store.stat("acme-sales", "main", "x"), { code: "object_not_found" });
  });

  it("an error of a hook's own is a refusal, and one from behind it stays what it is", async (t) => {
    const bug = new TypeError("a bug of a store");
    const grumpy: Hook = {
      name: "grumpy",
      spots: new Set(["stat", "fetch"]),
      run: async ({ spot }, next) => {
        if (spot === "fetch") throw new Error("closed on Mondays\nand more");
        return await next();
      },
    };
    const { catalog } = await testCatalog(t, CONFIG, {
      hooks: [grumpy],
      openStore: () => Promise.reject(bug),
    });
    await assert.rejects(catalog.fetch("data://acme/sales/x"), {
      kind: "forbidden",
      code: "hook_refused",
      message: 'Cannot fetch "data://acme/sales/x": closed on Mondays',
    });
    await assert.rejects(catalog.stat("data://acme/sales/x"), (error) => error === bug);
  });

  it("the end of a session runs whatever happened before, once, and stores are closed even if it fails", async (t) => {
    const phases: string[] = [];
    let closed = 0;
    const hook: Hook = {
      name: "h",
      run: async (request, next) => {
        if (request.spot === "session") phases.push(request.phase!);
        if (request.phase === "end") throw new Error("no end");
        return await next();
      },
      close: async () => void closed++,
    };
    const { catalog } = await testCatalog(t, CONFIG, { hooks: [hook] });
    await assert.rejects(catalog.stat("data://acme/sales/none"));
    await assert.rejects(catalog.close(), /no end/);
    await catalog.close();
    assert.deepEqual([phases, closed], [["start", "end"], 1]);
  });

  it("`await using` ends the session", async (t) => {
    const hook = recorder();
    const { again } = await testCatalog(t);
    {
      await using catalog = await again({ hooks: [hook] });
      void catalog;
    }
    assert.deepEqual(hook.seen.map(({ phase }) => phase), ["start", "end"]);
  });
});

describe("provcat.logical_only", () => {
  const places = {
    userConfigFolder: "/nowhere",
    userFolder: "/nowhere",
    log: () => {},
    clock: { now: () => 0 },
  };
  const logicalOnly = () => loadHooks(["provcat.logical_only"], places);

  it("lets logical names through, and refuses places", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t, CONFIG, { configHooks: await logicalOnly() });
    await fill(engine, { "t/a": "1" }, { message: "m" });
    await catalog.stat("data://acme/sales/t/a");
    await catalog.snapshot("data://acme/sales/t", join(folder, "copy"));
    await assert.rejects(catalog.stat("lakefs-acme://acme-sales/main/t/a"), {
      kind: "forbidden",
      code: "hook_refused",
      message:
        'Cannot resolve "lakefs-acme://acme-sales/main/t/a": it names a place, and the hook "provcat.logical_only" allows logical ' +
        "names alone",
    });
    await assert.rejects(catalog.put(`file://${folder}/x`, { body: new Uint8Array(0) }), {
      code: "hook_refused",
    });
  });

  it("is not got round by a caller's hook that puts a place behind a name", async (t) => {
    const place = "lakefs-acme://acme-sales/main/secret";
    const moved = (request: HookRequest, next: Next) => next({ ...request, physical: place });
    const attacks: readonly (readonly [Spot, Hook["run"]])[] = [
      ["resolve", () => place],
      ["stat", moved],
      ["pin", () => place],
      ["pin", moved],
      ["pin", async (_, next) => String(await next()).replace(/t$/, "secret")],
      ["snapshot", moved],
      ["fetch", moved],
    ];
    for (const [spot, run] of attacks) {
      const { catalog, engine, folder } = await testCatalog(t, CONFIG, {
        hooks: [{ name: "attack", spots: new Set([spot]), run }],
        configHooks: await logicalOnly(),
      });
      await fill(engine, { "secret/a": "1", "t/a": "1" }, { message: "m" });
      const call = spot === "stat"
        ? catalog.stat("data://acme/sales/t")
        : catalog.snapshot("data://acme/sales/t", join(folder, "copy"));
      await assert.rejects(call, { code: "hook_refused" }, `${spot} ${run}`);
    }
  });
});

describe("provcat.log", () => {
  it("tells each call with its outcome, also of those that failed", async (t) => {
    const records: LogRecord[] = [];
    const configHooks = await loadHooks(["provcat.log"], {
      userConfigFolder: "/nowhere",
      userFolder: "/nowhere",
      log: (record) => void records.push(record),
      clock: { now: () => Date.UTC(2026, 0, 1) },
    });
    const { catalog, engine } = await testCatalog(t, CONFIG, { configHooks });
    await fill(engine, { "t/a": "1" });
    await catalog.stat("data://acme/sales/t/a");
    await assert.rejects(catalog.stat("data://acme/sales/none"));
    await catalog.close();
    assert.deepEqual(records.map(({ spot, outcome }) => `${spot} ${outcome}`), [
      "session ok",
      "resolve ok",
      "stat ok",
      "resolve ok",
      "stat object_not_found",
      "session ok",
    ]);
    assert.deepEqual(records[2], {
      time: "2026-01-01T00:00:00.000Z",
      session: records[0]!.session,
      principal: "ann",
      spot: "stat",
      uri: "data://acme/sales/t/a",
      physical: "lakefs-acme://acme-sales/main/t/a",
      outcome: "ok",
      milliseconds: 0,
    });
  });
});
