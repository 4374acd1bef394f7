/** Gathers the licence texts that go into the executable, as JSON, in the form that `cli/licenses.ts` reads. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LicenseText } from "../cli/licenses.ts";

interface PackageDescription {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Libraries whose source lies in a package that holds them compiled. */
const COMPILED_IN: readonly { name: string; license: string; files: readonly string[] }[] = [
  {
    name: "LMDB",
    license: "OLDAP-2.8",
    files: [
      "lmdb/dependencies/lmdb/libraries/liblmdb/COPYRIGHT",
      "lmdb/dependencies/lmdb/libraries/liblmdb/LICENSE",
    ],
  },
  { name: "LZ4", license: "BSD-2-Clause", files: ["lmdb/dependencies/lz4/lib/LICENSE"] },
];

/** Returns the licences of tarn, of Bun, and of every package that tarn depends on. Fails when one has no licence. */
export function gatherLicenses(root: string): readonly LicenseText[] {
  const own = describe(root);
  const modules = join(root, "node_modules");
  const bun = describe(join(modules, "bun"));
  return [
    { name: `${own.name} ${own.version}`, license: "Apache-2.0", text: read(join(root, "LICENSE")) },
    {
      name: `Bun ${bun.version}`,
      license: "MIT; JavaScriptCore LGPL-2.1-or-later",
      text: read(join(root, "scripts", "notices", "bun.txt")),
    },
    ...dependenciesOf(modules, own).map((name) => licenseOf(join(modules, name), join(root, "LICENSE"))),
    ...COMPILED_IN.map(({ name, license, files }) => ({
      name,
      license,
      text: files.map((file) => read(join(modules, file))).join("\n"),
    })),
  ];
}

/** Returns the packages that one needs, and those that these need, by name. */
function dependenciesOf(modules: string, { dependencies = {} }: PackageDescription): readonly string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    Object.keys(describe(join(modules, name)).dependencies ?? {}).forEach(add);
  };
  Object.keys(dependencies).forEach(add);
  return [...found].sort();
}

/** `apache` is a file with the text of the Apache licence, which is the same for all that are under it. */
function licenseOf(folder: string, apache: string): LicenseText {
  const { name, version, license, author } = describe(folder);
  if (license === undefined) throw new Error(`the package ${name} names no licence`);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry));
  const text = file === undefined ? ownText({ name, license, author }, apache) : read(join(folder, file));
  return { name: `${name} ${version}`, license, text };
}

/** Some packages name their licence and leave its text out. */
function ownText(
  { name, license, author }: Pick<PackageDescription, "name" | "license" | "author">,
  apache: string,
): string {
  const holder = typeof author === "string" ? author : author?.name;
  if (license === "Apache-2.0" && holder !== undefined) return `Copyright ${holder}\n\n${read(apache)}`;
  if (license !== "MIT" || holder === undefined) {
    throw new Error(`the package ${name} holds no text of its licence`);
  }
  return MIT.replace("HOLDER", () => holder);
}

function describe(folder: string): PackageDescription {
  return JSON.parse(read(join(folder, "package.json"))) as PackageDescription;
}

function read(path: string): string {
  if (!existsSync(path)) throw new Error(`${path} is not there`);
  return readFileSync(path, "utf8");
}

const MIT = `MIT License

Copyright (c) HOLDER

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;
