/**
 * The engine's operations in process, each command in a process of its own, on a home that `prepare` made:
 *
 *     engine_program.ts prepare HOME ENTRIES         a repository with one commit of so many entries
 *     engine_program.ts COMMAND HOME ENTRIES [how]   see below
 *
 * Prints one line of JSON: the seconds of each round, what was counted, the most memory, and an answer to check.
 */

import { join } from "node:path";
import process from "node:process";
import { utf8 } from "../base/bytes.ts";
import { systemClock } from "../base/clock.ts";
import { type Randomness, seededRandomness, systemRandomness } from "../base/randomness.ts";
import { openDiskCache } from "../cache/mod.ts";
import { openFileObjectStore } from "../drivers/file/mod.ts";
import {
  applyChanges,
  diffMetaranges,
  Metarange,
  MetarangeWriter,
  NOT_CACHED,
  TableFiles,
} from "../engine/committed/mod.ts";
import { EntryReader, entryWeight } from "../engine/objects/mod.ts";
import { commitBranch, prepareCommit } from "../engine/operations/commit.ts";
import { createRepository } from "../engine/operations/create_repository.ts";
import { land } from "../engine/operations/landing.ts";
import { listView } from "../engine/operations/list.ts";
import { mergeInto } from "../engine/operations/merge.ts";
import { createBranch } from "../engine/operations/refs.ts";
import { stageWrites } from "../engine/operations/stage.ts";
import { lookUp, openView } from "../engine/operations/view.ts";
import { Repositories, resolveRef } from "../engine/refs/mod.ts";
import { type EngineContext, Repository } from "../engine/repository.ts";
import { openLmdb } from "../kv/lmdb/mod.ts";
import { additions, entryAt, pathAt } from "./keyspace.ts";

const NAME = "bench";
const CHANGES = 100;
const ROUNDS = 5;
const GETS = 100_000;
const CACHED_ROUNDS = 4;
/** Room for all blocks of a million entries. */
const CACHE_BYTES = 320 * 1024 ** 2;

interface Figures {
  readonly seconds: readonly number[];
  /** Processor seconds of that time, where it is one. */
  readonly processor?: number;
  readonly answer?: unknown;
  readonly counts?: unknown;
}

type How = "random" | "adjacent";

class Program {
  readonly #context: EngineContext;
  readonly #entries: number;
  readonly #random: Randomness = seededRandomness(7);
  readonly repository: Repository;

  private constructor(context: EngineContext, repository: Repository, entries: number) {
    this.#context = context;
    this.repository = repository;
    this.#entries = entries;
  }

  static async open(home: string, entries: number): Promise<Program> {
    const kv = await openLmdb(join(home, "kv"));
    const objects = openFileObjectStore({ root: join(home, "storage"), address: "local://bench" });
    const context: EngineContext = {
      kv,
      openObjects: () => Promise.resolve(objects),
      canonicalNamespace: (namespace) => namespace,
      defaultNamespace: () => "local://bench",
      openCache: (uid) => openDiskCache({ folder: join(home, "cache", uid), maxBytes: 16 * 1024 ** 3 }),
      ...(process.argv[2]!.startsWith("get") ? { cacheBytes: CACHE_BYTES } : {}),
      clock: systemClock,
      randomness: systemRandomness,
    };
    const repositories = new Repositories(kv);
    const record = await repositories.get(NAME).catch(async () => {
      await createRepository(context, NAME, { committer: "bench" });
      return await repositories.get(NAME);
    });
    return new Program(context, new Repository(context, record, objects), entries);
  }

  async close(): Promise<void> {
    await this.#context.kv.close();
  }

  async prepare(): Promise<Figures> {
    const { repository } = this;
    const start = performance.now();
    await land(repository, "main", async ({ commitId }) => {
      const parent = await repository.commits.get(commitId);
      const base = repository.metarange(parent.metaRangeId);
      const applied = await applyChanges(
        repository.files,
        base,
        additions(0, this.#entries),
        repository.applyOptions,
      );
      const text = { parents: [parent], committer: "bench", message: "Many entries", metadata: {} };
      const commit = await prepareCommit(repository, applied, text);
      const note = { operation: "commit", who: "bench" };
      return { landing: { commitId: commit.id, commit, note }, result: commit };
    });
    const ranges = (await (await this.#metarange()).ranges()).length;
    return { seconds: [since(start)], answer: ranges };
  }

  /** Ranges and metarange from entries, flushed. Making the entries is not timed. */
  async write(): Promise<Figures> {
    const { repository } = this;
    const files = new TableFiles(
      openFileObjectStore({
        root: join(process.argv[3]!, `written-${process.pid}`),
        address: "local://written",
      }),
      { sides: { chunking: repository.record.chunking, weigh: entryWeight } },
    );
    const writer = new MetarangeWriter(files, { chunking: repository.record.chunking, weigh: entryWeight });
    let seconds = 0, processor = 0;
    const count = (watch: Stopwatch) => {
      const read = watch.read();
      seconds += read.seconds[0]!;
      processor += read.processor;
    };
    for await (const block of additions(0, this.#entries)) {
      const watch = new Stopwatch();
      for (const { record } of block) if (writer.add(record!)) await writer.proceed();
      count(watch);
    }
    const watch = new Stopwatch();
    const { id, newRanges } = await writer.finish();
    await files.flush([...newRanges, id]);
    count(watch);
    return { seconds: [seconds], processor, answer: id, counts: files.counts };
  }

  async get(how: string): Promise<Figures> {
    const { repository } = this;
    const isCached = how === "cached";
    const files = new TableFiles(repository.objects, { cacheBytes: isCached ? CACHE_BYTES : 0 });
    const metarange = new Metarange(files, (await this.#metarange()).id);
    await metarange.ranges();
    const rounds = isCached ? CACHED_ROUNDS : 1;
    // Few keys, in several rounds, in one array: they are memory of this program, not of the engine.
    const keyBytes = pathAt(0).length, keys = new Uint8Array(GETS * keyBytes);
    for (let i = 0; i < GETS; i++) keys.set(utf8(pathAt(this.#draw())), i * keyBytes);
    const keyOf = (i: number) => keys.subarray(i * keyBytes, (i + 1) * keyBytes);
    if (isCached) await lookUpLastKeys(files, metarange);
    else for (let i = 0; i < GETS; i++) await metarange.get(keyOf(i));
    const start = performance.now();
    let sum = 0, gets = 0;
    for (; gets < rounds * GETS; gets++) {
      const key = keyOf(gets % GETS);
      const record = isCached ? metarange.peek(key) : await metarange.get(key);
      sum += record === NOT_CACHED ? 0 : record!.data.length;
    }
    return { seconds: [since(start) / gets], answer: Math.round(sum / gets) };
  }

  async getOnBranch(): Promise<Figures> {
    const { repository } = this;
    const keys = Array.from({ length: 50_000 }, () => utf8(pathAt(this.#draw())));
    for (const key of keys) await lookUp(repository, "main", key);
    const start = performance.now();
    let found = 0;
    for (const key of keys) if ((await lookUp(repository, "main", key)).record) found++;
    return { seconds: [since(start) / keys.length], answer: found };
  }

  async scanRaw(): Promise<Figures> {
    const metarange = await this.#metarange();
    const watch = new Stopwatch();
    let count = 0, bytes = 0;
    for (const range of await metarange.ranges()) {
      const scan = (await this.repository.files.open(range.id)).scan();
      while (scan.next() || await scan.load()) {
        count++;
        bytes += scan.keyEnd - scan.keyStart + scan.valueEnd - scan.valueStart;
      }
    }
    return { ...watch.read(), answer: [count, bytes] };
  }

  async scanEntries(): Promise<Figures> {
    const metarange = await this.#metarange();
    const watch = new Stopwatch();
    const entry = new EntryReader();
    let count = 0, sum = 0;
    const scan = await metarange.scan();
    while (scan.next() || await scan.load()) {
      count++;
      entry.readAt(scan, scan.rangeId);
      sum += scan.keyText().length + entry.sizeBytes + entry.etag.length +
        entry.address.length + entry.lastModified.seconds + entry.contentType.length;
    }
    return { ...watch.read(), answer: [count, sum] };
  }

  async commit(how: How): Promise<Figures> {
    const { repository } = this;
    const seconds: number[] = [];
    const before = { ...repository.files.counts };
    for (let round = 0; round < ROUNDS; round++) {
      await this.#stage("main", how, 1000 + round);
      const start = performance.now();
      await commitBranch(repository, "main", { committer: "bench", message: `${how} ${round}` });
      seconds.push(since(start));
    }
    return { seconds, counts: perRound(before, repository.files.counts) };
  }

  /** Between commits that {@link commit} made. */
  async diff(how: How): Promise<Figures> {
    const { repository } = this;
    const seconds: number[] = [];
    let found = 0;
    const before = { ...repository.files.counts };
    const head = await resolveRef(repository.refs, repository.commits, "main");
    let newer = head.commit;
    for (let round = 0; newer.parents.length > 0; round++) {
      const older = await repository.commits.get(newer.parents[0]!);
      if (newer.message.startsWith(how)) {
        for (let again = 0; again < 2; again++) {
          const start = performance.now();
          found = 0;
          const changes = diffMetaranges(
            repository.metarange(older.metaRangeId),
            repository.metarange(newer.metaRangeId),
          );
          for await (const block of changes) found += block.length;
          // The first time some of it is not in memory.
          if (again === 1) seconds.push(since(start));
        }
      }
      newer = older;
    }
    return { seconds, answer: found, counts: perRound(before, repository.files.counts, seconds.length * 2) };
  }

  async merge(how: How): Promise<Figures> {
    const { repository } = this;
    const seconds: number[] = [];
    let counts: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const branch = `side-${how}-${Date.now()}-${round}`;
      await createBranch(repository, branch, { source: "main", who: "bench" });
      await this.#stage(branch, how, 2000 + round);
      await commitBranch(repository, branch, { committer: "bench", message: "side" });
      await this.#stage("main", how, 3000 + round);
      await commitBranch(repository, "main", { committer: "bench", message: "ours" });
      const before = { ...repository.files.counts };
      const start = performance.now();
      const options = { committer: "bench", strategy: "source-wins" as const };
      await mergeInto(repository, { source: branch, destination: "main" }, options);
      seconds.push(since(start));
      counts = perRound(before, repository.files.counts, 1);
    }
    return { seconds, counts };
  }

  /** Hourly commits of a thousand files each. */
  async hourly(): Promise<Figures> {
    const { repository } = this;
    const seconds: number[] = [];
    const written: unknown[] = [];
    for (let hour = 0; hour < 24; hour++) {
      const folder = `2024/11/29/${String(hour).padStart(2, "0")}`;
      const writes = Array.from({ length: 1000 }, (_, i) => ({
        key: utf8(`${folder}/events-${String(i).padStart(5, "0")}.parquet`),
        entry: entryAt(hour * 1000 + i, 77),
        isFresh: false,
        isUnflushed: false,
      }));
      await stageWrites(repository, "main", writes);
      const before = { ...repository.files.counts };
      const start = performance.now();
      await commitBranch(repository, "main", { committer: "bench", message: `hour ${hour}` });
      seconds.push(since(start));
      const { tablesWritten, rangesReused } = perRound(before, repository.files.counts, 1);
      written.push([tablesWritten, rangesReused]);
    }
    return { seconds, counts: written };
  }

  async list(): Promise<Figures> {
    const seconds: number[] = [];
    let count = 0;
    for (let round = 0; round < ROUNDS + 1; round++) {
      const view = await openView(this.repository, "main");
      const start = performance.now();
      count = 0;
      const options = { prefix: "datasets/", delimiter: "/", amount: 1000 };
      for await (const block of listView(this.repository, view, options)) count += block.length;
      if (round > 0) seconds.push(since(start));
    }
    return { seconds, answer: count, counts: this.repository.files.counts };
  }

  #draw(): number {
    return Math.floor(this.#random.fraction() * this.#entries);
  }

  async #metarange() {
    const { commit } = await resolveRef(this.repository.refs, this.repository.commits, "main");
    return this.repository.metarange(commit.metaRangeId);
  }

  async #stage(branch: string, how: How, version: number): Promise<void> {
    const numbers = new Set<number>();
    const start = this.#draw();
    while (numbers.size < CHANGES) {
      numbers.add(how === "random" ? this.#draw() : (start + numbers.size) % this.#entries);
    }
    const writes = [...numbers].map((i) => ({
      key: utf8(pathAt(i)),
      entry: entryAt(i, version + Math.floor(performance.now())),
      isFresh: false,
      isUnflushed: false,
    }));
    await stageWrites(this.repository, branch, writes);
  }
}

/** Looks up the last key of each block. */
async function lookUpLastKeys(files: TableFiles, metarange: Metarange): Promise<void> {
  for (const { id } of await metarange.ranges()) {
    const { index } = await files.open(id);
    for (let i = 0; i < index.count; i++) await metarange.get(index.separator(i));
  }
}

/** Time and processor time; what runs beside us on other threads (compiler, collector) counts in the latter. */
class Stopwatch {
  readonly #start = performance.now();
  readonly #processor = process.cpuUsage();

  read(): { seconds: number[]; processor: number } {
    const { user, system } = process.cpuUsage(this.#processor);
    return { seconds: [since(this.#start)], processor: (user + system) / 1e6 };
  }
}

function since(start: number): number {
  return (performance.now() - start) / 1000;
}

type Counts = Record<string, number>;

function perRound(before: object, after: object, rounds = ROUNDS): Counts {
  const old = before as Counts;
  return Object.fromEntries(
    Object.entries(after as Counts).map(([name, value]) => [name, Math.round((value - old[name]!) / rounds)]),
  );
}

const [command = "", home = "", entries = "0", how = ""] = process.argv.slice(2);
const program = await Program.open(home, Number(entries));
const commands: Record<string, () => Promise<Figures>> = {
  prepare: () => program.prepare(),
  write: () => program.write(),
  get: () => program.get(how),
  "get-on-branch": () => program.getOnBranch(),
  "scan-raw": () => program.scanRaw(),
  "scan-entries": () => program.scanEntries(),
  commit: () => program.commit(how as How),
  diff: () => program.diff(how as How),
  merge: () => program.merge(how as How),
  hourly: () => program.hourly(),
  list: () => program.list(),
};
const figures = await commands[command]!();
await program.close();
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    command,
    how,
    ...figures,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    processorSeconds: (user + system) / 1e6,
  }),
);
