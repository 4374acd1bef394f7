/** Assembles the kernel of `engine/sstable/`: `bun scripts/assemble_kernel.ts`, from the project's folder. */

import { Buffer } from "node:buffer";
import { readFileSync, writeFileSync } from "node:fs";
import { assemble } from "./wat.ts";

const FOLDER = "engine/sstable";
const LINE = 100;

const parts = ["snappy_kernel.wat", "table_kernel.wat"].map((name) =>
  readFileSync(`${FOLDER}/${name}`, "utf8")
);
const text = Buffer.from(assemble(...parts)).toString("base64");
const lines = text.match(new RegExp(`.{1,${LINE}}`, "g"))!.map((line) => `  "${line}"`).join(" +\n");
writeFileSync(
  `${FOLDER}/kernel_code.ts`,
  `/** What \`scripts/assemble_kernel.ts\` makes of \`snappy_kernel.wat\` and \`table_kernel.wat\`, in base64. */
export const KERNEL_CODE =
${lines};
`,
);
