import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../tests/support/temporary.ts";
import { fileInArchive, packageFile } from "./packages.ts";

/** An archive as `npm pack` makes it: blocks of 512 bytes, each file padded. */
function archive(files: Readonly<Record<string, string>>): Uint8Array {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const header = Buffer.alloc(512);
    const slash = path.length > 100 ? path.lastIndexOf("/") : -1;
    header.write(path.slice(slash + 1), 0, "latin1");
    if (slash > 0) header.write(path.slice(0, slash), 345, "latin1");
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124, "latin1");
    const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
    body.write(content, "latin1");
    return [header, body];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

test("a file is found in an archive by its whole name", () => {
  const long = `package/${"folder/".repeat(15)}file`;
  const made = archive({
    "package/package.json": "{}",
    "package/bin/bun": "x".repeat(1000),
    "package/empty": "",
    [long]: "deep",
  });
  const read = (name: string) => {
    const content = fileInArchive(made, name);
    return content && Buffer.from(content).toString("latin1");
  };
  assert.equal(read("package/bin/bun"), "x".repeat(1000));
  assert.equal(read("package/empty"), "");
  assert.equal(read(long), "deep");
  assert.equal(read("package/bin"), undefined);
  assert.equal(read("bun"), undefined);
});

test("an installed file is taken, and one of a package that the lock file does not name is refused", (t) => {
  const root = temporaryFolder(t);
  mkdirSync(join(root, "node_modules", "@oven", "bun-x"), { recursive: true });
  writeFileSync(join(root, "node_modules", "@oven", "bun-x", "bun"), "");
  writeFileSync(join(root, "package-lock.json"), `{"packages":{}}`);
  assert.equal(
    packageFile(root, { package: "@oven/bun-x", file: "bun" }),
    join(root, "node_modules", "@oven", "bun-x", "bun"),
  );
  assert.throws(
    () => packageFile(root, { package: "@oven/bun-y", file: "bun" }),
    /does not name @oven\/bun-y/,
  );
});
