import assert from "node:assert/strict";
import { it } from "node:test";
import { concatBytes, utf8 } from "../../base/bytes.ts";
import { readZoneNames, zoneNamesOf } from "./zone_names.ts";

/** A block of a zone's file; `types` are offset and name, `used` which of them the transitions lead to. */
function block(
  timeBytes: number,
  types: readonly (readonly [number, string])[],
  used: readonly number[],
): Uint8Array {
  const names = types.map(([, name]) => `${name}\0`).join("");
  const head = new DataView(new ArrayBuffer(44));
  for (const [i, byte] of [...utf8("TZif"), 0x32].entries()) head.setUint8(i, byte);
  for (const [i, count] of [0, 0, 0, used.length, types.length, names.length].entries()) {
    head.setUint32(20 + 4 * i, count);
  }
  const rows = types.map(([offset, name]) => {
    const row = new DataView(new ArrayBuffer(6));
    row.setInt32(0, offset);
    row.setUint8(5, names.indexOf(`${name}\0`));
    return new Uint8Array(row.buffer);
  });
  return concatBytes(
    new Uint8Array(head.buffer),
    new Uint8Array(used.length * timeBytes),
    new Uint8Array(used),
    ...rows,
    utf8(names),
  );
}

function file(
  types: readonly (readonly [number, string])[],
  used: readonly number[],
  rule: string,
): Uint8Array {
  return concatBytes(block(4, [], []), block(8, types, used), utf8(`\n${rule}\n`));
}

it("zoneNamesOf() takes the names of the rule, then those of the past", () => {
  const types = [[-17762, "LMT"], [-14400, "EDT"], [-18000, "EST"], [-14400, "EWT"]] as const;
  const names = zoneNamesOf(file(types, [2, 1, 3, 2, 1, 2], "EST5EDT,M3.2.0,M11.1.0"));
  assert.deepEqual([names.get(-14400), names.get(-18000), names.get(-17762)], ["EDT", "EST", "LMT"]);
  assert.equal(zoneNamesOf(file([[32400, "JST"], [36000, "JDT"]], [1, 0], "JST-9")).get(32400), "JST");
  assert.equal(zoneNamesOf(file([], [], "IST-5:30")).get(19800), "IST");
  assert.equal(zoneNamesOf(file([], [], "IST-1GMT0,M10.5.0,M3.5.0/1")).get(0), "GMT");
});

it("zoneNamesOf() takes what is called by its offset so, whatever it was called before", () => {
  assert.equal(zoneNamesOf(file([[10800, "EEST"]], [0], "<+03>-3")).get(10800), "+03");
});

it("readZoneNames() goes without what is no file of a zone", () => {
  assert.equal(readZoneNames(["/nonexistent", import.meta.filename!]).size, 0);
});
