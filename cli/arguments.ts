/** Options and positional arguments of a command line, read by a table: the one that help is printed from. */

import { CodedError } from "../base/errors.ts";
import { closest } from "../base/suggestions.ts";

export interface OptionSpec {
  readonly short?: string;
  /** What help calls the value (`MSG`); an option without one is a flag. */
  readonly value?: string;
  /** The only values that it may have, which completion offers. */
  readonly choices?: readonly string[];
  /** May be given more than once. */
  readonly multiple?: boolean;
  /** Another name of the same option, taken but not shown. */
  readonly alias?: string;
  /** Taken for the sake of other programs' users, but not shown in help; a flag may then have a value. */
  readonly hidden?: boolean;
  readonly help: string;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** What a command line says, by the long names of its options. */
export class ParsedArguments {
  readonly positionals: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(positionals: readonly string[], values: ReadonlyMap<string, readonly string[]>) {
    this.positionals = positionals;
    this.#values = values;
  }

  /** Returns the same options with other positional arguments. */
  withPositionals(positionals: readonly string[]): ParsedArguments {
    return new ParsedArguments(positionals, this.#values);
  }

  flag(name: string): boolean {
    return this.#values.has(name);
  }

  value(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** Returns the value of an option that is one of `choices`, as its table says too: others were refused there. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.value(name);
    return choices.find((choice) => choice === value);
  }

  values(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** Returns the value of an option as a whole number of at least `minimum`. */
  count(name: string, minimum = 1): number | undefined {
    const text = this.value(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(number) || number < minimum) {
      refuse(`Cannot read "--${name} ${text}": it must be a whole number of at least ${minimum}`);
    }
    return number;
  }

  /** Returns the `K=V` values of an option. A key may have one value only. */
  pairs(name: string): Record<string, string> {
    const pairs = new Map<string, string>();
    for (const text of this.values(name)) {
      const equals = text.indexOf("=");
      if (equals < 1) refuse(`Cannot read "--${name} ${text}": it must be KEY=VALUE`);
      const key = text.slice(0, equals);
      if (pairs.has(key)) refuse(`Cannot read "--${name} ${text}": "${key}" is given twice`);
      pairs.set(key, text.slice(equals + 1));
    }
    return Object.fromEntries(pairs);
  }
}

/** Reads a command line. Fails with `invalid_argument`, naming the nearest known option, or value of it. */
export function parseArguments(argv: readonly string[], table: OptionTable): ParsedArguments {
  const positionals: string[] = [];
  const values = new Map<string, string[]>();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    if (argument === "--") {
      positionals.push(...argv.slice(i + 1));
      break;
    }
    if (!isOption(argument)) {
      positionals.push(argument);
      continue;
    }
    for (const { name, spec, shown, inline } of readOption(argument, table)) {
      let value = inline ?? "";
      if (spec.value !== undefined && inline === undefined) {
        if (i + 1 >= argv.length) refuse(`Cannot read "${shown}": its value ${spec.value} is missing`);
        value = argv[++i]!;
      }
      addValue(values, { name, spec, shown, value });
    }
  }
  return new ParsedArguments(positionals, values);
}

/**
 * Returns the position of the first argument that is neither an option of `table` nor an option's value, or -1 when
 * there is none or an unknown option comes before it.
 */
export function firstWord(argv: readonly string[], table: OptionTable): number {
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    if (argument === "--") return i + 1 < argv.length ? i + 1 : -1;
    if (!isOption(argument)) return i;
    const known = tryReadOption(argument, table);
    if (!known) return -1;
    const last = known.at(-1)!;
    if (last.spec.value !== undefined && last.inline === undefined) i++;
  }
  return -1;
}

interface FoundOption {
  readonly name: string;
  readonly spec: OptionSpec;
  /** As the user wrote it. */
  readonly shown: string;
  /** The value that stands in the same argument. */
  readonly inline?: string;
}

function isOption(argument: string): boolean {
  return argument.startsWith("-") && argument !== "-";
}

function readOption(argument: string, table: OptionTable): FoundOption[] {
  const found = tryReadOption(argument, table);
  if (found) {
    for (const option of found) {
      if (option.inline !== undefined && option.spec.value === undefined && !option.spec.hidden) {
        refuse(`Cannot read "${argument}": "${option.shown}" takes no value`);
      }
    }
    return found;
  }
  const name = argument.replace(/=.*$/s, "");
  const near = closest(name.replace(/^-+/, ""), Object.keys(table));
  throw new CodedError("invalid", "invalid_argument", `Cannot read "${name}": there is no such option`, {
    details: near === undefined ? {} : { suggestion: `--${near}` },
  });
}

function tryReadOption(argument: string, table: OptionTable): FoundOption[] | undefined {
  if (argument.startsWith("--")) {
    const equals = argument.indexOf("=");
    const name = argument.slice(2, equals < 0 ? undefined : equals);
    const found = Object.hasOwn(table, name) ? name : aliasOf(name, table);
    if (found === undefined) return undefined;
    const inline = equals < 0 ? {} : { inline: argument.slice(equals + 1) };
    return [{ name: found, spec: table[found]!, shown: `--${name}`, ...inline }];
  }
  return readShortOptions(argument, table);
}

/** Reads `-r`, `-rf` (flags together), `-m MSG` and `-mMSG`. */
function readShortOptions(argument: string, table: OptionTable): FoundOption[] | undefined {
  const found: FoundOption[] = [];
  for (let at = 1; at < argument.length; at++) {
    const letter = argument[at]!;
    const name = Object.keys(table).find((known) => table[known]!.short === letter);
    if (name === undefined) return undefined;
    const spec = table[name]!;
    const rest = argument.slice(at + 1);
    if (spec.value !== undefined && rest !== "") {
      found.push({ name, spec, shown: `-${letter}`, inline: rest.replace(/^=/, "") });
      return found;
    }
    found.push({ name, spec, shown: `-${letter}` });
  }
  return found;
}

function aliasOf(name: string, table: OptionTable): string | undefined {
  return Object.keys(table).find((known) => table[known]!.alias === name);
}

/** What values are called that name something: an empty one is a variable of a script that is not set. */
const NAMES: ReadonlySet<string> = new Set(["COMMIT", "DIR", "FILE", "ID", "NAME", "PATH", "REF", "URI"]);

function addValue(values: Map<string, string[]>, option: FoundOption & { value: string }): void {
  const { name, spec, shown, value } = option;
  if (value === "" && NAMES.has(spec.value ?? "")) {
    refuse(`Cannot read "${shown}": its value ${spec.value} is empty`);
  }
  if (spec.choices) checkChoice(`${shown} ${value}`, value, spec.choices);
  const known = values.get(name);
  if (!known) values.set(name, [value]);
  else if (spec.multiple) known.push(value);
  else if (spec.value !== undefined) refuse(`Cannot read "${shown}": it is given twice`);
}

/** Fails with `invalid_argument`, naming the nearest choice, for a value that is none of them. */
export function checkChoice(shown: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  const near = closest(value, choices);
  const known = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
  throw new CodedError("invalid", "invalid_argument", `Cannot read "${shown}": it must be ${known}`, {
    details: near === undefined ? {} : { suggestion: near },
  });
}

function refuse(message: string): never {
  throw new CodedError("invalid", "invalid_argument", message);
}
