/** Assembles `engine/sstable/snappy_kernel.wat`: `bun scripts/assemble_kernel.ts`, from the project's folder. */

import { Buffer } from "node:buffer";
import { readFileSync, writeFileSync } from "node:fs";
import { assemble } from "./wat.ts";

const FOLDER = "engine/sstable";
const LINE = 100;

const text = Buffer.from(assemble(readFileSync(`${FOLDER}/snappy_kernel.wat`, "utf8"))).toString("base64");
const lines = text.match(new RegExp(`.{1,${LINE}}`, "g"))!.map((line) => `  "${line}"`).join(" +\n");
writeFileSync(
  `${FOLDER}/snappy_kernel_code.ts`,
  `/** What \`scripts/assemble_kernel.ts\` makes of \`snappy_kernel.wat\`, in base64. */
export const SNAPPY_KERNEL_CODE =
${lines};
`,
);
