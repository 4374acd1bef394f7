import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { type FileSystemCalls, fileSystemOf } from "./file_system.ts";

/** Answers with a number, and with a table of mounts. */
function system(type: number, mounts = ""): FileSystemCalls {
  return {
    statfs: () => ({ type, bsize: 4096, bavail: 10, blocks: 100 }),
    realpath: (path) => path,
    mounts: () => mounts,
  };
}

const kindOf = (type: number, mounts?: string) => {
  const { name, kind } = fileSystemOf("/mnt/data/home", system(type, mounts))!;
  return `${name} ${kind}`;
};

test("file systems are told apart by their number, signed or not", () => {
  assert.equal(kindOf(0xef53), "ext4 local");
  assert.equal(kindOf(0x6969), "nfs network");
  assert.equal(kindOf(0xff534d42), "cifs network");
  assert.equal(kindOf(0xff534d42 | 0), "cifs network");
  assert.equal(kindOf(0xfe534d42), "smb2 network");
  assert.equal(kindOf(0x517b), "smb network");
  assert.equal(kindOf(0x794c7630), "overlay layered");
  assert.equal(kindOf(0x01021997), "9p layered");
  assert.equal(kindOf(0x01021994), "tmpfs memory");
});

test("what FUSE stands for is read from the table of mounts; unless it is known as local it counts as a network's", () => {
  const mounted = (type: string) =>
    `22 1 254:0 / / rw - ext4 /dev/vda rw\n30 22 0:40 / /mnt/data rw - ${type} x rw\n`;
  assert.equal(kindOf(0x65735546, mounted("fuse.sshfs")), "fuse.sshfs network");
  assert.equal(kindOf(0x65735546, mounted("fuse.s3fs")), "fuse.s3fs network");
  assert.equal(kindOf(0x65735546, mounted("fuseblk")), "fuseblk local");
  assert.equal(kindOf(0x65735546, mounted("fuse.fuse-overlayfs")), "fuse.fuse-overlayfs layered");
  assert.equal(kindOf(0x65735546), "fuse network");
});

test("the longest mount point that the path lies under counts, of equal ones the last, and names may hold spaces", () => {
  const mounts = [
    "22 1 254:0 / / rw - ext4 /dev/vda rw",
    "30 22 0:40 / /mnt/data rw - first x rw",
    "31 22 0:41 / /mnt/data rw - second x rw",
    "32 22 0:42 / /mnt/data/home2 rw - third x rw",
    "33 22 0:43 / /mnt/with\\040space rw shared:1 - fourth x rw",
  ].join("\n");
  assert.equal(kindOf(0x1234, mounts), "second local");
  assert.equal(fileSystemOf("/mnt/with space/a", system(0x1234, mounts))!.name, "fourth");
});

test("a number that nobody knows is shown as it is", () => {
  assert.equal(kindOf(0x1234), "0x1234 local");
});

test("a path that is not there yet is on the file system of the folder above it", () => {
  const calls: FileSystemCalls = {
    ...system(0x6969),
    statfs(path) {
      if (path !== "/mnt") throw Object.assign(new Error(), { code: "ENOENT" });
      return { type: 0x6969, bsize: 4096, bavail: 10, blocks: 100 };
    },
  };
  const found = fileSystemOf("/mnt/not/there", calls);
  assert.deepEqual(found, { name: "nfs", kind: "network", freeBytes: 40960, sizeBytes: 409600 });
});

test("the system's own answer has a name and room", { skip: process.platform === "win32" }, () => {
  const found = fileSystemOf(join(tmpdir(), "not", "there"))!;
  assert.ok(found.name !== "" && found.sizeBytes > 0);
});
