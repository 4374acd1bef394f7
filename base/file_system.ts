/**
 * Which file system a folder lies on, and what may be expected of it.
 *
 * The system call names it by a number. Where the number stands for many (FUSE), or is none that is known, the table of
 * mounts has its name. Only Linux tells; elsewhere only Windows' network paths are known.
 */

import { readFileSync, realpathSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";

/**
 * `network`: other machines may use it, and locks and mapped memory may not hold between them. `layered`: a container's, which
 * another container sees otherwise; or one that is handed in from outside the machine. `memory`: gone at the next start.
 */
export type FileSystemKind = "local" | "network" | "layered" | "memory";

export interface FileSystem {
  /** As the system's table of mounts has it, such as `ext4`; a number in hex if nothing else is known. */
  readonly name: string;
  readonly kind: FileSystemKind;
  /** What this user may still write. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/** How the system is asked: a seam for tests. */
export interface FileSystemCalls {
  readonly statfs: (path: string) => { type: number; bsize: number; bavail: number; blocks: number };
  readonly realpath: (path: string) => string;
  readonly mounts: () => string;
}

const systemCalls: FileSystemCalls = {
  statfs: statfsSync,
  realpath: realpathSync,
  mounts: () => readFileSync("/proc/self/mountinfo", "utf8"),
};

type Known = readonly [name: string, kind: FileSystemKind];

const BY_NUMBER: Readonly<Record<number, Known>> = {
  0xef53: ["ext4", "local"],
  0x58465342: ["xfs", "local"],
  0x9123683e: ["btrfs", "local"],
  0x2fc12fc1: ["zfs", "local"],
  0xf2f52010: ["f2fs", "local"],
  0xca451a4e: ["bcachefs", "local"],
  0x01021994: ["tmpfs", "memory"],
  0x858458f6: ["ramfs", "memory"],
  0x794c7630: ["overlay", "layered"],
  0x61756673: ["aufs", "layered"],
  0x01021997: ["9p", "layered"],
  0x786f4256: ["vboxsf", "layered"],
  0xbacbacbc: ["vmhgfs", "layered"],
  0x6969: ["nfs", "network"],
  0x517b: ["smb", "network"],
  0xff534d42: ["cifs", "network"],
  0xfe534d42: ["smb2", "network"],
  0x564c: ["ncp", "network"],
  0x5346414f: ["afs", "network"],
  0x73757245: ["coda", "network"],
  0x00c36400: ["ceph", "network"],
  0x0bd00bd0: ["lustre", "network"],
  0x47504653: ["gpfs", "network"],
  0x19830326: ["beegfs", "network"],
  0x20030528: ["orangefs", "network"],
  0x01161970: ["gfs2", "network"],
  0x7461636f: ["ocfs2", "network"],
};

const FUSE = 0x65735546;

/** What programs in user space provide without another machine; all else of FUSE counts as a network's. */
const LOCAL_FUSE: Readonly<Record<string, FileSystemKind>> = {
  "fuseblk": "local",
  "fuse.bindfs": "local",
  "fuse.encfs": "local",
  "fuse.gocryptfs": "local",
  "fuse.mergerfs": "local",
  "fuse.fuse-overlayfs": "layered",
  "virtiofs": "layered",
};

/** Returns the file system of a path, or of the nearest folder above it that is there; `undefined` when nothing tells. */
export function fileSystemOf(path: string, calls: FileSystemCalls = systemCalls): FileSystem | undefined {
  if (process.platform === "win32" && calls === systemCalls) return windowsFileSystem(resolve(path));
  for (let at = resolve(path);; at = dirname(at)) {
    try {
      return describe(at, calls);
    } catch (error) {
      if (!isMissing(error) || at === dirname(at)) return undefined;
    }
  }
}

function describe(path: string, calls: FileSystemCalls): FileSystem {
  const { type, bsize, bavail, blocks } = calls.statfs(path);
  // Some runtimes give the number as a signed one.
  const number = type >>> 0;
  const [name, kind] = BY_NUMBER[number] ?? namedByMount(number, path, calls);
  return { name, kind, freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

function namedByMount(number: number, path: string, calls: FileSystemCalls): Known {
  const name = process.platform === "linux" || calls !== systemCalls ? mountType(path, calls) : undefined;
  if (number === FUSE) return [name ?? "fuse", LOCAL_FUSE[name ?? ""] ?? "network"];
  return [name ?? `0x${number.toString(16)}`, "local"];
}

/**
 * Finds the type in the table of mounts. A line is `36 35 98:0 /root /mount/point options optional… - type source options`;
 * of the points that a path lies under the longest counts, and of equal ones the last.
 */
function mountType(path: string, calls: FileSystemCalls): string | undefined {
  let best: { point: string; type: string } | undefined;
  try {
    const real = calls.realpath(path);
    for (const line of calls.mounts().split("\n")) {
      const [before, after] = line.split(" - ");
      const point = before?.split(" ")[4]?.replace(
        /\\([0-7]{3})/g,
        (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)),
      );
      const type = after?.split(" ")[0];
      if (point === undefined || type === undefined || !isUnder(real, point)) continue;
      if (!best || point.length >= best.point.length) best = { point, type };
    }
  } catch {
    // Without the table there is no name.
  }
  return best?.type;
}

function isUnder(path: string, point: string): boolean {
  return point === "/" || path === point || path.startsWith(`${point}/`);
}

/** A path that begins with two backslashes names another machine. */
function windowsFileSystem(path: string): FileSystem | undefined {
  const isNetwork = /^\\\\[^?.]/.test(path) || path.startsWith("\\\\?\\UNC\\");
  return isNetwork ? { name: "smb", kind: "network", freeBytes: 0, sizeBytes: 0 } : undefined;
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ENOENT" || code === "ENOTDIR";
}
