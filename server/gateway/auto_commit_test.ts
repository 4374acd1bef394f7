import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommitInfo, Store } from "../../drivers/store.ts";
import { collect, testEngine, WHO, write } from "../../tests/support/test_engine.ts";
import { Log } from "../log.ts";
import { AutoCommit } from "./auto_commit.ts";
import type { AutoCommitSettings } from "./settings.ts";

const MAIN = { repository: "repo", branch: "main" };

async function begin(settings: AutoCommitSettings, around: (store: Store) => Store = (store) => store) {
  const { store: engine, clock } = testEngine();
  const store = around(engine);
  await store.createRepository("repo", { committer: WHO });
  const log = new Log({ clock, level: "error", write: () => {} });
  const open = (server: string) => new AutoCommit({ store, clock, log, settings, server });
  return {
    store,
    clock,
    open,
    one: open("s1"),
    log: async (): Promise<CommitInfo[]> => (await collect(store.log("repo", "main"))).slice(0, -1),
    notes: async () => (await store.commitNotes!.all()).map(({ server, branch }) => `${server}:${branch}`),
    put: async (auto: AutoCommit, user: string, path: string) => {
      const end = await auto.begin(MAIN, user);
      await write(store, "main", { [path]: path });
      end();
    },
  };
}

describe("committing by itself", () => {
  it("waits until nothing was written for the time that is set", async () => {
    const { one, put, clock, log, notes } = await begin({ when: "idle", seconds: 10 });
    await put(one, "ann", "a");
    clock.advance(9000);
    await one.tick();
    await put(one, "ann", "b");
    clock.advance(9000);
    await one.tick();
    assert.deepEqual(await log(), []);
    assert.deepEqual(await notes(), ["s1:main"]);
    clock.advance(1000);
    await one.tick();
    const [commit, ...others] = await log();
    assert.deepEqual(others, []);
    assert.equal(commit!.committer, "ann");
    assert.equal(commit!.metadata["s3-auto-commit"], "idle 10");
    assert.deepEqual(await notes(), []);
  });

  it("commits so long after the first write, however many come", async () => {
    const { one, put, clock, log } = await begin({ when: "every", seconds: 10 });
    for (let second = 0; second < 25; second++) {
      await put(one, "ann", `o${second}`);
      clock.advance(1000);
      await one.tick();
    }
    assert.equal((await log()).length, 2);
  });

  it("names the last of several writers, and all of them beside", async () => {
    const { one, put, clock, log } = await begin({ when: "idle", seconds: 1 });
    await put(one, "ann", "a");
    await put(one, "bob", "b");
    clock.advance(2000);
    await one.tick();
    const [commit] = await log();
    assert.equal(commit!.committer, "bob");
    assert.equal(commit!.metadata["s3-writers"], "ann, bob");
  });

  it("does not forget a write that was on its way while a commit was made", async () => {
    const { store, one, clock, log, notes } = await begin({ when: "every", seconds: 1 });
    const end = await one.begin(MAIN, "ann");
    clock.advance(2000);
    await one.tick();
    assert.deepEqual(await notes(), ["s1:main"]);
    await write(store, "main", { late: "late" });
    end();
    clock.advance(2000);
    await one.tick();
    assert.equal((await log()).length, 1);
    assert.deepEqual(await notes(), []);
  });

  it("keeps the note for a write that begins while it is going", async () => {
    let isGoing = () => {};
    const { store, one, put, clock, log, notes } = await begin({ when: "every", seconds: 1 }, (engine) => {
      const inner = engine.commitNotes!;
      const commitNotes: Store["commitNotes"] = {
        put: (note) => inner.put(note),
        all: () => inner.all(),
        async remove(note) {
          await inner.remove(note);
          isGoing();
          await new Promise((resolve) => setTimeout(resolve, 5));
        },
      };
      return new Proxy(engine, {
        get: (target, name) => name === "commitNotes" ? commitNotes : bound(target, name),
      });
    });
    await put(one, "ann", "a");
    clock.advance(2000);
    const going = new Promise<void>((resolve) => isGoing = resolve);
    const ticking = one.tick();
    await going;
    const end = await one.begin(MAIN, "ann");
    assert.deepEqual(await notes(), ["s1:main"]);
    await ticking;
    await write(store, "main", { b: "b" });
    end();
    clock.advance(2000);
    await one.tick();
    assert.equal((await log()).length, 2);
    assert.deepEqual(await notes(), []);
  });

  it("is done by the next server for one that was killed", async () => {
    const { one, put, open, log, notes } = await begin({ when: "idle", seconds: 3600 });
    await put(one, "ann", "a");
    await open("s2").takeOver();
    assert.equal((await log())[0]!.committer, "ann");
    assert.deepEqual(await notes(), []);
  });

  it("is done by a server that runs on, once the other is silent, and not before", async () => {
    const { one, put, open, clock, log } = await begin({ when: "idle", seconds: 100_000 });
    const two = open("s2");
    await put(one, "ann", "a");
    const pass = async (seconds: number, isAlive: boolean) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1000);
        if (isAlive) await one.tick();
        await two.tick();
      }
    };
    await pass(300, true);
    assert.deepEqual(await log(), []);
    await pass(300, false);
    assert.equal((await log()).length, 1);
  });

  it("does not forget what was written before a write whose note could not be kept", async () => {
    let fails = false;
    const { one, put, clock, log, notes } = await begin({ when: "idle", seconds: 1 }, (engine) => {
      const inner = engine.commitNotes!;
      const commitNotes: Store["commitNotes"] = {
        put: (note) => fails ? Promise.reject(new Error("no")) : inner.put(note),
        all: () => inner.all(),
        remove: (note) => inner.remove(note),
      };
      return new Proxy(engine, {
        get: (target, name) => name === "commitNotes" ? commitNotes : bound(target, name),
      });
    });
    await put(one, "ann", "a");
    fails = true;
    await assert.rejects(put(one, "bob", "b"));
    fails = false;
    clock.advance(1000);
    await one.tick();
    assert.equal((await log()).length, 1);
    assert.deepEqual(await notes(), []);
    fails = true;
    await assert.rejects(put(one, "bob", "b"));
    fails = false;
    await put(one, "bob", "b");
    assert.deepEqual(await notes(), ["s1:main"]);
  });

  it("is tried again after a failure, less and less often", async () => {
    let tries = 0, fails = true;
    const { one, put, clock, log } = await begin({ when: "idle", seconds: 1 }, (engine) =>
      new Proxy(engine, {
        get: (target, name) =>
          name === "commit"
            ? (...args: Parameters<Store["commit"]>) => {
              tries++;
              if (fails) throw new Error("no");
              return target.commit(...args);
            }
            : bound(target, name),
      }));
    await put(one, "ann", "a");
    for (let second = 0; second < 60; second++) {
      clock.advance(1000);
      await one.tick();
    }
    assert.ok(tries > 2 && tries < 10, `${tries} tries`);
    fails = false;
    clock.advance(100_000);
    await one.tick();
    assert.equal((await log()).length, 1);
  });

  it("commits what is pending when the server stops", async () => {
    const { one, put, log } = await begin({ when: "idle", seconds: 3600 });
    await put(one, "ann", "a");
    await one.finish();
    assert.equal((await log()).length, 1);
  });
});

function bound(target: Store, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}
