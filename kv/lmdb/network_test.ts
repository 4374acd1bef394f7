import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileSystemCalls } from "../../base/file_system.ts";
import { refuseNetwork } from "./network.ts";

const on = (type: number): FileSystemCalls => ({
  statfs: () => ({ type, bsize: 4096, bavail: 10, blocks: 100 }),
  realpath: (path) => path,
  mounts: () => "",
});

test("H57 a store on a network file system is refused by its name; one on a local or layered one is not", () => {
  for (const [type, name] of [[0x6969, "nfs"], [0xff534d42, "cifs"], [0x65735546, "fuse"]] as const) {
    assert.throws(() => refuseNetwork("/mnt/home/kv", on(type)), {
      kind: "unsupported",
      code: "kv_network_file_system",
      message:
        `Cannot open the key-value store in "/mnt/home/kv": it lies on a network file system (${name})`,
    });
  }
  for (const type of [0xef53, 0x794c7630, 0x01021997, 0x01021994]) refuseNetwork("/mnt/home/kv", on(type));
});
