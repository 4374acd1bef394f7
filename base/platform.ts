/**
 * What differs between runtimes. The only file (beside `server/listen.ts`) that touches Bun's own APIs; each has a
 * fallback on `node:` APIs, so that the main job runs under Deno too.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { release } from "node:os";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { plainBytes } from "./bytes.ts";

interface BunLike {
  readonly version: string;
  readonly SHA256: { hash(input: Uint8Array, into: Uint8Array): Uint8Array };
  readonly hash: { crc32(input: Uint8Array): number };
  zstdCompressSync(input: Uint8Array, options: { readonly level: number }): Uint8Array;
  zstdDecompressSync(input: Uint8Array): Uint8Array;
  readonly MD5: { hash(input: Uint8Array, encoding: "hex"): string };
  file(path: string): Blob;
  gc(isWaitedFor: boolean): void;
  readonly unsafe?: { setJITPolicy?(scale: number): void };
  mmap?(path: string, options: { readonly shared: boolean; readonly size: number }): Uint8Array;
  readonly CryptoHasher: new (
    algorithm: string,
  ) => { update(bytes: Uint8Array): unknown; digest(): Uint8Array };
}

const bun = (globalThis as { Bun?: BunLike }).Bun;

/** Writes a SHA-256 into a given array without allocating, where the runtime can; else `undefined`. */
export const digestInto: ((bytes: Uint8Array, out: Uint8Array) => void) | undefined = bun?.SHA256
  ? (bytes, out) => void bun.SHA256.hash(bytes, out)
  : undefined;

/** Returns the CRC-32 (of zlib) of `bytes`: by the processor's own instructions, at several gigabytes a second. */
export function crc32(bytes: Uint8Array): number {
  return bun?.hash ? bun.hash.crc32(bytes) : process.getBuiltinModule("node:zlib").crc32(bytes);
}

/** Zstandard's fastest level but for those that hardly compress. */
const ZSTD_LEVEL = 1;

/** Returns a Zstandard frame, which tells the length of its content. */
export function zstdCompressed(content: Uint8Array): Uint8Array {
  if (bun?.zstdCompressSync) return bun.zstdCompressSync(content, { level: ZSTD_LEVEL });
  const { zstdCompressSync, constants } = process.getBuiltinModule("node:zlib");
  return plainBytes(
    zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
  );
}

/**
 * Returns the content of a Zstandard frame; fails if it has more than `length` bytes. `isCertain` says that the frame itself
 * tells that length: then Bun's own call does, which knows no bound. `node:zlib` would take a short command 10 ms to load.
 */
export function zstdInflated(
  frame: Uint8Array,
  { length, isCertain }: { readonly length: number; readonly isCertain: boolean },
): Uint8Array {
  if (isCertain && bun?.zstdDecompressSync) return plainBytes(bun.zstdDecompressSync(frame));
  // A bound below 1 is not taken.
  const maxOutputLength = Math.max(1, length);
  return plainBytes(process.getBuiltinModule("node:zlib").zstdDecompressSync(frame, { maxOutputLength }));
}

/** Returns an MD5 in hex by one call, where the runtime can; else `undefined`. */
export const md5HexAtOnce: ((bytes: Uint8Array) => string) | undefined = bun?.MD5
  ? (bytes) => bun.MD5.hash(bytes, "hex")
  : undefined;

/**
 * Starts a running hash of SHA-256 or MD5. Bun's own stands ready; its `node:crypto` takes a short command a fifth of its
 * time to load.
 */
export const startHash: (
  algorithm: "sha256" | "md5",
) => { update(bytes: Uint8Array): unknown; digest(): Uint8Array } = bun?.CryptoHasher
  ? (algorithm) => new bun.CryptoHasher(algorithm)
  : (algorithm) => process.getBuiltinModule("node:crypto").createHash(algorithm);

/**
 * Returns a response's body that the runtime's server sends from a file, with its length; `undefined` where it cannot. The
 * file is opened when it is sent.
 */
export function fileBody(path: string, start: number, length: number): Blob | undefined {
  return bun?.file(path).slice(start, start + length);
}

/**
 * Maps the beginning of an open file: memory that shows what the file holds now, whoever writes it. It may be read alone: what
 * is written there is written to the file. Returns `undefined` where it cannot be mapped. Should the file become shorter
 * than that, a look at the memory ends the process.
 */
export function mapBeginning(handle: number, size: number): Uint8Array | undefined {
  if (!bun?.mmap || process.platform !== "linux") return undefined;
  try {
    return bun.mmap(`/proc/self/fd/${handle}`, { shared: true, size });
  } catch {
    return undefined;
  }
}

/** Has the whole heap collected, beside other work; `undefined` where the runtime does that only as it likes. */
export const collectGarbage: (() => void) | undefined = bun?.gc ? () => bun.gc(false) : undefined;

/** Has the runtime compile code as soon as it usually does: an executable begins with holding back (`scripts/build.ts`). */
export function compileAsUsual(): void {
  bun?.unsafe?.setJITPolicy?.(1);
}

/** The runtime and its version, as `tarn version` prints it. */
export function runtimeName(): string {
  if (bun) return `bun ${bun.version}`;
  const deno = (globalThis as { Deno?: { version: { deno: string } } }).Deno;
  return deno ? `deno ${deno.version.deno}` : "node";
}

/**
 * Makes all that was written to the file system of `path` survive power loss, by Linux's `syncfs`; other work goes on
 * meanwhile where the C library allows it. Returns `false`, having done nothing, where it cannot be called or hides
 * failed writes (before Linux 5.8). Throws an error with the code `EIO` when it failed.
 */
export async function syncFileSystem(path: string): Promise<boolean> {
  const call = await syncfsCall();
  if (!call) return false;
  const fd = openSync(path, "r");
  try {
    if (await call(fd) === 0) return true;
  } finally {
    closeSync(fd);
  }
  throw Object.assign(new Error("syncfs failed"), { code: "EIO", syscall: "syncfs" });
}

/**
 * What may be said to the system about the pages of memory in which it holds a file. It promises nothing, and no failure is
 * told.
 */
export interface PageAdvice {
  /** Begins to write them to the disk, and waits for nothing. */
  write(fd: number): void;
  /** Has those that are written already serve other files. */
  letGo(fd: number): void;
}

/** Returns Linux's `sync_file_range` and `posix_fadvise`, or `undefined` where they cannot be called. */
export async function findPageAdvice(): Promise<PageAdvice | undefined> {
  if (!bun || process.platform !== "linux") return undefined;
  const ffi = await foreignFunctions();
  const SYNC_FILE_RANGE_WRITE = 2, POSIX_FADV_DONTNEED = 4;
  for (const library of C_LIBRARIES) {
    try {
      const { symbols } = ffi!.dlopen(library, {
        sync_file_range: { args: ["int", "i64", "i64", "u32"], returns: "int" },
        posix_fadvise: { args: ["int", "i64", "i64", "int"], returns: "int" },
      });
      const { sync_file_range, posix_fadvise } = symbols;
      // A length of 0 is up to the end.
      return {
        write: (fd) => void sync_file_range!(fd, 0, 0, SYNC_FILE_RANGE_WRITE),
        letGo: (fd) => void posix_fadvise!(fd, 0, 0, POSIX_FADV_DONTNEED),
      };
    } catch {
      // Another C library.
    }
  }
  return undefined;
}

/** Fills the result with Linux's `struct statx` of the path, a symlink not followed; returns 0 when it could. */
export type StatxCall = () => number;

/**
 * Binds Linux's `statx` to memory: some that holds a path with a NUL behind it, and 256 bytes for the result. It takes a
 * third of the time of the runtime's `lstat`. Returns `undefined` where it cannot be called.
 *
 * Views, not byte arrays: the memory of a small array moves when its buffer is first asked for.
 */
export async function bindStatx(path: DataView, result: DataView): Promise<StatxCall | undefined> {
  if (!bun || process.platform !== "linux") return undefined;
  const ffi = await foreignFunctions();
  if (!ffi) return undefined;
  const AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100, BASIC_STATS = 0x7ff;
  for (const library of C_LIBRARIES) {
    try {
      const args = ["int", "ptr", "int", "u32", "ptr"];
      const { symbols } = ffi.dlopen(library, { statx: { args, returns: "int" } });
      const statx = symbols.statx!;
      const [from, into] = [ffi.ptr(path), ffi.ptr(result)];
      return () => statx(AT_FDCWD, from, AT_SYMLINK_NOFOLLOW, BASIC_STATS, into);
    } catch {
      // Another C library, or one that is too old.
    }
  }
  return undefined;
}

function foreignFunctions(): Promise<ForeignFunctions | undefined> {
  // Held in a variable, so that no bundler and no other runtime looks for the module.
  const moduleName = "bun:ffi";
  return import(moduleName).catch(() => undefined);
}

type SyncfsCall = (fd: number) => Promise<number>;

interface ForeignFunctions {
  dlopen(name: string, symbols: Record<string, { args: string[]; returns: string }>): {
    // deno-lint-ignore no-explicit-any
    symbols: Record<string, (...args: any[]) => any>;
  };
  ptr(bytes: ArrayBufferView): number;
}

const C_LIBRARIES = [
  "libc.so.6",
  `libc.musl-${{ x64: "x86_64", arm64: "aarch64" }[process.arch as string]}.so.1`,
];

let syncfs: Promise<SyncfsCall | undefined> | undefined;

function syncfsCall(): Promise<SyncfsCall | undefined> {
  return syncfs ??= findSyncfs();
}

async function findSyncfs(): Promise<SyncfsCall | undefined> {
  if (!bun || process.platform !== "linux" || !reportsFailedWrites(release())) return undefined;
  const ffi = await foreignFunctions();
  if (!ffi) return undefined;
  for (const library of C_LIBRARIES) {
    const call = threadedSyncfs(ffi, library) ?? blockingSyncfs(ffi, library);
    if (call) return call;
  }
  return undefined;
}

/** Returns whether this release of Linux is 5.8 or later: `syncfs` then returns the errors of the writes it waited for. */
export function reportsFailedWrites(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map(Number.parseFloat);
  return major > 5 || (major === 5 && minor >= 8);
}

/**
 * Runs `syncfs` as the body of a native thread: its one argument and its result fit a thread's. No JavaScript runs
 * there; we ask now and then whether it has ended.
 */
function threadedSyncfs(ffi: ForeignFunctions, library: string): SyncfsCall | undefined {
  let symbols: ReturnType<ForeignFunctions["dlopen"]>["symbols"];
  try {
    symbols = ffi.dlopen(library, {
      dlsym: { args: ["ptr", "ptr"], returns: "ptr" },
      pthread_create: { args: ["ptr", "ptr", "ptr", "usize"], returns: "int" },
      pthread_tryjoin_np: { args: ["u64", "ptr"], returns: "int" },
    }).symbols;
  } catch {
    return undefined; // An older C library keeps threads elsewhere.
  }
  const body = symbols.dlsym!(null, ffi.ptr(new TextEncoder().encode("syncfs\0")));
  const blocking = blockingSyncfs(ffi, library);
  if (!body || !blocking) return undefined;
  return async (fd) => {
    const thread = new BigUint64Array(1);
    const result = new Int32Array(2);
    if (symbols.pthread_create!(ffi.ptr(thread), null, body, fd) !== 0) return blocking(fd);
    for (let pause = 1; symbols.pthread_tryjoin_np!(thread[0], ffi.ptr(result)) !== 0; pause++) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(pause, 20)));
    }
    // It returned an int: of the thread's result, a word, only the lower half means anything.
    return result[0]!;
  };
}

function blockingSyncfs(ffi: ForeignFunctions, library: string): SyncfsCall | undefined {
  try {
    const { symbols } = ffi.dlopen(library, { syncfs: { args: ["int"], returns: "int" } });
    return async (fd) => symbols.syncfs!(fd);
  } catch {
    return undefined;
  }
}

/**
 * A lock between processes on a file of its own. The system gives it up when its holder dies. It is no lock inside a
 * process, and waiting for it stops the thread: hold it across no `await`.
 */
export interface ProcessLock {
  lock(): void;
  /** Takes the lock if nobody holds it, or only others that share it too; never waits. Turns one that is held into the other kind. */
  tryLock(options?: { readonly shared?: boolean }): boolean;
  unlock(): void;
  /** Returns whether the lock file still has its name: who takes a lock that others may delete looks afterwards. */
  isAt(path: string): boolean;
  close(): void;
}

/**
 * Opens a lock file, making it if it is missing, unless it is `readOnly`: then it must be there. Returns `undefined` where the
 * runtime has no such locks.
 */
export async function openProcessLock(
  path: string,
  { readOnly = false }: { readOnly?: boolean } = {},
): Promise<ProcessLock | undefined> {
  const deno = (globalThis as { Deno?: DenoFiles }).Deno;
  if (deno) {
    const file = deno.openSync(
      path,
      readOnly ? { read: true } : { read: true, write: true, create: true, mode: 0o600 },
    );
    return {
      lock: () => file.lockSync(true),
      tryLock: ({ shared = false } = {}) => file.tryLockSync(!shared),
      unlock: () => file.unlockSync(),
      isAt: (named) => isSameFile(file.statSync(), named),
      close: () => file.close(),
    };
  }
  const flock = await (flockCall ??= findFlock());
  if (!flock) return undefined;
  const LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8;
  const fd = openSync(path, readOnly ? constants.O_RDONLY : constants.O_RDWR | constants.O_CREAT, 0o600);
  return {
    lock() {
      // A signal may break a wait off.
      for (let tries = 0; flock(fd, LOCK_EX) !== 0; tries++) {
        if (tries === 1000) {
          throw Object.assign(new Error("flock failed"), { code: "ENOLCK", syscall: "flock" });
        }
      }
    },
    tryLock: ({ shared = false } = {}) => flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) === 0,
    unlock: () => void flock(fd, LOCK_UN),
    isAt: (named) => isSameFile(fstatSync(fd), named),
    close: () => closeSync(fd),
  };
}

function isSameFile(open: { readonly ino: number | null; readonly dev: number }, path: string): boolean {
  const named = lstatSync(path, { throwIfNoEntry: false });
  return named !== undefined && named.ino === open.ino && named.dev === open.dev;
}

interface DenoFiles {
  openSync(
    path: string,
    options: { read: boolean; write?: boolean; create?: boolean; mode?: number },
  ): {
    lockSync(exclusive: boolean): void;
    tryLockSync(exclusive: boolean): boolean;
    unlockSync(): void;
    statSync(): { readonly ino: number | null; readonly dev: number };
    close(): void;
  };
}

type FlockCall = (fd: number, operation: number) => number;

let flockCall: Promise<FlockCall | undefined> | undefined;

async function findFlock(): Promise<FlockCall | undefined> {
  if (!bun || process.platform === "win32") return undefined;
  const ffi = await foreignFunctions();
  for (const library of [...C_LIBRARIES, "/usr/lib/libSystem.B.dylib"]) {
    try {
      const { symbols } = ffi!.dlopen(library, { flock: { args: ["int", "int"], returns: "int" } });
      return (fd, operation) => symbols.flock!(fd, operation);
    } catch {
      // Another C library.
    }
  }
  return undefined;
}

/** Loads a module by its path while the program runs: one that a user has written, and that no bundle holds. */
export function loadModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  return import(pathToFileURL(path).href);
}
