import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "./wat.ts";

type Exports = Record<string, (...args: number[]) => number> & { memory: WebAssembly.Memory };

function run(...texts: string[]): Exports {
  const module = new WebAssembly.Module(new Uint8Array(assemble(...texts)));
  return new WebAssembly.Instance(module).exports as unknown as Exports;
}

test("assemble() makes functions with loops, blocks, branches and calls by name", () => {
  const { sum, sign } = run(`(module
    ;; 1 + 2 + … + $n
    (func $sum (export "sum") (param $n i32) (result i32)
      (local $total i32)
      (block $done
        (loop $next
          (br_if $done (i32.eqz (local.get $n)))
          (local.set $total (call $add (local.get $total) (local.get $n)))
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (br $next)))
      (local.get $total))
    (func $add (param $a i32) (param $b i32) (result i32) (i32.add (local.get $a) (local.get $b)))
    (func $sign (export "sign") (param $n i32) (result i32)
      (if (i32.lt_s (local.get $n) (i32.const 0))
        (then (return (i32.const -1)))
        (else (if (local.get $n) (then (return (i32.const 1))))))
      (i32.const 0)))`);
  assert.equal(sum!(1000), 500_500);
  assert.deepEqual([-7, 0, 7].map((n) => sign!(n)), [-1, 0, 1]);
});

test("assemble() makes loads and stores with offsets, and large constants", () => {
  const { memory, put } = run(`(module
    (memory (export "memory") 2)
    (func $put (export "put") (param $at i32) (result i32)
      (i64.store offset=300 (local.get $at) (i64.const 0x1122334455667788))
      (i32.store8 offset=308 (local.get $at) (i32.const 0x80000001))
      (i32.load offset=304 (local.get $at))))`);
  assert.equal(put!(70_000), 0x11223344);
  assert.equal(memory.buffer.byteLength, 2 * 65536);
  const bytes = [...new Uint8Array(memory.buffer, 70_300, 9)];
  assert.deepEqual(bytes, [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x01]);
});

test("assemble() makes one module of several texts, whose functions call each other", () => {
  const { memory, copied } = run(
    `(module
      (memory (export "memory") 1)
      (func $mix (param $a i32) (result i32) (i32.rotl (i32.xor (local.get $a) (i32.const 0xff)) (i32.const 8))))`,
    `(module
      (func $copied (export "copied") (param $n i32) (result i32)
        (i32.store (i32.const 8) (call $mix (local.get $n)))
        (memory.copy (i32.const 100) (i32.const 8) (i32.const 4))
        (i32.load (i32.const 100))))`,
  );
  assert.equal(copied!(0x12345601), 0x3456fe12);
  assert.deepEqual([...new Uint8Array(memory.buffer, 100, 4)], [0x12, 0xfe, 0x56, 0x34]);
});

test("assemble() refuses what it does not know", () => {
  const body = (code: string) => `(module (func $f (result i32) ${code}))`;
  assert.throws(() => assemble(body("(f32.add (i32.const 1))")), /unknown instruction "f32.add"/);
  assert.throws(() => assemble(body("(local.get $x)")), /unknown name "\$x"/);
  assert.throws(() => assemble(body("(br $x)")), /unknown name "\$x"/);
  assert.throws(() => assemble("(module (func $f (param $a v128)))"), /unknown type "v128"/);
  assert.throws(() => assemble("(module"), /opened than closed/);
  assert.throws(() => assemble("(module))"), /closed than opened/);
});
