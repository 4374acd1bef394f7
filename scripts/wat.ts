/**
 * Assembles WebAssembly from its text form, as much of it as our one module uses: functions and a memory, numbers of 32 and
 * 64 bits, folded instructions, names for all that is referred to.
 */

type Form = string | readonly Form[];

const TYPES: Readonly<Record<string, number>> = { i32: 0x7f, i64: 0x7e };
const NO_RESULT = 0x40;
const END = 0x0b;
/** Instructions whose operands are all on the stack. */
const PLAIN: Readonly<Record<string, number>> = {
  "unreachable": 0x00,
  "return": 0x0f,
  "i32.eqz": 0x45,
  "i32.eq": 0x46,
  "i32.ne": 0x47,
  "i32.lt_s": 0x48,
  "i32.lt_u": 0x49,
  "i32.gt_s": 0x4a,
  "i32.gt_u": 0x4b,
  "i32.le_u": 0x4d,
  "i32.ge_s": 0x4e,
  "i32.ge_u": 0x4f,
  "i64.eqz": 0x50,
  "i64.ne": 0x52,
  "i32.add": 0x6a,
  "i32.sub": 0x6b,
  "i32.mul": 0x6c,
  "i32.div_u": 0x6e,
  "i32.and": 0x71,
  "i32.or": 0x72,
  "i32.xor": 0x73,
  "i32.shl": 0x74,
  "i32.shr_u": 0x76,
  "i32.rotl": 0x77,
  "i64.ctz": 0x7a,
  "i64.and": 0x83,
  "i64.or": 0x84,
  "i64.xor": 0x85,
  "i64.shr_u": 0x88,
  "i32.wrap_i64": 0xa7,
};
/** Loads and stores. The alignment is only a hint; ours is none. */
const MEMORY: Readonly<Record<string, number>> = {
  "i32.load": 0x28,
  "i64.load": 0x29,
  "i32.load8_u": 0x2d,
  "i32.load16_u": 0x2f,
  "i32.store": 0x36,
  "i64.store": 0x37,
  "i32.store8": 0x3a,
  "i32.store16": 0x3b,
};
const LOCALS: Readonly<Record<string, number>> = { "local.get": 0x20, "local.set": 0x21 };
const BRANCHES: Readonly<Record<string, number>> = { "br": 0x0c, "br_if": 0x0d };
const BLOCKS: Readonly<Record<string, number>> = { "block": 0x02, "loop": 0x03 };

interface Func {
  readonly name: string;
  readonly exported: string | undefined;
  readonly params: readonly [name: string, type: number][];
  readonly results: readonly number[];
  readonly locals: readonly [name: string, type: number][];
  readonly body: readonly Form[];
}

/** Returns the binary form of a module, which may stand in several texts: their functions know each other. */
export function assemble(...texts: readonly string[]): Uint8Array {
  const fields = texts.flatMap((text) => {
    const [module] = parse(text);
    if (!isList(module) || module[0] !== "module") throw new Error("not a module");
    return module.slice(1).filter(isList);
  });
  const funcs = fields.filter((field) => field[0] === "func").map(funcOf);
  const memories = fields.filter((field) => field[0] === "memory");
  const exports = [
    ...memories.map((memory, i) => [...nameOf(exportOf(memory)!), 2, ...unsigned(i)]),
    ...funcs.flatMap(({ exported }, i) =>
      exported === undefined ? [] : [[...nameOf(exported), 0, ...unsigned(i)]]
    ),
  ];
  const types = funcs.map(({ params, results }) => [
    0x60,
    ...vector(params.map(([, type]) => [type])),
    ...vector(results.map((type) => [type])),
  ]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(3, funcs.map((_, i) => unsigned(i))),
    ...section(5, memories.map((memory) => [0, ...unsigned(Number(memory.at(-1)))])),
    ...section(7, exports),
    ...section(10, funcs.map((func) => codeOf(func, funcs))),
  ]);
}

function funcOf(field: readonly Form[]): Func {
  const declared = (kind: string) =>
    field.filter((form): form is readonly string[] => isList(form) && form[0] === kind);
  const variables = (kind: string) =>
    declared(kind).map(([, name, type]) => [name!, typeOf(type!)] as [string, number]);
  const isDeclaration = (form: Form) =>
    !isList(form) || ["export", "param", "result", "local"].includes(form[0] as string);
  return {
    name: String(field[1]),
    exported: exportOf(field),
    params: variables("param"),
    results: declared("result").map(([, type]) => typeOf(type!)),
    locals: variables("local"),
    body: field.slice(1).filter((form) => !isDeclaration(form)),
  };
}

function codeOf(func: Func, funcs: readonly Func[]): number[] {
  const names = [...func.params, ...func.locals].map(([name]) => name);
  /** The labels around an instruction, the innermost last; `if` has one without a name. */
  const labels: string[] = [];
  const sequence = (forms: readonly Form[]): number[] => forms.flatMap(instruction);
  const labelled = (label: string, forms: readonly Form[]): number[] => {
    labels.push(label);
    const code = sequence(forms);
    labels.pop();
    return code;
  };

  function instruction(form: Form): number[] {
    if (!isList(form)) throw new Error(`"${form}" where an instruction should be`);
    const [name, ...rest] = form as [string, ...Form[]];
    const first = rest[0] as string;
    if (name in PLAIN) return [...sequence(rest), PLAIN[name]!];
    if (name in LOCALS) {
      return [...sequence(rest.slice(1)), LOCALS[name]!, ...unsigned(indexOf(names, first))];
    }
    if (name in BRANCHES) {
      const depth = labels.length - 1 - indexOf(labels, first, labels.lastIndexOf(first));
      return [...sequence(rest.slice(1)), BRANCHES[name]!, ...unsigned(depth)];
    }
    if (name in BLOCKS) return [BLOCKS[name]!, NO_RESULT, ...labelled(first, rest.slice(1)), END];
    if (name in MEMORY) {
      const offset = /^offset=(\d+)$/.exec(String(first))?.[1];
      const operands = offset === undefined ? rest : rest.slice(1);
      return [...sequence(operands), MEMORY[name]!, 0, ...unsigned(Number(offset ?? 0))];
    }
    switch (name) {
      case "i32.const":
        return [0x41, ...signed(BigInt(Number(first) | 0))];
      case "i64.const":
        return [0x42, ...signed(BigInt.asIntN(64, BigInt(first)))];
      case "call":
        return [
          ...sequence(rest.slice(1)),
          0x10,
          ...unsigned(indexOf(funcs.map((other) => other.name), first)),
        ];
      case "memory.copy":
        return [...sequence(rest), 0xfc, 10, 0, 0];
      case "memory.fill":
        return [...sequence(rest), 0xfc, 11, 0];
      case "if": {
        const [condition, then, otherwise] = rest as [Form, readonly Form[], readonly Form[] | undefined];
        const taken = labelled("", then.slice(1));
        const other = otherwise ? [0x05, ...labelled("", otherwise.slice(1))] : [];
        return [...instruction(condition), 0x04, NO_RESULT, ...taken, ...other, END];
      }
      default:
        throw new Error(`unknown instruction "${name}"`);
    }
  }

  const locals = vector(func.locals.map(([, type]) => [1, type]));
  const code = [...locals, ...sequence(func.body), END];
  return [...unsigned(code.length), ...code];
}

function indexOf(names: readonly string[], name: string, index = names.indexOf(name)): number {
  if (index < 0) throw new Error(`unknown name "${name}"`);
  return index;
}

function typeOf(name: string): number {
  const type = TYPES[name];
  if (type === undefined) throw new Error(`unknown type "${name}"`);
  return type;
}

function exportOf(field: readonly Form[]): string | undefined {
  const form = field.find((part) => isList(part) && part[0] === "export");
  return form && String(form[1]).slice(1, -1);
}

function nameOf(text: string): number[] {
  return vector([...new TextEncoder().encode(text)].map((byte) => [byte]));
}

function vector(items: readonly number[][]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function section(id: number, items: readonly number[][]): number[] {
  const content = vector(items);
  return [id, ...unsigned(content.length), ...content];
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 0x80; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value];
}

function signed(value: bigint): number[] {
  const bytes: number[] = [];
  for (; value < -64n || value >= 64n; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
  return [...bytes, Number(value & 0x7fn)];
}

function isList(form: Form | undefined): form is readonly Form[] {
  return Array.isArray(form);
}

function parse(text: string): Form[] {
  const stack: Form[][] = [[]];
  for (const [token] of text.replaceAll(/;;.*/g, "").matchAll(/[()]|"[^"]*"|[^\s()]+/g)) {
    if (token === "(") stack.push([]);
    else if (token === ")") {
      const list = stack.pop()!;
      if (stack.length === 0) throw new Error("more brackets are closed than opened");
      stack.at(-1)!.push(list);
    } else stack.at(-1)!.push(token);
  }
  if (stack.length !== 1) throw new Error("more brackets are opened than closed");
  return stack[0]!;
}
